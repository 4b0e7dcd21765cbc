"""Files that belong together are all there or none, locks end with their process, and leftovers go."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.files import TEMPORARY, finish_writing, locked, sweep_once, written_together
from likewise.workspace import write_json, write_npy, write_parquet, write_text

AHEAD = "import os, time; from pathlib import Path; from likewise.files import *; from likewise.workspace import *\n"


def run_in_another_process(code: str) -> None:
    subprocess.run([sys.executable, "-c", AHEAD + code], check=False)


@contextmanager
def another_process(code: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that has printed a line, killed in the end."""
    with subprocess.Popen([sys.executable, "-c", AHEAD + code], text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_files_take_their_places_together_and_others_go_with_them(tmp_path: Path) -> None:
    write_text("old", tmp_path / "old.txt")
    with written_together(tmp_path) as staged:
        write_text("1", staged.place(tmp_path / "a.txt"))
        write_text("2", staged.place(tmp_path / "inner" / "b.json"))
        staged.remove(tmp_path / "old.txt")
        assert "a.txt" not in names(tmp_path)
        assert "old.txt" in names(tmp_path)
    assert names(tmp_path) == ["a.txt", "inner/b.json"]


def test_after_an_error_nothing_has_changed(tmp_path: Path) -> None:
    write_text("old", tmp_path / "a.txt")
    with pytest.raises(ZeroDivisionError), written_together(tmp_path) as staged:
        write_text("new", staged.place(tmp_path / "a.txt"))
        staged.remove(tmp_path / "a.txt")
        _ = 1 / 0
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_what_was_decided_is_finished_by_whoever_comes_next(tmp_path: Path) -> None:
    """The process ends between the two renames of its files."""
    run_in_another_process(
        f"""
place = Path({str(tmp_path)!r})
rename, renamed = Path.replace, []
def once(self, target):
    if DECIDED in str(self):
        renamed.append(self)
        if len(renamed) > 1:
            os._exit(137)
    return rename(self, target)
Path.replace = once
with written_together(place) as staged:
    write_text("1", staged.place(place / "a.txt"))
    write_text("2", staged.place(place / "b.txt"))
"""
    )
    assert not (tmp_path / "b.txt").exists()
    finish_writing(tmp_path)
    assert names(tmp_path) == ["a.txt", "b.txt"]
    assert (tmp_path / "b.txt").read_text() == "2"


def test_leftovers_of_ended_processes_go_and_those_of_living_ones_stay(tmp_path: Path) -> None:
    run_in_another_process(
        f"""
with new_file(Path({str(tmp_path)!r}) / "table.parquet") as (temporary, file):
    file.write(b"half"); file.flush(); os._exit(137)
"""
    )
    assert len(names(tmp_path)) == 1
    half_written = f"""
with new_file(Path({str(tmp_path)!r}) / "other.parquet") as (temporary, file):
    file.write(b"half"); file.flush(); print("there", flush=True); time.sleep(60)
"""
    with another_process(half_written):
        write_text("x", tmp_path / "note.txt")
        assert [name.strip(".").split(".")[0] for name in names(tmp_path)] == ["other", "note"]


def test_files_of_others_are_never_swept(tmp_path: Path) -> None:
    (tmp_path / ".theirs.tmp").write_text("of another program")
    sweep_once(tmp_path)
    assert names(tmp_path) == [".theirs.tmp"]


def test_a_lock_keeps_a_second_process_out_and_ends_with_the_first(tmp_path: Path) -> None:
    claim = f'with locked(Path({str(tmp_path)!r}) / "run", "busy"): print("mine", flush=True); time.sleep(60)'
    with (
        another_process(claim),
        pytest.raises(LikewiseError, match="busy"),
        locked(tmp_path / "run", "busy"),
    ):
        pass
    with locked(tmp_path / "run", "busy"):
        pass
    assert names(tmp_path) == []


@pytest.mark.parametrize("what", ["text", "json", "npy", "parquet"])
def test_a_full_disk_is_one_sentence_and_leaves_what_was_there(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content: dict[str, Callable[[Path, int], None]] = {
        "text": lambda path, n: write_text("a" * n, path),
        "json": lambda path, n: write_json(["a" * n], path),
        "npy": lambda path, n: write_npy(np.zeros(n), path),
        "parquet": lambda path, n: write_parquet(pl.DataFrame({"a": np.random.default_rng(0).random(n)}), path),
    }
    write = content[what]
    path = tmp_path / "file"
    write(path, 1)
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LikewiseError, match=r"file cannot be written \(No space left on device\): make room"):
        write(path, 10)
    assert names(tmp_path) == ["file"]
    assert path.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="no limit for a file's size")
@pytest.mark.parametrize(
    "write",
    [
        "write_text('a' * 100_000, path)",
        "write_json(['a' * 100_000], path)",
        "write_npy(numpy.zeros(100_000), path)",
        "write_parquet(polars.DataFrame({'a': numpy.random.default_rng(0).random(100_000)}), path)",
    ],
)
def test_bytes_that_the_system_refuses_are_one_sentence_and_leave_what_was_there(write: str, tmp_path: Path) -> None:
    """As on a full disk, in the middle of a file: it may grow to four blocks."""
    (tmp_path / "file").write_text("before")
    code = f"""
import numpy, polars, resource
from likewise.errors import LikewiseError
path = Path({str(tmp_path / "file")!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, 16_384))
try:
    {write}
except LikewiseError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", AHEAD + code], check=True, capture_output=True, text=True)
    assert "file cannot be written (" in done.stdout and "\n" not in done.stdout.strip()
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "before"


def test_a_reason_without_a_name_is_not_printed_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(handle: int) -> None:
        raise OSError("5000 requested and 3 written")

    monkeypatch.setattr(os, "fsync", short)
    with pytest.raises(LikewiseError, match="5000 requested and 3 written"):
        write_text("a", tmp_path / "file")


def test_a_file_system_without_locks_still_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    (tmp_path / f".b.txt.1{TEMPORARY}").write_text("perhaps of a living process")
    with written_together(tmp_path) as staged:
        write_text("1", staged.place(tmp_path / "a.txt"))
    with locked(tmp_path / "run", "busy"):
        pass
    assert names(tmp_path) == [f".b.txt.1{TEMPORARY}", "a.txt"]


def test_bytes_are_on_the_disk_before_a_rename_and_the_rename_before_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut keeps what fsync was told of: a file before its rename, its folder after."""
    calls: list[str] = []
    fsync, rename = os.fsync, Path.rename

    def noted_fsync(handle: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def noted_rename(path: Path, target: Path) -> Path:
        calls.append("rename")
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "rename", noted_rename)
    monkeypatch.setattr(Path, "replace", noted_rename)
    write_text("1", tmp_path / "a.txt")
    assert calls == ["file", "rename", "folder"]
    calls.clear()
    with written_together(tmp_path) as staged:
        write_text("2", staged.place(tmp_path / "a.txt"))
    staged_one = ["file", "rename", "folder"]
    assert calls == [*staged_one, "rename", "folder", "rename", "folder"]
