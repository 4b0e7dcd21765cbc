"""The sections beside the leaderboard: what they say in words, and what an older or poorer workspace gets instead."""

import re
from dataclasses import replace

import polars as pl
import pytest

from likewise.evaluation.expert_groups import ExpertGroupsSummary
from likewise.evaluation.identification import TwoOrders
from likewise.evaluation.measures import AP, ROC_AUC
from likewise.evaluation.rank_bands import RANK_BAND_SCHEMA
from likewise.evaluation.ranking import MAIN
from likewise.report.expert_groups import expert_groups
from likewise.report.identification import identification
from likewise.report.leaderboard import leaderboard
from likewise.report.pool_order import pool_order
from likewise.report.rank_bands import rank_bands
from likewise.report.unlabelled import N_NEXT
from likewise.workspace import WorkspaceFolder, read_json, write_json, write_parquet
from tests.report.test_page import Page, page_of
from tests.report.test_words import results_of

NEWER = (
    "differences",
    "leave_one_out",
    "leave_one_out_orders",
    "identification",
    "incomplete",
    "next_pairs",
    "expert_groups",
)
AREA, HITS = str(MAIN), "P@10"


def ids_of(page: Page) -> set[str | None]:
    return {attributes["id"] for attributes in page.having("id")}


def orders_of(**spearman: tuple[float | None, float | None]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """By removed generator: the correlation of gallery ROC-AUC and of P@10 (P@20's is always −1)."""
    rows = [
        (removed, key, value, 0.01, 4)
        for removed, values in spearman.items()
        for key, value in zip((AREA, HITS, "P@20"), (*values, -1.0), strict=True)
    ]
    columns = ["removed", "measure", "spearman", "p_value", "n_models"]
    models = pl.DataFrame(
        [("a", AREA, 0.5, 0.4, 0.1, 2), ("a", HITS, 0.5, 0.4, 0.1, 2)],
        schema=["encoder", "measure", "value", "mean", "sd", "n_subsets"],
        orient="row",
    )
    return models, pl.DataFrame(rows, schema=columns, orient="row").cast({"spearman": pl.Float64})


@pytest.mark.parametrize(
    ("spearman", "said"),
    [
        (
            {"x": (1.0, 0.4), "y": (1.0, 0.8)},
            "(Spearman 0.40) by P@10 without x; by gallery ROC-AUC it stays",
        ),
        ({"x": (0.8, 0.4), "y": (1.0, 1.0)}, "by P@10 without x; by gallery ROC-AUC it changes less (lowest 0.80"),
        (
            {"x": (-0.2, 1.0), "y": (1.0, 1.0)},
            "(Spearman −0.20) by gallery ROC_AUC without x; by P@10 it stays",
        ),
        ({"x": (0.8, 1.0), "y": (1.0, 0.8)}, "by gallery ROC_AUC without x; by P@10 without y."),
        ({"x": (1.0, 1.0), "y": (1.0, 1.0)}, "is the same under every measure"),
        ({"x": (None, None), "y": (None, None)}, "the orders cannot be compared"),
    ],
)
def test_the_sentence_names_the_measure_that_moves(
    spearman: dict[str, tuple[float | None, float | None]], said: str
) -> None:
    made = pool_order(*orders_of(**spearman), ["a"])
    assert made is not None and said in made.conclusion
    assert [name for name, _, _ in made.measures] == [AREA, HITS]  # the smallest k as a number: 10, not 20


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.4, 0.2, "is not shown to be related to the order by discovery"),
        (0.0, 0.9, "is not shown to be related to the order by discovery"),
        (0.3, 0.9, "resembles the order by discovery"),
        (-0.9, -0.3, "is opposed to the order by discovery"),
    ],
)
def test_what_identification_says_about_discovery_depends_on_the_interval(low: float, high: float, said: str) -> None:
    board = leaderboard(results_of(a=(0.5, 0.45, 0.55), b=(0.9, 0.85, 0.95), c=None))
    rows = [(name, False, "Recall_cap@5", 0.3, 0.2, 0.4, 8, 10) for name in "abc"]
    columns = ["encoder", "learned", "measure", "value", "low", "high", "n_queries", "n_queries_total"]
    table = pl.DataFrame(rows, schema=columns, orient="row")
    correlation = (low + high) / 2, low, high
    orders = TwoOrders("Recall_cap@5", 3, *correlation, *correlation)
    made = identification(table, orders, board)
    assert made is not None and said in made.conclusion
    assert "3 models are too few for a rank correlation" in made.numbers
    assert [point.encoder for point in made.points] == ["b", "a"]  # c has no discovery value to plot
    two = identification(table, replace(orders, n_models=2), board)
    assert two is not None and "2 models the two orders cannot be compared" in two.conclusion


