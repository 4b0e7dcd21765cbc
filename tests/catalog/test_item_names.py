"""Items by file names: offered where names look like it, kept by update and by the script that makes it again."""

from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from likewise.catalog.item_names import NUMBERED, VIEWS, items_by_name, suggest_pattern
from likewise.errors import LikewiseError
from likewise.update import update_workspace
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]


def test_several_numbered_pictures_are_one_item() -> None:
    rows = pl.DataFrame({"image": ["boots/b12_1.jpg", "boots/b12_2.jpg", "boots/b13_1.jpg", "cap.jpg"]})
    assert items_by_name(rows, r"(.+)_\d+")["item"].to_list() == ["boots/b12", "boots/b12", "boots/b13", "cap"]


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["a-1.jpg", "a-2.jpg", "b-1.jpg", "b-2.jpg"], NUMBERED),
        (["red shoe front.png", "red shoe back.png", "blue shoe front.png", "blue shoe back.png"], VIEWS),
        (["IMG_20260101.jpg", "IMG_20260102.jpg"], None),  # dates are no views
        (["a.jpg", "b.jpg", "c_1.jpg", "c_2.jpg", "d.jpg"], None),  # too few
        ([f"photo_{number}.jpg" for number in range(60)], None),  # a camera's counter
        ([], None),
    ],
)
def test_a_pattern_is_offered_only_where_names_look_like_it(names: list[str], pattern: str | None) -> None:
    assert suggest_pattern(names) == pattern


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [("(", "no regular expression"), (".+", "has no group"), (r"(.+)-view", "joins no two of 2 images")],
)
def test_a_wrong_pattern_gets_a_sentence(pattern: str, complaint: str) -> None:
    with pytest.raises(LikewiseError, match=complaint):
        items_by_name(pl.DataFrame({"image": ["a_1.jpg", "a_2.jpg"]}), pattern)


def test_new_offers_it_and_update_keeps_it(tmp_path: Path, run: Run) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(6):
        Image.new("RGB", (20, 20), (40 * number, 90, 200 - 20 * number)).save(
            photos / f"shoe{number // 2}_{number % 2}.png"
        )
    target = tmp_path / "shoes"
    assert "--item-pattern" in run("new", target, photos).out
    again = run("new", target, photos, "--item-pattern", NUMBERED, "--replace")
    assert "6 images of 3 items" in again.out and "--item-pattern" not in again.out
    Image.new("RGB", (20, 20), "black").save(photos / "shoe2_7.png")
    update_workspace(WorkspaceFolder(target))
    catalog = pl.read_parquet(WorkspaceFolder(target).catalog_file)
    assert catalog.filter(pl.col("image") == "shoe2_7.png")["item"].to_list() == ["shoe2"]
