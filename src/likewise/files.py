"""Files that survive a crash: written beside and renamed, several together or not at all, and claimed by one process.

Several files that belong together are written into a folder beside them; renaming that folder decides, and from then on
they count: whoever comes next puts them in their places if the writer could not. What a process that has ended left
half written is not locked any more, and the next one that writes there removes it. Nothing here opens a folder, and
where open files cannot be moved (Windows) they are closed first.
"""

import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from likewise import file_locks
from likewise.errors import LikewiseError
from likewise.file_locks import lock_file

TEMPORARY = ".likewise.tmp"  # nobody else's files end so, wherever they lie
STAGED, DECIDED = ".likewise-staged-", ".likewise-decided-"
REMOVED = ".removed.json"  # in a decided folder: what goes away with it
CLAIM = ".claim"  # in a staging folder: locked by the process that writes there
OLD_SECONDS = 3600  # where a lock is lost before a rename: younger leftovers may be somebody's
_swept: set[tuple[int, Path]] = set()


@contextmanager
def new_file(path: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A file beside `path`, locked while it is written, that takes its place on the disk when the block has ended.

    After an error it is gone, and what was at `path` is still there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep_once(path.parent)
    temporary, file = _new_temporary_file(path)
    try:
        with file:
            yield temporary, file
            file.flush()
            os.fsync(file.fileno())
            if file_locks.OPEN_FILES_CAN_MOVE:
                temporary.replace(path)  # still locked, so that nobody takes it for a leftover
        if not file_locks.OPEN_FILES_CAN_MOVE:
            temporary.replace(path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _new_temporary_file(path: Path) -> tuple[Path, BinaryIO]:
    while True:
        temporary = _temporary_name(path)
        file = temporary.open("xb")
        lock_file(file.fileno(), wait=True)
        if _is_still(temporary, file.fileno()):
            return temporary, file
        file.close()  # somebody took it for a leftover, between its first two moments


def sync_folder(folder: Path) -> None:
    """Bring what was renamed in a folder to the disk; systems that cannot open folders do it by themselves."""
    if os.name != "posix":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@dataclass(frozen=True)
class StagedFiles:
    """Files of `folder` that wait in `staging` until all of them are written."""

    folder: Path
    staging: Path

    def place(self, path: Path) -> Path:
        """Where to write what belongs at `path`."""
        return self.staging / path.relative_to(self.folder)

    def remove(self, path: Path) -> None:
        """Let a file, or a whole folder, go away in the moment in which the others take their places."""
        noted = self.staging / REMOVED
        known = json.loads(noted.read_text(encoding="utf-8")) if noted.exists() else []
        noted.write_text(json.dumps([*known, path.relative_to(self.folder).as_posix()]), encoding="utf-8")
        with noted.open("rb") as file:
            os.fsync(file.fileno())


@contextmanager
def written_together(folder: Path) -> Iterator[StagedFiles]:
    """Stage files that belong together: all of them are there afterwards, or, after an error or a crash, none."""
    folder.mkdir(parents=True, exist_ok=True)
    finish_writing(folder)
    claim, staging = _new_staging_folder(folder)
    try:
        with claim:
            yield StagedFiles(folder, staging)
            with locked(folder / "writing"):
                _finish_decided(folder)
                decided = staging.with_name(DECIDED + staging.name.removeprefix(STAGED).removesuffix(TEMPORARY))
                if not file_locks.OPEN_FILES_CAN_MOVE:
                    claim.close()
                staging.rename(decided)
                sync_folder(folder)
                _put_in_place(decided)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def finish_writing(folder: Path) -> None:
    """Put files in their places that a process decided on before it ended, and remove what it left half written."""
    if any(folder.glob(f"{DECIDED}*")):
        with suppress(PermissionError), locked(folder / "writing"):  # who may only read sees what is in place
            _finish_decided(folder)
    sweep_once(folder)


def _finish_decided(folder: Path) -> None:
    for found in sorted(folder.glob(f"{DECIDED}*")):
        _put_in_place(found)


def _put_in_place(decided: Path) -> None:
    """Rename every file to where it belongs, descriptions after what they describe."""
    folder = decided.parent
    files = [each for each in decided.rglob("*") if each.is_file() and each.name not in (REMOVED, CLAIM)]
    for file in sorted(files, key=lambda each: (each.suffix == ".json", each)):
        target = folder / file.relative_to(decided)
        target.parent.mkdir(parents=True, exist_ok=True)
        file.replace(target)
    for place in {folder / file.parent.relative_to(decided) for file in files}:
        sync_folder(place)
    if (decided / REMOVED).exists():
        for name in json.loads((decided / REMOVED).read_text(encoding="utf-8")):
            _remove(folder / name)
    shutil.rmtree(decided)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sweep_once(folder: Path) -> None:
    """Remove what processes that have ended left half written in a folder; looked for once in the life of this one."""
    if (os.getpid(), folder) in _swept:
        return
    _swept.add((os.getpid(), folder))
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and entry.name.endswith(TEMPORARY):
                _remove_unlocked(Path(entry.path))


def _remove_unlocked(path: Path) -> None:
    if path.is_symlink():
        return
    with suppress(OSError):
        if not file_locks.OPEN_FILES_CAN_MOVE:
            if time.time() - path.stat().st_mtime > OLD_SECONDS:
                _remove(path)
            return
        claim = path / CLAIM if path.is_dir() else path
        if not claim.exists():
            _remove(path)  # its writer had not even begun, or comes a moment later and makes another
            return
        with claim.open("rb") as file:
            if lock_file(file.fileno(), wait=False) is True:
                _remove(path)


@contextmanager
def locked(path: Path, sentence: str | None = None) -> Iterator[None]:
    """Claim what `path` names for this process; the claim ends with it, however it ends.

    Where another process has it: the sentence as an error, or, without one, wait.
    """
    lock = path.with_name(f".{path.name}.lock{TEMPORARY}")
    lock.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            if lock_file(handle, wait=sentence is None) is False:
                raise LikewiseError(str(sentence))
            if not _is_still(lock, handle):
                continue  # the one who had it has just removed it
            try:
                yield
            finally:
                if file_locks.OPEN_FILES_CAN_MOVE:
                    _unlink_even_if_interrupted(lock)
            break
        finally:
            os.close(handle)
    if not file_locks.OPEN_FILES_CAN_MOVE:
        with suppress(PermissionError):  # the next one has it already
            lock.unlink(missing_ok=True)


def _unlink_even_if_interrupted(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except KeyboardInterrupt:
        path.unlink(missing_ok=True)
        raise


def _new_staging_folder(folder: Path) -> tuple[BinaryIO, Path]:
    while True:
        staging = folder / f"{STAGED}{secrets.token_hex(6)}{TEMPORARY}"
        staging.mkdir()
        try:
            claim = (staging / CLAIM).open("xb")
            lock_file(claim.fileno(), wait=True)
            if _is_still(staging / CLAIM, claim.fileno()):
                return claim, staging
            claim.close()
        except FileNotFoundError:  # somebody took it for a leftover
            continue
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise


def _temporary_name(path: Path) -> Path:
    start = path.name.encode()[:60].decode(errors="ignore")  # however long the name is, there is room for ours
    return path.with_name(f".{start}.{secrets.token_hex(6)}{TEMPORARY}")


def _is_still(path: Path, handle: int) -> bool:
    """Whether the path leads to the file that is open."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