def test_groups_of_experts_say_how_often_the_winner_stays() -> None:
    rows = [("rule", "majority", "a", 0.8), ("expert", "ann", "a", 0.7), ("expert", "bob", "a", 0.9)]
    rows += [("group", str(number), "a", 0.75 + number / 100) for number in range(5)]
    rows += [("number", str(number), "a", 0.8) for number in (1, 2)]
    table = pl.DataFrame(rows, schema=["kind", "group", "encoder", "value"], orient="row")
    made = expert_groups(table, ExpertGroupsSummary("a", 0.62, 5, 0), ["a", "not measured"])
    assert made is not None
    assert made.conclusion == "a stays first in 62\u00a0% of 5 groups of 2 drawn with replacement from these experts."
    assert made.intervals["a"] == f"{100 * made.ranges[0].low:.1f}–{100 * made.ranges[0].high:.1f}"
    (only,) = made.ranges
    assert only.ticks == (0.8,) and only.dots == (0.7, 0.9)
    assert 0.75 <= only.low < only.high <= 0.79
    assert made.numbers["group"].to_list() == ["1", "2"]


def test_far_ranks_say_how_many_pairs_are_similar_or_that_no_label_is_there() -> None:
    rows = [(0, 5, 70, 30, 30, 12, 0.4, 0.2, 0.6), (100, 499, 9000, 30, 0, 0, None, None, None)]
    table = pl.DataFrame(rows, schema=RANK_BAND_SCHEMA, orient="row")
    made = rank_bands(table)
    assert made is not None and made.conclusion == "At ranks 1 to 6, 40.0\u00a0% (20.0–60.0) of the pairs are similar."
    assert [(band.first, band.last, band.n_labelled) for band in made.bands] == [(1, 6, 30), (101, 500, 0)]
    waiting = rank_bands(table[1:])
    assert waiting is not None and "None of the drawn pairs has a label yet" in waiting.conclusion
    assert rank_bands(table.clear()) is None and rank_bands(None) is None


def test_every_section_of_a_new_evaluation_is_drawn(shop: WorkspaceFolder) -> None:
    page = page_of(shop)
    shown = {"pool-order-orders", "pool-order-means", "plot-bounds", "unlabelled-table", "plot-groups", "groups-table"}
    shown |= {"plot-experts", "groups-by-number"}
    assert shown <= ids_of(page)
    (curves,) = [words for a in page.having("aria-label") if "from one expert to 3" in (words := a["aria-label"] or "")]
    numbers = pl.read_parquet(shop.results_folder / "expert_groups.parquet").filter(kind="number", encoder="shape")
    assert numbers["group"].to_list() == ["1", "2", "3"]
    assert f"shape from {100 * numbers['value'][0]:.1f} to {100 * numbers['value'][-1]:.1f}" in curves
    incomplete = pl.read_parquet(shop.results_folder / "incomplete.parquet")
    for value in (*incomplete["bpref"], *incomplete["auc_low"], *incomplete["auc_high"]):
        assert f"{100 * value:.1f}" in page.text
    recall = read_json(shop.results_folder / "summary.json")["pool_recall"]
    assert f"{recall['found']} found; {recall['n_random_missed']} of {recall['n_random']} random pairs" in page.text
    assert "older" not in {name for a in page.having("class") for name in (a["class"] or "").split()}


def test_the_first_unlabelled_pairs_are_shown_as_pictures(shop: WorkspaceFolder) -> None:
    path = shop.results_folder / "next_pairs.parquet"
    waiting = pl.read_parquet(path)
    assert len(waiting) > N_NEXT
    text = page_of(shop)
    listed = [image for pair in waiting.head(N_NEXT).select("query", "candidate").rows() for image in pair]
    assert all(any((a["aria-label"] or "").startswith(image) for a in text.having("aria-label")) for image in listed)
    assert f"All {len(waiting)} are in results/next_pairs.parquet" in text.text
    write_parquet(waiting.clear(), path)
    assert "every top candidate of the models has a label" in page_of(shop).text


