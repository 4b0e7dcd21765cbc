"""One order of the models for every page, and the paper's tables made from the long ones."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import permutation_test, spearmanr

from likewise.discovery.overlap import overlap_table
from likewise.evaluation.differences import DIFFERENCE_SCHEMA
from likewise.evaluation.discovery import (
    DEFAULT_MEASURES,
    RESULT_SCHEMA,
    estimate_measures,
    ranked_results,
    results_table,
)
from likewise.evaluation.identification import Identified, identification_table
from likewise.evaluation.leave_one_out import leave_one_out
from likewise.evaluation.measures import VSD_MRR, Recall_cap
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.rank_correlation import few_models_note, spearman_exact_p
from likewise.evaluation.ranking import (
    MAIN,
    differences_from_best,
    group_encoders,
    measure_is,
    not_significantly_worse,
    place_ranges,
    rank_encoders,
)
from likewise.evaluation.vsd_tables import discovery_columns, vsd_tables
from likewise.intervals import interval_of

from .judging import gallery_of, model, pool_of, random_pairs


def results_of(**models: tuple[bool, float | None]) -> pl.DataFrame:
    rows = [
        (name, fed, False, measure, value if measure == str(MAIN) else 0.5, None, None, 8, 10, 100)
        for name, (fed, value) in models.items()
        for measure in (str(MAIN), "ROC_AUC")
    ]
    return pl.DataFrame(rows, schema=RESULT_SCHEMA, orient="row")


def test_best_first_equal_ones_by_name_undefined_ones_last() -> None:
    results = results_of(d=(True, None), c=(True, 0.7), b=(False, 0.9), a=(True, 0.7))
    assert rank_encoders(results) == ["b", "a", "c", "d"]
    assert [(group.id, group.encoders) for group in group_encoders(results)] == [
        ("fed", ["a", "c", "d"]),
        ("new", ["b"]),
    ]
    assert [group.id for group in group_encoders(results_of(a=(False, 0.1)))] == ["new"]


def test_whoever_is_compared_first_the_best_ones_lead_is_positive() -> None:
    rows = [
        (str(MAIN), "a", "b", -0.2, -0.3, -0.1, 0.01, 0.02, True, 20),
        (str(MAIN), "b", "c", 0.1, -0.1, 0.3, 0.2, 0.4, False, 20),
        (str(MAIN), "a", "c", 0.1, -0.1, 0.3, 0.2, 0.4, False, 20),
        ("ROC_AUC", "a", "b", 0.0, 0.0, 0.0, 1.0, 1.0, False, 20),
    ]
    table = pl.DataFrame(rows, schema=DIFFERENCE_SCHEMA, orient="row")
    found = {
        row["encoder"]: (row["difference"], row["low"], row["high"])
        for row in differences_from_best(table, "b").to_dicts()
    }
    assert found == {"a": (0.2, 0.1, 0.3), "c": (0.1, -0.1, 0.3)}
    assert not_significantly_worse(table, ["b", "c", "a"]) == ["c"]


def test_a_place_is_a_range_from_who_is_significantly_better_to_who_is_worse() -> None:
    rows = [
        (str(MAIN), "a", "b", -0.01, -0.1, 0.1, 0.5, 0.9, False, 20),
        (str(MAIN), "a", "c", 0.3, 0.2, 0.4, 0.001, 0.002, True, 20),
        (str(MAIN), "c", "b", -0.31, -0.4, -0.2, 0.001, 0.002, True, 20),
        (str(MAIN), "a", "answers", -0.4, -0.5, -0.3, 0.001, 0.002, True, 20),  # it learned them and has no place
        ("ROC_AUC", "a", "b", 0.5, 0.4, 0.6, 0.001, 0.002, True, 20),
    ]
    table = pl.DataFrame(rows, schema=DIFFERENCE_SCHEMA, orient="row")
    found = {name: str(place) for name, place in place_ranges(table, ["b", "a", "c"]).items()}
    assert found == {"b": "1–2", "a": "1–2", "c": "3"}
    assert place_ranges(table.filter(pl.col("encoder_b") != "b"), ["b", "a", "c"]) == {}  # made without b


def test_the_papers_tables_hold_the_papers_columns_and_the_long_tables_numbers(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=20, n_gallery=30, per_query=20)
    models = [model(name, pairs, rng, skill) for name, skill in (("a", 0.2), ("b", 1.4), ("new", 0.7))]
    models = [replace(one, sampled_scores=one.scores) for one in models]
    pool = pool_of(pairs, models[:2])
    estimates = [
        estimate_measures(one.encoder, ranked_results(one, pairs, pairs, gallery_of(pairs)), DEFAULT_MEASURES)
        for one in models
    ]
    long = results_table(estimates, ["a", "b"])
    left_out = leave_one_out(models, pairs, gallery_of(pairs), pool)
    sums = QuerySums.mean_of(rng.random(20))
    identified = [
        Identified(one.encoder, {m @ k: sums for k in (5, 9) for m in (Recall_cap, VSD_MRR)}) for one in models
    ]
    found = vsd_tables(
        {
            "discovery": long,
            "leave_one_out": left_out.models,
            "leave_one_out_orders": left_out.orders,
            "identification": identification_table(identified),
            "overlap": overlap_table(pool, 20, 6),
        },
        (5, 9),
    )
    wide = found["table_5"]
    assert wide.select("group", "encoder").rows() == [("Generators", "b"), ("Generators", "a"), ("New models", "new")]
    areas = [f"{m}-AUC {a} {n}" for m in ("ROC", "PR") for a in ("micro", "macro") for n in ("annotated", "sampled")]
    values = [name for name in wide.columns[2:] if not name.endswith((" low", " high"))]
    assert values == ["HR@5", "HR@9", "MRR@5", "MRR@9", *areas]
    for name in values:
        keyed = measure_is(discovery_columns((5, 9))[name])
        for encoder, *numbers in wide.select("encoder", name, f"{name} low", f"{name} high").iter_rows():
            row = long.filter(keyed & pl.col("encoder").eq(encoder)).select("value", "low", "high").row(0)
            assert tuple(numbers) == row
    third = found["table_3"]
    assert third["generator"].to_list() == ["a", "b"]
    area = left_out.models.filter(measure="ROC_AUC", encoder="a").row(0, named=True)
    order = left_out.orders.filter(measure="ROC_AUC", removed="a").row(0, named=True)
    columns = [f"macro {name}" for name in ("AUC", "sd", "spearman", "p_value", "p_exact")]
    expected = (area["mean"], area["sd"], order["spearman"], order["p_value"], order["p_exact"])
    assert third.select(columns).row(0) == expected
    fourth = found["table_4"]
    assert fourth.columns[::3] == ["encoder", "HR@5 high", "HR@9 high", "MRR@5 high", "MRR@9 high"]
    assert fourth.select("HR@5 low", "HR@5 high").row(0) == interval_of(sums)
    second = found["table_2"]
    assert second.columns == ["generator", "a", "b"]
    assert second["a"][0] is None and second["a"][1] == second["b"][0] > 0


def test_the_p_of_few_models_counts_every_order(rng: np.random.Generator) -> None:
    a, b = rng.random(5), rng.random(5)
    expected = permutation_test(
        (a,), lambda x: spearmanr(x, b).statistic, permutation_type="pairings", n_resamples=np.inf
    ).pvalue
    assert spearman_exact_p(a, b) == pytest.approx(expected)
    up = np.arange(4.0)
    assert spearman_exact_p(up, up) == pytest.approx(2 / 24)  # the t approximation would say 0
    assert np.isnan(spearman_exact_p(np.arange(9.0), np.arange(9.0)))  # too many orders to count
    assert np.isnan(spearman_exact_p(np.ones(4), up))
    assert "once in 24" in (few_models_note(4) or "")
    assert few_models_note(5) is few_models_note(1) is None
