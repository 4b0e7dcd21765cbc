"""Several conditions, more and less like, filters and guesses, against what a person would compute by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.conditional.conditional_query import ConditionalQuery
from likewise.conditional.search import LESS_WEIGHT, MORE_WEIGHT, Searcher
from likewise.conditional.search_history import HISTORY_FILE, add_search_to_history, read_history
from likewise.conditional.towers import TwoTower, normalize
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]


@pytest.fixture(scope="module")
def searcher(drawn: WorkspaceFolder, tower: TwoTower) -> Searcher:
    return Searcher.open(drawn, tower.spec, "image+text", workers=1)


def by_hand(searcher: Searcher, query: np.ndarray, left_out: set[str], top_k: int) -> list[str]:
    """The best image of each of the best items, from a sorted list of everything."""
    scores = searcher.unit_features @ normalize(query[None])[0]
    rows = searcher.catalog.select("image", "item").with_columns(pl.Series("score", scores.astype(np.float64).round(6)))
    ordered = rows.filter(~pl.col("item").is_in(list(left_out))).sort("score", descending=True, maintain_order=True)
    return ordered.unique("item", keep="first", maintain_order=True)["image"].head(top_k).to_list()


def test_several_conditions_are_the_mean_of_what_each_asks(searcher: Searcher) -> None:
    red, stripes = (normalize(searcher.tower.text_features([text]))[0] for text in ("red", "striped"))
    found = searcher.search(text=["red", "striped"], top_k=10)["image"].to_list()
    assert found == by_hand(searcher, red + stripes, set(), 10)
    assert searcher.search(text=["red", "but red", ""], top_k=10).equals(searcher.search(text="red", top_k=10))


def test_more_and_less_like_move_the_query_as_rocchio_does(searcher: Searcher) -> None:
    first, more, less = searcher.images[0], searcher.images[10], searcher.images[20]
    unit = dict(zip(searcher.images, searcher.unit_features, strict=True))
    query = unit[first] + MORE_WEIGHT * unit[more] - LESS_WEIGHT * unit[less]
    item_of = dict(searcher.catalog.select("image", "item").iter_rows())
    found = searcher.search(first, more_like=[more], less_like=[less], keep=(), top_k=10)["image"].to_list()
    assert found == by_hand(searcher, query, {item_of[first], item_of[less]}, 10)
    only = searcher.search(more_like=[more], keep=(), top_k=5)["image"].to_list()
    assert only[0] == more  # what was asked for more of may be shown
    with pytest.raises(LikewiseError, match="no-such is no image"):
        searcher.search(first, more_like=["no-such"])
    with pytest.raises(LikewiseError, match="nothing to look for"):
        searcher.search(less_like=[less])


def test_results_say_which_condition_they_meet(searcher: Searcher) -> None:
    found = searcher.search(text=["in red", "something nobody knows"], top_k=40)
    colours = dict(searcher.catalog.select("image", "colour").iter_rows())
    for row in found.iter_rows(named=True):
        known = [["in red"], []] if colours[row["image"]] == "red" else [[], ["in red"]]
        assert [row["met"], row["not_met"]] == known
    assert found["met"].list.len().sum() > 0


def test_a_picture_from_elsewhere_keeps_the_category_of_its_nearest(searcher: Searcher, tmp_path: Path) -> None:
    key = searcher.images[0]
    copy = tmp_path / "mine.jpg"
    copy.write_bytes((searcher.workspace.root / key).read_bytes())
    guessed = searcher.kept_values(ConditionalQuery(copy))
    nearest = searcher.search(copy, keep=(), top_k=12)["image"]
    categories = searcher.catalog.filter(pl.col("image").is_in(nearest.implode()))["category"].value_counts(sort=True)
    if 2 * categories["count"][0] >= 12:
        assert guessed == {"category": categories["category"][0]}
        assert set(searcher.search(copy)["category"]) == set(guessed.values())
    assert searcher.kept_values(ConditionalQuery(searcher.workspace.root / key)) == {
        "category": searcher.catalog["category"][0]
    }


def test_any_column_filters(searcher: Searcher) -> None:
    colours = dict(searcher.catalog.select("image", "colour").iter_rows())
    wanted = searcher.catalog.filter(colour="red")["category"][0]
    found = searcher.search(text="red", where=["colour=red", f"category={wanted}"], top_k=50)
    assert {colours[image] for image in found["image"]} == {"red"} and set(found["category"]) == {wanted}
    with pytest.raises(LikewiseError, match="no image of the catalog meets"):
        searcher.search(text="red", where="colour=nonsense")


def test_the_slider_is_the_same_search_at_each_place(searcher: Searcher) -> None:
    asked = ConditionalQuery(searcher.images[3], ("in red",), top_k=6)
    for weight, found in zip((0.0, 0.5, 1.0), searcher.answer_weights(asked, (0.0, 0.5, 1.0)), strict=True):
        alone = searcher.search(searcher.images[3], "in red", text_weight=weight, top_k=6)
        assert np.allclose(found["score"], alone["score"], atol=3e-6)  # the last digit may move
        assert len(set(found["image"]) & set(alone["image"])) >= 5


def test_ask_takes_all_of_it_and_remembers(run: Run, drawn: WorkspaceFolder, tower: TwoTower) -> None:
    key, other = tower.encoded_images(drawn)[7], tower.encoded_images(drawn)[9]
    before = len(read_history(drawn))
    asked = ("condition", "ask", drawn.path, "--with", tower.spec, "--image", key, "--text", "in red")
    ran = run(*asked, "--text", "xqzv blorp", "--more", other, "--less", tower.encoded_images(drawn)[20], "--top", 4)
    assert ran.code == 0 and "“in red and xqzv blorp”" in ran.out
    assert "“xqzv blorp” finds nothing more clearly than random letters" in ran.out
    assert "✓ in red" in ran.out or "✗ in red" in ran.out
    last = read_history(drawn)[-1]
    assert len(read_history(drawn)) == before + 1 and last.request.more_like == (other,)
    listed = run("condition", "ask", drawn.path, "--history")
    assert f"{before + 1}  " in listed.out and "“in red”" in listed.out
    again = run("condition", "ask", drawn.path, "--with", tower.spec, "--again", before + 1)
    assert again.code == 0 and again.out.splitlines()[3:8] == ran.out.splitlines()[3:8]
    wrong = run("condition", "ask", drawn.path, "--again", 999)
    assert wrong.code == 2 and "has no question 999" in wrong.err


def test_a_question_whose_page_was_not_written_is_asked_once_when_asked_again(
    run: Run, drawn: WorkspaceFolder, tower: TwoTower, tmp_path: Path
) -> None:
    before = len(read_history(drawn))
    page = tmp_path / "asked.html"
    page.mkdir()  # where the page should be written: the command ends there
    asked = ("condition", "ask", drawn.path, "--with", tower.spec, "--text", "in red", "--page", page)
    assert run(*asked).code != 0 and len(read_history(drawn)) == before
    page.rmdir()
    assert run(*asked).code == 0 and len(read_history(drawn)) == before + 1


def test_the_history_keeps_every_letter_and_a_question_that_is_asked_again_at_once_stands_once(tmp_path: Path) -> None:
    """U+2028 and U+0085 end no line of the file, though str.splitlines thinks so."""
    workspace, asked = WorkspaceFolder(tmp_path), ConditionalQuery("a.png", ("in\u2028red\x85", "two"))
    for each in (asked, asked, replace(asked, top_k=3), asked):
        add_search_to_history(workspace, each)
    assert [one.request for one in read_history(workspace)] == [asked, replace(asked, top_k=3), asked]


def test_a_disk_that_fills_while_a_question_is_written_leaves_no_half_line(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk."""
    resource = pytest.importorskip("resource")
    workspace, asked = WorkspaceFolder(tmp_path), ConditionalQuery("a.png", ("in red",))
    add_search_to_history(workspace, asked)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / HISTORY_FILE).stat().st_size + 20, limits[1]))
    try:
        with pytest.raises(OSError):
            add_search_to_history(workspace, replace(asked, top_k=3))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [one.request for one in read_history(workspace)] == [asked]
