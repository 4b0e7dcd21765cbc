"""Measures against hand counts, trec_eval (pytrec_eval), ir_measures, and class-based retrieval."""

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import LikewiseError
from likewise.evaluation.discovery import EncoderScores, ranked_results
from likewise.evaluation.measures import (
    AP,
    MRR,
    ROC_AUC,
    VSD_MRR,
    Judged,
    MAP_at_R,
    Measure,
    P,
    R_Precision,
    Recall,
    Recall_cap,
    Success,
    bpref,
    nDCG,
)
from likewise.evaluation.measures.ranked import PADDING, UNJUDGED, RankedResults, look_up_labels
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.retrieval import retrieval
from likewise.neighbours import as_unit

from ..judging import model, random_pairs


def value(measure: Measure, listed: list[list[int]], n_positive: list[int]) -> float:
    return measure.estimate(RankedResults(np.array(listed), np.array(n_positive))).value()


def test_by_hand() -> None:
    """Two queries with positives, one without: positives at ranks 1 and 3 of the first, none in the second's top 3."""
    listed, n_positive = [[1, 0, 1, -1], [-1, 0, -1, 1], [0, 0, -1, -1]], [2, 1, 0]
    assert value(P @ 3, listed, n_positive) == pytest.approx(2 / (3 * 2))
    assert value(VSD_MRR @ 3, listed, n_positive) == pytest.approx((1 + 1 / 3) / (2 * (1 + 1 / 2 + 1 / 3)))
    assert value(MRR @ 3, listed, n_positive) == pytest.approx(1 / 2)
    assert value(MRR @ 4, listed, n_positive) == pytest.approx((1 + 1 / 4) / 2)
    assert value(Recall @ 3, listed, n_positive) == pytest.approx(1 / 2)
    assert value(Recall_cap @ 1, listed, n_positive) == pytest.approx(1 / 2)
    assert value(Success @ 3, listed, n_positive) == pytest.approx(1 / 2)
    assert value(Judged @ 3, listed, n_positive) == pytest.approx((3 + 1 + 2) / 9)
    assert (P @ 3).estimate(RankedResults(np.array(listed), np.array(n_positive))).n_defined == 2


def test_perfect_lists_score_one() -> None:
    for measure in (P, VSD_MRR, MRR, Recall, Recall_cap, Success, nDCG, Judged):
        assert value(measure @ 9, [[1] * 9] * 5, [9] * 5) == pytest.approx(1.0), measure


def test_undefined_without_any_positive() -> None:
    for measure in (P, VSD_MRR, MRR, Recall, Recall_cap, Success, nDCG):
        assert np.isnan(value(measure @ 5, [[0] * 5] * 2, [0, 0])), measure


def test_short_lists_are_padded_and_a_missing_candidate_is_not_unjudged() -> None:
    lists = np.array([[2, -1], [0, 1]])
    nothing = np.empty(0, dtype=np.int64)
    assert look_up_labels(lists, nothing, nothing, nothing, 3).tolist() == [[UNJUDGED, PADDING], [UNJUDGED, UNJUDGED]]
    found = look_up_labels(lists, np.array([0, 1]), np.array([2, 0]), np.array([0, 1]), 3)
    assert found.tolist() == [[0, PADDING], [1, UNJUDGED]]
    assert value(Judged @ 2, found.tolist(), [0, 1]) == pytest.approx(2 / 3)


def test_a_measure_of_lists_needs_a_cutoff_and_one_of_pairs_needs_pairs() -> None:
    with pytest.raises(LikewiseError, match="nDCG needs a cutoff here, as in nDCG@5"):
        value(nDCG, [[1]], [1])
    with pytest.raises(LikewiseError, match="needs annotated negatives, and there are none"):
        value(ROC_AUC, [[1]], [1])
    with pytest.raises(LikewiseError, match="bpref needs judged pairs"):
        value(bpref, [[1]], [1])


@given(st.integers(0, 10_000), st.integers(1, 9))
@settings(max_examples=60)
def test_lists_equal_trec_eval_and_ir_measures_over_queries_with_a_positive(seed: int, k: int) -> None:
    pairs = random_pairs(np.random.default_rng(seed), n_queries=6, n_gallery=25, per_query=8)
    one = model("m", pairs, np.random.default_rng(seed + 1), 0.5)
    results = ranked_results(one, pairs)
    having = [pairs.queries[row] for row in np.flatnonzero(pairs.has_positive)]
    if not having:
        return
    qrels: dict[str, dict[str, int]] = {}
    for query, candidate, label in zip(pairs.query, pairs.candidate, pairs.label, strict=True):
        qrels.setdefault(pairs.queries[query], {})[pairs.gallery[candidate]] = int(label)
    run = {
        pairs.queries[query]: {pairs.gallery[c]: float(9 - place) for place, c in enumerate(row)}
        for query, row in enumerate(one.lists)
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {f"P.{k}", f"ndcg_cut.{k}", f"recall.{k}", f"success.{k}"}).evaluate(
        run
    )
    for measure, name in ((P, "P"), (nDCG, "ndcg_cut"), (Recall, "recall"), (Success, "success")):
        expected = np.mean([theirs[query][f"{name}_{k}"] for query in having])
        assert (measure @ k).estimate(results).value() == pytest.approx(expected), measure
    reciprocal = ir_measures.parse_measure(f"RR@{k}")
    by_query = {one.query_id: one.value for one in ir_measures.iter_calc([reciprocal], qrels, run)}
    assert (MRR @ k).estimate(results).value() == pytest.approx(np.mean([by_query[query] for query in having]))


def test_r_precision_and_map_at_r_equal_those_of_classes(rng: np.random.Generator) -> None:
    """Where classes judge every pair, both are the measures of class-based retrieval."""
    vectors, classes = as_unit(rng.standard_normal((40, 6))), rng.integers(0, 5, 40)
    query, candidate = np.nonzero(~np.eye(40, dtype=np.bool_))
    label = (classes[query] == classes[candidate]).astype(np.int8)
    names, own = [f"{row:02}" for row in range(40)], np.arange(40)
    pairs = JudgedPairs(names, names, own, own, query, candidate, label)
    scores = (vectors @ vectors.T)[query, candidate].astype(np.float64)
    results = ranked_results(EncoderScores("m", scores, np.full((40, 1), -1)), pairs)
    expected = retrieval(vectors, classes)
    for measure in (R_Precision, MAP_at_R):
        assert measure.estimate(results).value() == pytest.approx(expected.value(measure))
    assert AP.estimate(results).n_defined == 40
