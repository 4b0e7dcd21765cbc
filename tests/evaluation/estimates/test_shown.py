"""Intervals that foresee surprises, the order of models, and which estimates are shown by default."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.evaluation.estimates.apart import n_apart
from likewise.evaluation.estimates.blocks import rank_block
from likewise.evaluation.estimates.chances import Expectation, Floats
from likewise.evaluation.estimates.draw import LabelledDraw, round_counts
from likewise.evaluation.estimates.estimate import estimate_catalog
from likewise.evaluation.estimates.layout import catalog_layout
from likewise.evaluation.estimates.linearised import (
    CatalogEstimate,
    Corrections,
    estimate_count,
    label_corrections,
)
from likewise.evaluation.estimates.ordering import order_values, rank_best_first
from likewise.evaluation.estimates.shown import EstimateFacts, shown_by_default
from likewise.evaluation.estimates.step import PoolEstimates

from .test_estimates import ENCODERS, N_ITEMS, Catalog
from .test_estimates import N_QUERIES as N_QUERIES_OF_CATALOG

N_QUERIES = 20
N_LABELS = N_QUERIES_OF_CATALOG * 24


def corrections(weight: float, label: Floats, chance: Floats) -> Corrections:
    n = len(label)
    query = np.arange(n) * N_QUERIES // n
    drawn = LabelledDraw.of_rounds(
        np.arange(N_QUERIES), query, np.arange(n), np.full(n, 1.0 / weight), label, np.zeros(n, dtype=np.int64)
    )
    return label_corrections(drawn, chance)


def estimate(terms: Corrections, slope: float, value: float = 0.5, predicted: float = 0.5) -> CatalogEstimate:
    gradient = np.full(len(terms.query), slope)
    influence = N_QUERIES * np.bincount(terms.query, terms.missed * gradient, N_QUERIES).astype(np.float64)
    return CatalogEstimate(value, influence, gradient, terms, predicted, 0.5)


def test_surprises_that_did_not_happen_count_half_and_many_that_did_speak_for_themselves() -> None:
    rare = corrections(100.0, np.zeros(200), np.full(200, 1e-4))  # 0.02 similar pairs expected among the labels
    slope = 1e-3
    foreseen = np.sqrt(0.5 * 200 * slope**2 * 99.0 * 100.0 * 1e-4)
    assert estimate(rare, slope).drawing_error == pytest.approx(foreseen, rel=0.02)
    rng = np.random.default_rng(0)
    often = corrections(100.0, (rng.random(4000) < 0.1).astype(float), np.full(4000, 0.2))  # half as many as predicted
    seen = np.sqrt((slope**2 * often.seen_variance).sum())
    assert estimate(often, slope).drawing_error == pytest.approx(seen, rel=0.01)
    assert estimate(often, slope).standard_error >= seen * 0.5


def test_the_interval_of_a_number_is_about_its_logarithm() -> None:
    one = estimate(corrections(10.0, np.zeros(50), np.full(50, 0.3)), 0.1, value=8.0)
    low, high = one.count_interval()
    straight = one.interval(these_queries=True)
    assert low * high == pytest.approx(64.0) and 0.0 < straight[0] < low < 8.0 < straight[1] < high
    assert estimate(corrections(10.0, np.zeros(50), np.full(50, 0.3)), 0.1, value=0.0).count_interval()[0] < 0.0


def test_how_far_chances_overstate_surprises_is_told_by_all_labels() -> None:
    rng = np.random.default_rng(5)
    chance = np.full(20_000, 0.2)
    right = corrections(10.0, (rng.random(len(chance)) < chance).astype(float), chance)
    half = corrections(10.0, (rng.random(len(chance)) < chance / 2.0).astype(float), chance)
    assert right.heavy_ratio == pytest.approx(1.0, abs=0.05)
    assert half.heavy_ratio == pytest.approx(((0.1 * 0.8**2 + 0.9 * 0.2**2) / 0.16) ** 2, abs=0.03)
    assert corrections(10.0, np.zeros(50), np.full(50, 1e-3)).heavy_ratio == 0.25  # none so far is no promise
    assert corrections(10.0, np.ones(50), np.full(50, 0.1)).heavy_ratio == 1.0


def test_the_number_of_similar_pairs_foresees_as_much_as_labels_bear_out() -> None:
    rare = corrections(100.0, np.zeros(200), np.full(200, 1e-4))
    expected = Expectation(np.full(N_QUERIES, 2.0), np.ones(200))
    wary = estimate_count(replace(rare, heavy_ratio=1.0), expected)
    bold = estimate_count(replace(rare, heavy_ratio=0.25), expected)
    assert wary.value == bold.value and wary.foreseen_error == bold.foreseen_error
    assert wary.drawing_error == pytest.approx(2.0 * bold.drawing_error, rel=0.05)


def test_a_number_that_is_hardly_known_is_between_what_is_found_and_all_there_is() -> None:
    """One similar pair among all labels: the logarithm's interval alone would reach beyond the catalog."""
    catalog = Catalog(0)
    drawn = catalog.draw(N_LABELS, 0)
    one = replace(drawn, label=np.eye(1, len(drawn.label), 3)[0])
    found = estimate_catalog(catalog.blocks, ENCODERS, one, (5,), generators=[0, 1])
    told = PoolEstimates(found, catalog.units, "item").tables("sampled").facts
    assert told.n_found == 1 <= told.n_similar_low <= told.n_similar <= told.n_similar_high
    assert told.n_similar_high == told.n_pairs - told.n_labelled + 1
    vague = estimate(corrections(10.0, np.zeros(50), np.full(50, 0.3)), 0.1, value=1e-5)
    assert np.isfinite(vague.count_interval()).all()


