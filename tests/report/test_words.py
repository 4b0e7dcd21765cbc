"""What the page says in words: verdicts, numbers, commands, the choice of queries."""

from dataclasses import fields, replace
from itertools import pairwise

import polars as pl
import pytest

from likewise.discovery.step import PoolSettings
from likewise.evaluation.differences import DIFFERENCE_SCHEMA
from likewise.evaluation.discovery import RESULT_SCHEMA
from likewise.evaluation.measures import ROC_AUC, P
from likewise.evaluation.ranking import MAIN
from likewise.evaluation.step import evaluate
from likewise.evaluation.summary import EvaluationSettings
from likewise.neighbours.index import IndexRecall
from likewise.report.differences import against_best, not_significantly_worse
from likewise.report.formatting import (
    count,
    format_amount,
    fraction,
    join_names,
    p_value,
    percent,
    plural,
    points,
    signed,
    small_percent,
)
from likewise.report.gallery import choose_queries
from likewise.report.headline import headline_verdict
from likewise.report.leaderboard import leaderboard
from likewise.report.plots.palette import model_styles
from likewise.report.plots.svg import spread_labels
from likewise.report.provenance import settings_table
from likewise.report.script import POOL_OPTIONS, commands_to_reproduce
from likewise.report.tables import read_tables
from likewise.report.unlabelled import different_queries
from likewise.workspace import WorkspaceFolder


def results_of(**models: tuple[float, float, float] | None) -> pl.DataFrame:
    rows = [
        (name, True, False, str(MAIN), *(numbers or (None, None, None)), 8, 10, 100) for name, numbers in models.items()
    ]
    return pl.DataFrame(rows, schema=RESULT_SCHEMA, orient="row")


def differences_of(*rows: tuple[str, str, float, float, float, float]) -> pl.DataFrame:
    """(a, b, difference, low, high, p after Holm), on gallery ROC-AUC; the same pairs reversed on another measure."""
    lines = []
    for a, b, difference, low, high, p in rows:
        lines.append((str(MAIN), a, b, difference, low, high, p, p, p < 0.05, 40))
        lines.append(('ROC_AUC(negatives="sampled")', a, b, -difference, -high, -low, 1 - p, 1 - p, p >= 0.05, 40))
    return pl.DataFrame(lines, schema=DIFFERENCE_SCHEMA, orient="row")


def test_a_lead_that_is_not_real_names_the_rivals_and_the_paired_difference() -> None:
    board = leaderboard(results_of(a=(0.5, 0.45, 0.55), b=(0.7, 0.6, 0.8), c=(0.65, 0.58, 0.7), d=None))
    table = differences_of(("a", "b", -0.2, -0.25, -0.15, 0.003), ("b", "c", 0.05, -0.012, 0.11, 0.08))
    found = against_best(table, board)
    lead, numbers = headline_verdict(board, found, "shop")
    assert lead == "b leads, but not significantly over c"
    assert "70.0" in numbers and "60.0–80.0" in numbers
    assert (
        "Its lead is +5.0 points (95\u00a0% −1.2 to +11.0, p\u00a0=\u00a00.080) over c, paired" in numbers
        and "Holm" in numbers
    )
    assert not_significantly_worse(board, found) == ["c"]
    assert [model.encoder for model in board.models] == ["b", "c", "a", "d"]
    assert board.models[-1].place is None and board.models[-1].whisker is None


def test_of_many_rivals_the_headline_gives_the_nearest_distances() -> None:
    names = "bcdef"
    board = leaderboard(results_of(a=(0.8, 0.7, 0.9), **{n: (0.7 - i / 50, 0.5, 0.9) for i, n in enumerate(names)}))
    rows = [("a", n, 0.1 + i / 50, -0.1, 0.3, 0.9) for i, n in enumerate(names)]
    _, numbers = headline_verdict(board, against_best(differences_of(*rows), board), "shop")
    assert "over b, +12.0 points" in numbers and "over d (the nearest 3 of 5), paired" in numbers
    assert "others" not in numbers


def test_a_lead_lost_by_correction_is_no_contradiction() -> None:
    """A lead of +19.2 (+5.1 to +34.0) that is not significant says that several comparisons were made."""
    board = leaderboard(results_of(a=(0.5, 0.3, 0.7), b=(0.692, 0.6, 0.8), c=(0.4, 0.3, 0.5)))
    rows = (("b", "a", 0.192, 0.051, 0.34, 0.081), ("b", "c", 0.29, 0.2, 0.38, 0.001), ("a", "c", 0.1, -0.1, 0.3, 0.4))
    lead, numbers = headline_verdict(board, against_best(differences_of(*rows), board), "shop")
    assert lead == "b leads, but over a not significantly after correction for 3 comparisons"
    assert "+5.1 to +34.0" in numbers
    assert "Taken alone the lead over a would be significant; after correction for 3 comparisons it is not." in numbers


