"""The outside of a benchmark bundle: named files in a folder or a zip, written the same every time, read with care.

Nothing is ever unpacked: members of a zip are read by name into memory, no further than the size the card states, and
names that could lead out of the bundle are refused. Zip members are stored uncompressed (tables and pictures are
compressed already) under a fixed date, so that the same content gives the same bytes on every machine.
"""

import hashlib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from likewise.errors import LikewiseError
from likewise.files import finish_writing, written_together
from likewise.untrusted.archives import UNREADABLE_ZIP
from likewise.workspace import write_atomically

CARD = "card.json"
MAX_CARD_BYTES = 256 << 20
CHUNK = 1 << 20
ZIP_DATE = (1980, 1, 1, 0, 0, 0)
Entry = tuple[str, bytes]
OpenEntry = Callable[[str], BinaryIO]


@dataclass(frozen=True)
class FileRecord:
    """What the card says about one file."""

    bytes: int
    sha256: str


def file_record(content: bytes) -> FileRecord:
    return FileRecord(len(content), hashlib.sha256(content).hexdigest())


def check_name(name: str, where: str) -> None:
    """Refuse a name that is not a plain relative path."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name or ":" in parts[0]:
        raise LikewiseError(f"{where} names a file {name!r} that would lie outside the bundle: it is not used.")


def refuse_existing(path: Path, *, is_ours: bool, replace: bool, what: str) -> None:
    """Nothing is written over silently, and what is no bundle, test or folder of ours not at all."""
    if path.exists() and not (replace and is_ours):
        hint = "add `--replace`" if is_ours else f"it is no {what}; choose another path"
        raise LikewiseError(f"{path} already exists: {hint}.")


def write_entries(path: Path, entries: Iterable[Entry]) -> None:
    """Write all entries as a zip if the path ends so, else as a folder; complete or not at all."""
    if path.suffix.lower() == ".zip":
        write_atomically(path, lambda file: _write_zip(file, entries))
        return
    names = set()
    with written_together(path.parent) as staged:
        for name, content in entries:
            names.add(path / name)
            write_atomically(staged.place(path / name), partial(_write_bytes, content))
        for stale in path.rglob("*"):
            if stale.is_file() and stale not in names:
                staged.remove(stale)


def _write_bytes(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _write_zip(file: BinaryIO, entries: Iterable[Entry]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in entries:
            info = zipfile.ZipInfo(name, ZIP_DATE)
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, content)


@contextmanager
def open_entries(path: Path) -> Iterator[OpenEntry]:
    """A function that opens one file of the bundle by name."""
    finish_writing(path.parent)
    if path.is_dir():
        yield lambda name: _open_in_folder(path, name)
        return
    if not path.exists():
        raise LikewiseError(f"{path} does not exist: check the path of the bundle.")
    try:
        archive = zipfile.ZipFile(path)
    except UNREADABLE_ZIP as error:
        raise LikewiseError(
            f"{path} is neither a folder nor a readable zip ({error}): get the bundle again."
        ) from error
    with archive:
        names = archive.namelist()
        if len(set(names)) < len(names):
            raise LikewiseError(f"{path} holds two files of one name: it was not made by likewise; do not use it.")
        inside = _top_folder(names)
        yield lambda name: _open_in_zip(archive, path, inside, name)


def read_entry(open_entry: OpenEntry, name: str, stored: FileRecord | None, where: Path) -> bytes:
    """The content of one file; with `stored`, checked against it."""
    limit = MAX_CARD_BYTES if stored is None else stored.bytes
    with open_entry(name) as file:
        content = _read_at_most(file, limit + 1, name, where)
    if len(content) > limit or (stored is not None and file_record(content) != stored):
        raise checksum_error(where, name)
    return content


def verify_entry(open_entry: OpenEntry, name: str, stored: FileRecord, where: Path) -> None:
    """Check one file against the card without holding it in memory."""
    digest, size = hashlib.sha256(), 0
    with open_entry(name) as file:
        while size <= stored.bytes and (part := _read_at_most(file, CHUNK, name, where)):
            digest.update(part)
            size += len(part)
    if size != stored.bytes or digest.hexdigest() != stored.sha256:
        raise checksum_error(where, name)


def checksum_error(where: Path, name: str) -> LikewiseError:
    return LikewiseError(
        f"{where}: {name} does not match its checksum: the bundle was changed or damaged; get it again."
    )


def _read_at_most(file: BinaryIO, size: int, name: str, where: Path) -> bytes:
    try:
        return file.read(size)
    except UNREADABLE_ZIP as error:  # also a wrong CRC
        raise checksum_error(where, name) from error


def _open_in_folder(folder: Path, name: str) -> BinaryIO:
    path = folder / name
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        raise _missing_error(folder, name)
    return path.open("rb")


def _open_in_zip(archive: zipfile.ZipFile, path: Path, inside: str, name: str) -> BinaryIO:
    try:
        return archive.open(inside + name)  # type: ignore[return-value]
    except (KeyError, *UNREADABLE_ZIP) as error:
        raise _missing_error(path, name) from error


def _top_folder(names: list[str]) -> str:
    """Zips made by hand often hold the folder itself: `mine/card.json`."""
    if CARD in names:
        return ""
    cards = [name for name in names if name.count("/") == 1 and name.endswith(f"/{CARD}")]
    return cards[0].removesuffix(CARD) if len(cards) == 1 else ""


def _missing_error(where: Path, name: str) -> LikewiseError:
    if name == CARD:
        return LikewiseError(f"{where} has no {CARD}: it is not a benchmark bundle.")
    return LikewiseError(f"{where}: {name} is missing or cannot be read: the bundle is not complete; get it again.")
