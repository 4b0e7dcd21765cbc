"""The record of what was learned: it survives files and derivations, and names pictures by what they show."""

from pathlib import Path

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.lineage import NOTHING_LEARNED, Examples, Lesson, Lineage, Task, examples_from_catalog
from likewise.lineage.digests import caption_digest, condition_digest, look_digest, pair_digest, triplet_digest
from likewise.lineage.files import from_bytes, read_lineage, to_bytes, write_lineage

CATALOG = pl.DataFrame(
    {
        "image": ["a1", "a2", "b1", "c1"],
        "item": ["a", "a", "b", "c"],
        "digest": ["d-a1", "d-a2", "d-b1", ""],
        "caption": ["A red shoe on grass.", None, "two dogs run very fast", "a red shoe, on GRASS"],
    }
)


def lesson(images: list[str], task: Task = "labels", answers: frozenset[str] = frozenset()) -> Lesson:
    return Lesson(
        task, "train perceptual", "shoes", examples_from_catalog(CATALOG, images, answers=answers), "f", "train"
    )


def test_examples_hold_whole_items_and_captions_that_only_one_item_has() -> None:
    found = examples_from_catalog(CATALOG, ["a1", "b1"])
    assert found.images.rows() == [("a1", "a", "d-a1"), ("a2", "a", "d-a2"), ("b1", "b", "d-b1")]
    assert found.captions == {caption_digest("Two dogs run, very fast")}  # the shoe's caption fits two items
    assert examples_from_catalog(CATALOG, ["c1"]).images["content"].to_list() == [None]


def test_a_record_comes_back_from_its_file_and_gives_the_same_bytes(tmp_path: Path) -> None:
    lineage = Lineage(
        (lesson(["a1"], answers=frozenset({"x", "y"})), lesson(["b1"], "captions")), ("lite0: ImageNet",), ("mine",)
    )
    write_lineage(lineage, tmp_path / "lineage.parquet")
    found = read_lineage(tmp_path / "lineage.parquet")
    assert found is not None
    assert [one.key for one in found.lessons] == [one.key for one in lineage.lessons]
    assert (found.pretrained, found.unknown) == (lineage.pretrained, lineage.unknown)
    assert to_bytes(found) == to_bytes(lineage)
    assert read_lineage(tmp_path / "none.parquet") is None
    empty = from_bytes(to_bytes(NOTHING_LEARNED), "")
    assert empty == NOTHING_LEARNED


def test_something_else_is_no_record() -> None:
    with pytest.raises(LikewiseError, match=r"mine\.parquet does not say what a model learned from"):
        from_bytes(b"PAR1 no", "mine.parquet")


def test_a_union_has_every_lesson_once() -> None:
    one, other = lesson(["a1"]), lesson(["b1"])
    whole = Lineage((one,)).union(Lineage((lesson(["a1"]), other)), Lineage(unknown=("mine",)))
    assert [each.key for each in whole.lessons] == [one.key, other.key]
    assert whole.unknown == ("mine",)
    assert whole.union(whole).sentences == whole.sentences


def test_digests_tell_answers_apart_and_not_the_order_they_are_written_in() -> None:
    assert pair_digest("a", "b") == pair_digest("b", "a") != pair_digest("a", "c")
    assert triplet_digest("a", "b", "c") == triplet_digest("a", "c", "b") != triplet_digest("b", "a", "c")
    assert condition_digest("a", " In Red", "b") == condition_digest("a", "in red", "b")
    assert condition_digest("a", "in red", "b") != condition_digest("b", "in red", "a")
    assert look_digest(["hat", "shoe"]) == look_digest(["shoe", "hat"]) != look_digest(["hat"])
    assert caption_digest("red shoe") is None


def test_a_hundred_thousand_images_take_a_few_megabytes() -> None:
    n = 100_000
    images = pl.DataFrame(
        {
            "image": [f"shop/shoes/shoe-{row:06d}.jpg" for row in range(n)],
            "item": [f"shoe-{row // 2:06d}" for row in range(n)],
            "content": [caption_digest(f"one two three {row}") for row in range(n)],
        }
    )
    content = to_bytes(Lineage((Lesson("pictures", "pca", "shoes", Examples(images)),)))
    assert len(content) < 40 * n
    assert from_bytes(content, "").lessons[0].examples.images.height == n
