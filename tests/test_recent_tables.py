"""A table that was read a moment ago is not read again, and whatever happens to its file is seen."""

import os
import time
from pathlib import Path

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.workspace import FINE_CLOCK_NS, read_parquet, write_parquet

FIRST = pl.DataFrame({"image": ["a", "b", "c"], "number": [1, 2, 3]})
SECOND = pl.DataFrame({"image": ["a", "b", "c"], "number": [1, 2, 4]})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A table that was written long enough ago, and read."""
    file = tmp_path / "table.parquet"
    write_parquet(FIRST, file)
    while time.time_ns() < file.stat().st_ctime_ns + 2 * FINE_CLOCK_NS:
        time.sleep(0.01)
    read_parquet(file, "nothing")
    return file


def test_it_is_read_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pl, "read_parquet", None)
    assert read_parquet(path, "nothing").equals(FIRST)


def test_what_one_reader_changes_no_other_sees(path: Path) -> None:
    own = read_parquet(path, "nothing")
    own[0, "number"] = 7
    own.drop_in_place("image")
    assert read_parquet(path, "nothing").equals(FIRST)


def test_another_file_in_its_place_is_read(path: Path) -> None:
    write_parquet(SECOND, path)
    assert read_parquet(path, "nothing").equals(SECOND)


def test_a_change_in_place_of_equal_size_and_time_is_read(path: Path) -> None:
    before = path.stat()
    write_parquet(SECOND, path.with_name("other.parquet"))
    content = path.with_name("other.parquet").read_bytes()
    assert len(content) == before.st_size
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert read_parquet(path, "nothing").equals(SECOND)


def test_a_file_that_is_gone_is_gone(path: Path) -> None:
    path.unlink()
    with pytest.raises(LikewiseError, match="does not exist yet: run `nothing` first"):
        read_parquet(path, "nothing")
