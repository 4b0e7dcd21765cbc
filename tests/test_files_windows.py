"""Files on a system like Windows: no fcntl, no opening of folders, nothing open can be renamed or removed."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from likewise import file_locks, files
from likewise.errors import LikewiseError
from likewise.files import OLD_SECONDS, TEMPORARY, finish_writing, locked, sweep_once, written_together
from likewise.workspace import write_json, write_parquet, write_text

LONG = "ä" * 120 + ".parquet"


def open_here() -> list[str]:
    """The paths that this process has open."""
    found = []
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(str(handle.readlink()))
    return found


class OtherLocks:
    """msvcrt's locks: by file, refused with EACCES where another handle has it."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        self.held: dict[int, int] = {}  # inode -> handle

    def locking(self, handle: int, mode: int, n_bytes: int) -> None:
        inode = os.fstat(handle).st_ino
        holder = self.held.get(inode)
        if holder is not None and holder != handle and self._still_open(holder, inode):
            raise PermissionError(13, "Permission denied")
        self.held[inode] = handle

    @staticmethod
    def _still_open(handle: int, inode: int) -> bool:
        try:
            return os.fstat(handle).st_ino == inode
        except OSError:
            return False


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The calls of this process behave as there."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("what is open can be seen on Linux only: NOT run")

    def refuse_open(name: str) -> None:
        plain = getattr(os, name)

        def guarded(path: Any, *others: Any, **more: Any) -> Any:
            for each in (path, *others[:1]):
                absolute = str(Path(each).resolve()) if isinstance(each, str | Path) else ""
                if absolute and any(other == absolute or other.startswith(absolute + os.sep) for other in open_here()):
                    raise PermissionError(32, "The process cannot access the file: it is being used", str(path))
            return plain(path, *others, **more)

        monkeypatch.setattr(os, name, guarded)

    plain_open: Callable[..., int] = os.open

    def open_no_folder(path: Any, flags: int, *others: Any, **more: Any) -> int:
        if more.get("dir_fd") is None and Path(path).is_dir():
            raise PermissionError(13, "Permission denied", str(path))
        return plain_open(path, flags, *others, **more)

    for name in ("rename", "replace", "unlink", "remove"):
        refuse_open(name)
    monkeypatch.setattr(os, "open", open_no_folder)
    monkeypatch.delattr(os, "O_CLOEXEC")
    monkeypatch.delattr(os, "O_NOFOLLOW")
    monkeypatch.setattr(file_locks, "fcntl", None)
    monkeypatch.setattr(file_locks, "msvcrt", OtherLocks())
    monkeypatch.setattr(file_locks, "OPEN_FILES_CAN_MOVE", False)
    monkeypatch.setattr(files, "sync_folder", lambda folder: None)  # os.name says so there
    monkeypatch.setattr("shutil.rmtree", remove_tree)
    yield


def remove_tree(path: Path, ignore_errors: bool = False) -> None:
    """shutil.rmtree as it is there: by paths, not by handles of folders."""
    try:
        for each in sorted(Path(path).iterdir()):
            remove_tree(each) if each.is_dir() else each.unlink()
        Path(path).rmdir()
    except OSError:
        if not ignore_errors:
            raise


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_simulation_refuses_what_windows_refuses(windows: None, tmp_path: Path) -> None:
    with pytest.raises(PermissionError):
        os.open(tmp_path, os.O_RDONLY)
    with (tmp_path / "a").open("wb"):
        for change in (lambda: (tmp_path / "a").unlink(), lambda: (tmp_path / "a").rename(tmp_path / "b")):
            with pytest.raises(PermissionError):
                change()
        with pytest.raises(PermissionError):
            tmp_path.rename(tmp_path.with_name("other"))
    (tmp_path / "a").unlink()


def test_files_are_written_alone_and_together(windows: None, tmp_path: Path) -> None:
    folder = tmp_path / "a folder with spaces"
    write_text("old\n", folder / "old.txt")
    with written_together(folder) as staged:
        write_parquet(pl.DataFrame({"a": [1]}), staged.place(folder / LONG))
        write_json({"b": 2}, staged.place(folder / "inner" / "b.json"))
        staged.remove(folder / "old.txt")
    assert names(folder) == sorted([LONG, "inner/b.json"])
    assert b"\r" not in (folder / "inner" / "b.json").read_bytes()
    write_parquet(pl.DataFrame({"a": [2]}), folder / LONG)
    assert pl.read_parquet(folder / LONG)["a"].to_list() == [2]


def test_after_an_error_nothing_has_changed(windows: None, tmp_path: Path) -> None:
    write_text("old", tmp_path / "a.txt")
    with pytest.raises(ZeroDivisionError), written_together(tmp_path) as staged:
        write_text("new", staged.place(tmp_path / "a.txt"))
        _ = 1 / 0
    assert names(tmp_path) == ["a.txt"]
    finish_writing(tmp_path)
    assert (tmp_path / "a.txt").read_text() == "old"


def test_a_lock_keeps_others_out_and_is_gone_afterwards(windows: None, tmp_path: Path) -> None:
    with locked(tmp_path / "run", "busy"), pytest.raises(LikewiseError, match="busy"), locked(tmp_path / "run", "busy"):
        pass
    with locked(tmp_path / "run", "busy"):
        assert len(names(tmp_path)) == 1
    assert names(tmp_path) == []


def test_only_old_leftovers_are_swept(windows: None, tmp_path: Path) -> None:
    """Between closing and renaming a file nobody holds it: what is young may be somebody's."""
    young, old = tmp_path / f".a.1{TEMPORARY}", tmp_path / f".b.2{TEMPORARY}"
    young.write_text("half")
    old.write_text("half")
    os.utime(old, (old.stat().st_mtime - 2 * OLD_SECONDS,) * 2)
    sweep_once(tmp_path)
    assert names(tmp_path) == [young.name]


def test_without_any_locks_files_are_still_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_locks, "fcntl", None)
    monkeypatch.setattr(file_locks, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=_no_locks))
    with written_together(tmp_path) as staged:
        write_text("1", staged.place(tmp_path / "a.txt"))
    assert names(tmp_path) == ["a.txt"]


def _no_locks(handle: int, mode: int, n_bytes: int) -> None:
    raise OSError(36, "resource deadlock avoided")