def test_no_coefficient_is_a_negative_zero() -> None:
    assert [fraction(value) for value in (-0.001, 0.0, -0.32, None)] == ["0.00", "0.00", "−0.32", "–"]


def test_pairs_to_label_next_show_many_queries() -> None:
    pairs = [("a", str(number)) for number in range(7)] + [("b", "x"), ("c", "y"), ("b", "z")]
    assert different_queries(pairs, 5) == [("a", "0"), ("b", "x"), ("c", "y"), ("a", "1"), ("b", "z")]
    assert different_queries(pairs[:7], 3) == pairs[:3]


def test_a_real_difference_names_a_winner_although_the_intervals_overlap() -> None:
    board = leaderboard(results_of(a=(0.66, 0.6, 0.72), b=(0.7, 0.65, 0.75)))
    found = against_best(differences_of(("a", "b", -0.04, -0.06, -0.02, 0.0004)), board)
    lead, numbers = headline_verdict(board, found, "shop")
    assert lead == "b finds best what people call similar"
    assert "the next, a, is +4.0 points (95\u00a0% +2.0 to +6.0, p\u00a0<\u00a00.001), paired" in numbers
    assert not_significantly_worse(board, found) == []


def test_without_tested_differences_nobody_is_called_best() -> None:
    board = leaderboard(results_of(a=(0.5, 0.45, 0.55), b=(0.9, 0.85, 0.95)))
    assert against_best(None, board) is None
    assert against_best(differences_of(("b", "z", 0.1, 0.05, 0.15, 0.001)), board) is None  # a was not compared
    lead, numbers = headline_verdict(board, None, "shop")
    assert lead == "b has the highest gallery ROC-AUC" and "likewise evaluate shop" in numbers


def test_a_single_model_is_not_called_best() -> None:
    assert "only model" in headline_verdict(leaderboard(results_of(a=(0.5, 0.45, 0.55))), None, "shop")[0]


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
        (format_amount(1464.4), "1,464"),
        (format_amount(8.175), "8.2"),
        (count(54170), "54,170"),
        (plural(1, "query", "queries"), "1 query"),
        (plural(2000, "query", "queries"), "2,000 queries"),
        (points(-0.0123), "−1.2"),
        (signed(-0.4), "−0.40"),
        (signed(-0.001), "0.00"),
        (p_value(0.0004), "p\u00a0<\u00a00.001"),
        (p_value(None), "p undefined"),
        (join_names(["a"]), "a"),
        (join_names(["a", "b", "c"]), "a, b and c"),
        (join_names(list("abcdefg"), max_names=3), "a, b, c and 4 others"),
    ],
)
def test_numbers_are_written_for_people(written: str, expected: str) -> None:
    assert written == expected


def test_every_setting_of_a_pool_has_an_option_in_the_script() -> None:
    assert {*POOL_OPTIONS, "of_labels"} == {field.name for field in fields(PoolSettings)}


def test_the_settings_of_the_evaluation_come_from_its_summary(shop: WorkspaceFolder) -> None:
    settings = EvaluationSettings.of_measures(None, (3, 7))
    evaluate(shop, settings=replace(settings, seed=4), store=True)
    tables = read_tables(shop)
    assert "likewise evaluate 'small shop-again' --k 3,7 --seed 4 --store" in commands_to_reproduce(
        tables, "small shop"
    )
    assert dict(settings_table(tables))["evaluation"].startswith("k 3, 7; seed 4")
    settings = EvaluationSettings.of_measures([P @ 2, ROC_AUC(average="micro")])
    evaluate(shop, settings=settings, store=True)
    tables = read_tables(shop)
    chosen = """--k 2 --measures 'P@2 ROC_AUC(average="micro")' --store"""
    assert f"likewise evaluate 'small shop-again' {chosen}" in commands_to_reproduce(tables, "small shop")
    assert 'measures P@2, ROC_AUC(average="micro")' in dict(settings_table(tables))["evaluation"]


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
    moved = spread_labels([1.0, 1.0, 1.01, 5.0], gap=0.5)
    assert moved == sorted(moved)
    assert all(upper - lower >= 0.5 - 1e-6 for lower, upper in pairwise(moved))
    assert moved[3] == 5.0


def test_a_pool_made_through_an_index_says_so_with_its_recall(shop: WorkspaceFolder) -> None:
    tables = read_tables(shop)
    assert "index" not in dict(settings_table(tables))
    recall = IndexRecall("ivf", 6, 0.991, 0.95, 0.998, 200, 8)
    through = replace(tables, pool_settings=tables.pool_settings | {"index": "ivf"}, recalls={"shape": recall})
    assert dict(settings_table(through))["index"] == "shape: ivf index, recall@6 99.1 % (95.0–99.8, n=200)"
    assert any("--index ivf" in line for line in commands_to_reproduce(through, "shop"))