def test_models_are_ordered_by_what_labels_can_tell_from_chance() -> None:
    rng = np.random.default_rng(1)
    predicted = np.array([0.3, 0.5, 0.7])
    noise = corrections(10.0, np.zeros(50), np.full(50, 0.3))
    slopes = 0.01 * rng.standard_normal((3, 50))
    moved = predicted + np.array([0.15, 0.0, -0.15])  # less than chance moves them
    vague = [
        CatalogEstimate(value, np.ones(N_QUERIES), slope, noise, start, 0.5)
        for value, slope, start in zip(moved, slopes, predicted, strict=True)
    ]
    assert rank_best_first(np.array([one.value for one in vague])) == [3, 2, 1] or moved[0] < moved[2]
    np.testing.assert_allclose(order_values(vague), predicted)
    census = corrections(1.0, np.zeros(50), np.full(50, 0.3))
    sure = [
        CatalogEstimate(value, np.ones(N_QUERIES), slope, census, start, 0.5)
        for value, slope, start in zip(moved, slopes, predicted, strict=True)
    ]
    np.testing.assert_allclose(order_values(sure), moved)
    assert rank_best_first(np.array([0.2, 0.9, 0.4])) == [3, 1, 2]


def test_weights_of_rounds_leave_totals_unbiased() -> None:
    """The second round goes where the first found something: the worst case for weights that look at labels."""
    rng = np.random.default_rng(2)
    truth = np.zeros(400)
    truth[rng.permutation(400)[:30]] = 1.0
    totals: dict[str, list[float]] = {"finding": [], "of effective sizes": []}
    for _ in range(2500):
        first = rng.permutation(400)[:60]
        left = np.setdiff1d(np.arange(400), first)
        weight = np.where(np.isin(left // 10, first[truth[first] == 1.0] // 10), 30.0, 1.0)
        chance = np.minimum(1.0, 60 * (0.95 * weight / weight.sum() + 0.05 / len(left)))
        second = rng.random(len(left)) < chance
        probability = np.concatenate([np.full(60, 60 / 400), chance[second]])
        number = np.repeat([0, 1], [60, int(second.sum())])
        label = truth[np.concatenate([first, left[second]])]
        kish = [60.0, float((1.0 / chance[second]).sum() ** 2 / (1.0 / chance[second] ** 2).sum())]
        nothing = np.zeros(len(label), dtype=np.int64)
        for name, counts in (("finding", round_counts([60.0, 60.0], "finding")), ("of effective sizes", kish)):
            drawn = LabelledDraw.of_rounds(nothing[:1], nothing, nothing, probability, label, number, counts)
            totals[name].append(float(drawn.weight @ label))
    off = {name: (np.mean(some) - 30.0) / (np.std(some) / np.sqrt(len(some))) for name, some in totals.items()}
    assert abs(off["finding"]) < 3.0
    assert off["of effective sizes"] > 3.0  # what weights do that depend on how earlier labels fell


def facts(*, apart: float = 0.0, count_error: float = 0.02, foreseen_error: float = 0.03) -> EstimateFacts:
    return EstimateFacts(apart, count_error, foreseen_error)


def test_labels_drawn_for_finding_show_what_is_linear_in_them() -> None:
    assert shown_by_default("P@10", facts(), "finding") and not shown_by_default("AP", facts(), "finding")
    assert shown_by_default("AP", facts(), "comparing") and shown_by_default("nDCG@10", facts(), None)
    assert shown_by_default("P@10", facts(apart=0.1), None)
    assert not shown_by_default("P@10", facts(apart=0.1), "finding")
    assert not shown_by_default("P@10", facts(apart=0.2), "comparing")


def test_ratios_inside_queries_need_the_number_of_similar_pairs() -> None:
    vague = facts(count_error=0.15)
    assert shown_by_default("P@10", vague, None)
    assert not shown_by_default("AP", vague, None) and not shown_by_default("nDCG@10", vague, "comparing")


def test_how_uncertain_an_estimate_is_does_not_decide_whether_it_is_shown() -> None:
    """Little error is foreseen where no surprise has happened yet: a choice by it would be biased."""
    assert shown_by_default("P@10", facts(foreseen_error=0.3), None)


def test_what_hangs_on_pairs_far_down_is_shown_only_where_labels_leave_little_open() -> None:
    for measure in ("Recall@10", "ROC_AUC", 'ROC_AUC(average="micro")'):
        assert not shown_by_default(measure, facts(), None)
        assert shown_by_default(measure, facts(foreseen_error=0.0), None)


def test_a_model_whose_candidates_no_generator_lists_is_apart() -> None:
    """The design follows `good` and `fair`; `other` has their order turned round."""
    catalog = Catalog(4)
    scores = catalog.ranked.scores
    block = rank_block(np.concatenate([scores, -scores[:1]]), catalog.ranked.admissible)
    drawn = catalog.draw(N_LABELS, 1)
    blocks = [(np.arange(len(block.admissible)), block)]
    found = estimate_catalog(lambda: blocks, [*ENCODERS, "other"], drawn, (5,), generators=[0, 1])
    assert found.apart[:2].tolist() == [0.0, 0.0]
    assert found.apart[2] < 0.9 < found.apart[3]
    assert found.facts(3, "AP").apart == found.facts(3, "P@5").apart == found.apart[3]
    assert not shown_by_default("P@5", found.facts(3, "P@5"), None)
    census = catalog.draw(N_QUERIES_OF_CATALOG * (N_ITEMS - 1), 1)
    everything = estimate_catalog(lambda: blocks, [*ENCODERS, "other"], census, (5,), generators=[0, 1])
    assert everything.apart.max() == 0.0 and everything.facts(3, "ROC_AUC").count_error == 0.0


def test_drawn_pairs_tell_how_far_a_model_is_apart_where_nobody_has_the_generators() -> None:
    catalog, found = Catalog(4), []
    best = catalog.ranked.rank[:2].min(axis=0)
    rows = np.arange(N_QUERIES_OF_CATALOG)
    for seed in range(20):
        drawn = catalog.draw(N_LABELS, seed)
        ranked = replace(drawn, best_rank=best[drawn.query, drawn.unit].astype(np.float64))
        exact = n_apart(catalog.ranked, ranked, rows, [0, 1], 5)
        found.append((n_apart(catalog.ranked, ranked, rows, None, 5) - exact) / (5 * N_QUERIES_OF_CATALOG))
    assert exact[2] > 0.2 * 5 * N_QUERIES_OF_CATALOG and exact[:2].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(np.mean(found, axis=0), 0.0, atol=0.04)
    assert n_apart(catalog.ranked, drawn, rows, None, 5).tolist() == [0.0, 0.0, 0.0]


def rows(shown: dict[tuple[str, str], bool]) -> pl.DataFrame:
    values = {("a", "AP"): 0.5, ("b", "AP"): 0.6, ("a", "P@5"): 0.9, ("b", "P@5"): 0.2}
    places = {("a", "AP"): 1, ("b", "AP"): 2, ("a", "P@5"): 2, ("b", "P@5"): 1}
    return pl.DataFrame(
        [(*key, value, shown.get(key, True), places[key]) for key, value in values.items()],
        schema=["encoder", "measure", "value", "shown", "place"],
        orient="row",
    )


def test_the_board_says_what_it_leaves_out_and_why_a_higher_value_stands_below() -> None:
    every = catalog_layout(rows({}))
    assert (every.measures, every.encoders) == (["AP", "P@5"], ["a", "b"])
    [order] = every.notes
    assert order.endswith("so a higher AP may stand below a lower one.")
    assert catalog_layout(rows({}).with_columns(place=3 - pl.col("place"))).notes == []
    hidden = catalog_layout(rows({("a", "AP"): False, ("b", "AP"): False}))
    assert (hidden.measures, hidden.encoders) == (["P@5"], ["a", "b"])  # in the order by AP
    assert len(hidden.notes) == 1 and hidden.notes[0].endswith("without bias: AP.")
    turned = catalog_layout(rows({("a", "AP"): False}).with_columns(place=3 - pl.col("place")))
    assert turned.encoders == ["b", "a"] and "most likely right, by AP:" in turned.notes[0]
    one = catalog_layout(rows({("b", "AP"): False}))
    assert one.measures == ["P@5", "AP"] and one.notes[-1].endswith("AP of b.")
    with pytest.raises(LikewiseError, match="run `likewise evaluate` again"):
        catalog_layout(rows({}).drop("place"))