def test_models_without_a_significant_difference_are_marked(shop: WorkspaceFolder) -> None:
    summary = read_json(shop.results_folder / "summary.json")
    summary["pool"]["n_different"] = 3.0  # two generators are too few for any rank
    write_json(summary, shop.results_folder / "summary.json")
    path = shop.results_folder / "differences.parquet"
    table = pl.read_parquet(path)
    for significant, n_marked in ((False, 2), (True, 0)):
        write_parquet(table.with_columns(significant=pl.lit(significant)), path)
        page = page_of(shop)
        assert len(page.having("data-alike")) == n_marked
        assert ("≈" in page.text) is not significant
        places = re.findall(r'class="place"[^>]*>([^<]*)<', shop.report_file.read_text())
        assert sorted(places) == (["1", "2", "3"] if significant else ["1–3"] * 3)


def test_the_main_table_holds_one_k_and_labelled_negatives_only(shop: WorkspaceFolder) -> None:
    path = shop.results_folder / "discovery.parquet"
    table = pl.read_parquet(path)
    measured = ROC_AUC, ROC_AUC(average="micro"), AP, AP(average="micro")
    named = {str(area): str(area(negatives="sampled")) for area in measured}
    sampled = table.filter(pl.col("measure").is_in(list(named))).with_columns(
        pl.col("measure").replace(named), value=pl.lit(0.4321)
    )
    write_parquet(pl.concat([table, sampled]), path)
    text = page_of(shop)
    table_of = [
        a["data-measure"] or "" for tag, a in text.tags if tag == "th" and "data-sort" in a and "data-measure" in a
    ]
    areas = [str(MAIN), "ROC_AUC", 'ROC_AUC(average="micro")', "AP", 'AP(average="micro")']
    lists = ["P@5", "VSD_MRR@5", "nDCG@5", "Judged@5"]
    assert table_of[:9] == areas + lists
    assert sorted(table_of[9:]) == sorted([*named.values(), "P@9", "VSD_MRR@9", "nDCG@9", "Judged@9"])
    plots = [a["aria-label"] or "" for tag, a in text.tags if tag == "svg" and "curves." in (a.get("aria-label") or "")]
    assert len(plots) == 2 and not any("43.2" in words for words in plots)  # the curves' areas are the labelled ones


def test_results_of_an_older_evaluation_still_make_a_page(shop: WorkspaceFolder) -> None:
    for name in NEWER:
        (shop.results_folder / f"{name}.parquet").unlink()
    summary = read_json(shop.results_folder / "summary.json")
    for name in ("sampled_negatives", "orders", "expert_groups", "pool_recall"):
        del summary[name]
    write_json(summary, shop.results_folder / "summary.json")
    page = page_of(shop)
    notes = [a for a in page.having("class") if "older" in (a["class"] or "").split()]
    assert len(notes) == 5  # differences, pool, unlabelled, identification, experts
    assert page.text.count("likewise evaluate 'small shop'") >= 5
    assert not ids_of(page) & {"plot-bounds", "plot-groups", "plot-identification", "pool-recall", "pool-order-orders"}


def test_a_table_of_replaced_votes_is_not_shown(shop: WorkspaceFolder) -> None:
    summary = read_json(shop.results_folder / "summary.json")
    del summary["expert_groups"]
    write_json(summary, shop.results_folder / "summary.json")
    assert (shop.results_folder / "expert_groups.parquet").exists()
    assert "plot-groups" not in ids_of(page_of(shop))


def test_without_other_images_identification_is_skipped_in_a_sentence(shop: WorkspaceFolder) -> None:
    page = page_of(shop)  # one picture per item
    assert "No query has another image of its item" in page.text
    assert "identification-table" not in ids_of(page)


def test_identification_is_drawn_where_there_are_other_images(shop: WorkspaceFolder) -> None:
    path = shop.results_folder / "identification.parquet"
    table = pl.read_parquet(path)
    found = table.with_columns(value=pl.lit(0.4), low=pl.lit(0.3), high=pl.lit(0.5), n_queries=pl.lit(7, pl.Int64))
    write_parquet(found, path)
    page = page_of(shop)
    assert {"plot-identification", "identification-table"} <= ids_of(page)
    assert "which 7 of 9 queries have" in page.text and "30.0–50.0" in page.text
