"""Tables in files: CSV and JSON lines with faults, open-metric-learning's, triplets."""

from pathlib import Path

import pytest

from likewise.catalog.readers import read
from likewise.errors import LikewiseError

from .made_files import picture, write
from .made_layouts import source


def test_a_bad_line_of_a_table_is_named_and_left_out(tmp_path: Path) -> None:
    reading = read(source("table", tmp_path))
    assert reading.rows.rows() == [(1, "a.jpg", "1"), (2, "gone.jpg", "2")]
    assert [str(line) for line in reading.coverage.malformed] == [
        'catalog.csv, line 4: expected 2 fields (image, item), found ["b.jpg", "3", "what is this"]'
    ]
    write(tmp_path / "lines.jsonl", '{"image": "a.jpg"}', "{broken", '{"image": "a.jpg", "item": "7"}', end="\r\n")
    reading = read(tmp_path / "lines.jsonl")
    assert reading.rows["item"].to_list() == [None, "7"]
    assert reading.coverage.malformed[0].line == 2


def test_a_quoted_line_break_does_not_shift_line_numbers(tmp_path: Path) -> None:
    write(tmp_path / "t.csv", "image,caption", 'a.jpg,"two', 'lines"', "b.jpg", "c.jpg,ü")
    reading = read(tmp_path / "t.csv")
    assert reading.rows["caption"].to_list() == ["two\nlines", "ü"]
    assert reading.coverage.malformed[0].line == 4


def test_oml(tmp_path: Path) -> None:
    reading = read(source("oml", tmp_path), "oml")
    assert reading.rows.select("image", "item", "split", "is_query", "is_gallery").rows() == [
        ("images/a.jpg", "7", "train", None, None),
        ("images/b.jpg", "8", "validation", True, True),
        ("images/gone.jpg", "8", "validation", False, True),
    ]
    assert reading.rows.select("x1", "y1", "x2", "y2").row(0) == (1, 2, 9, 10)
    assert reading.tables["queries"]["image"].to_list() == ["images/b.jpg"]
    write(tmp_path / "df.csv", "label,path", "1,a.jpg")
    with pytest.raises(LikewiseError, match="has no column split, is_query, is_gallery"):
        read(tmp_path, "oml")


def test_oml_with_absolute_paths(tmp_path: Path) -> None:
    picture(tmp_path / "a.jpg")
    write(tmp_path / "t.csv", "label,path,split,is_query,is_gallery", f"1,{tmp_path / 'a.jpg'},validation,1,1")
    assert read(tmp_path / "t.csv", "oml").rows["image"].to_list() == ["a.jpg"]


def test_triplets_are_read_by_their_header(tmp_path: Path) -> None:
    reading = read(source("triplets", tmp_path), "triplets")
    assert reading.tables["triplets"].rows() == [("clay", "clay", "steel", "item", "train")]
    write(tmp_path / "triplets.csv", "a,b,c", "1,2,3")
    with pytest.raises(LikewiseError, match="has no column for `anchor`"):
        read(tmp_path, "triplets")
