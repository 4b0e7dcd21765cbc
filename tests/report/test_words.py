"""What the page says in words: verdicts, numbers, commands, the choice of queries."""

from itertools import pairwise

import polars as pl
import pytest

from likewise.evaluation.discovery import RESULT_SCHEMA
from likewise.report.gallery import choose_queries
from likewise.report.headline import verdict
from likewise.report.leaderboard import leaderboard
from likewise.report.making import commands
from likewise.report.numbers import amount, count, listed, percent, several, small_percent
from likewise.report.plots.palette import model_styles
from likewise.report.plots.svg import spread
from likewise.report.tables import read_tables
from likewise.workspace import Workspace


def results_of(**models: tuple[float, float, float] | None) -> pl.DataFrame:
    rows = [
        (name, True, "ROC-AUC", "macro", "annotated", *(numbers or (None, None, None)), 8, 10, 100)
        for name, numbers in models.items()
    ]
    return pl.DataFrame(rows, schema=RESULT_SCHEMA, orient="row")


def test_overlapping_intervals_cannot_be_told_apart() -> None:
    board = leaderboard(results_of(a=(0.5, 0.45, 0.55), b=(0.7, 0.6, 0.8), c=(0.65, 0.58, 0.7), d=None))
    lead, numbers = verdict(board)
    assert lead == "b leads, but cannot be told apart from c"
    assert "70.0" in numbers and "60.0–80.0" in numbers
    assert [model.encoder for model in board.models] == ["b", "c", "a", "d"]
    assert board.models[-1].place is None and board.models[-1].whisker is None


def test_separate_intervals_name_a_winner() -> None:
    lead, numbers = verdict(leaderboard(results_of(a=(0.5, 0.45, 0.55), b=(0.7, 0.6, 0.8))))
    assert lead == "b finds best what people call similar"
    assert "a 50.0" in numbers


def test_a_single_model_is_not_called_best() -> None:
    assert "only model" in verdict(leaderboard(results_of(a=(0.5, 0.45, 0.55))))[0]


def test_whiskers_share_one_axis_and_stay_on_it() -> None:
    board = leaderboard(results_of(a=(0.5, 0.41, 0.55), b=(0.98, 0.9, 1.0)))
    assert board.axis == pytest.approx((0.4, 1.0))
    for model in board.models:
        assert model.whisker is not None
        assert 0 <= model.whisker.low <= model.whisker.value <= model.whisker.high <= 100
    assert leaderboard(results_of(a=None)).axis == (0.0, 1.0)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (percent(0.5), "50.0"),
        (percent(None), "–"),
        (small_percent(0.001), "0.10"),
        (small_percent(0.00001234), "0.0012"),
        (small_percent(0.123), "12.3"),
        (small_percent(0.0), "0"),
        (amount(1464.4), "1,464"),
        (amount(8.175), "8.2"),
        (count(54170), "54,170"),
        (several(1, "query", "queries"), "1 query"),
        (several(2000, "query", "queries"), "2,000 queries"),
        (listed(["a"]), "a"),
        (listed(["a", "b", "c"]), "a, b and c"),
        (listed(list("abcdefg"), most=3), "a, b, c and 4 others"),
    ],
)
def test_numbers_are_written_for_people(written: str, expected: str) -> None:
    assert written == expected


def test_the_commands_would_lead_here_again(shop: Workspace) -> None:
    lines = commands(read_tables(shop), "small shop")
    assert lines[0] == "likewise new 'small shop' FOLDER"
    assert lines[2] == (
        "likewise discover 'small shop' --k 3 --n-queries 9 --with colour,shape --by-category --seed 1 --random 20"
    )
    assert "likewise label import 'small shop' votes.csv" in lines
    assert lines[-2] == "likewise budget 'small shop' --k 4 --n-queries 9 --with colour,shape --by-category --seed 1"
    assert lines[-1] == "likewise report 'small shop'"


def test_the_gallery_visits_every_category_before_any_twice() -> None:
    images = [f"{category}{number}" for category in "abcd" for number in range(5)]
    catalog = pl.DataFrame({"image": images, "category": [None if image[0] == "d" else image[0] for image in images]})
    pool = pl.DataFrame({"query": images})
    chosen = choose_queries(pool, catalog, seed=3, n=8)
    assert sorted(image[0] for image in chosen[:4]) == list("abcd")
    assert len(set(chosen)) == 8
    assert chosen == choose_queries(pool.reverse(), catalog, seed=3, n=8)
    assert chosen != choose_queries(pool, catalog, seed=4, n=8)


def test_colours_follow_the_name_not_the_place() -> None:
    few, many = model_styles(["b", "a"]), model_styles([f"m{number:02}" for number in range(28)])
    assert few["a"] == model_styles(["a", "b"])["a"]
    assert len(set(many.values())) == 28


def test_labels_move_apart_but_keep_their_order() -> None:
    moved = spread([1.0, 1.0, 1.01, 5.0], gap=0.5)
    assert moved == sorted(moved)
    assert all(upper - lower >= 0.5 - 1e-6 for lower, upper in pairwise(moved))
    assert moved[3] == 5.0
