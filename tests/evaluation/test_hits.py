"""HR@k, MRR@k and judged@k against hand counts, brute force and trec_eval."""

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.evaluation.hits import UNJUDGED, hit_rate, judged, look_up_labels, reciprocal_rank


def test_hand_computed() -> None:
    """Two queries with positives, one without: positives at ranks 1 and 3 of the first, none in the second's top 3."""
    listed = np.array([[1, 0, 1, -1], [-1, 0, -1, 1], [0, 0, -1, -1]])
    has_positive = np.array([True, True, False])
    assert hit_rate(listed, 3, has_positive).value() == pytest.approx(2 / (3 * 2))
    assert reciprocal_rank(listed, 3, has_positive).value() == pytest.approx((1 + 1 / 3) / (2 * (1 + 1 / 2 + 1 / 3)))
    assert judged(listed, np.zeros((3, 4), dtype=np.int64), 3).value() == pytest.approx((3 + 1 + 2) / 9)
    assert hit_rate(listed, 3, has_positive).n_defined == 2


def test_perfect_lists_score_one() -> None:
    listed = np.ones((5, 9), dtype=np.int64)
    everyone = np.ones(5, dtype=np.bool_)
    assert hit_rate(listed, 9, everyone).value() == 1.0
    assert reciprocal_rank(listed, 9, everyone).value() == pytest.approx(1.0)


def test_undefined_without_any_positive() -> None:
    nobody = np.zeros(2, dtype=np.bool_)
    assert np.isnan(hit_rate(np.zeros((2, 5), dtype=np.int64), 5, nobody).value())


@given(st.integers(0, 10_000), st.integers(1, 9))
@settings(max_examples=100, deadline=None)
def test_hit_rate_is_trec_evals_mean_precision_over_queries_with_a_positive(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    n_queries, n_gallery = 6, 25
    lists = np.array([rng.permutation(n_gallery)[:9] for _ in range(n_queries)])
    cells = rng.choice(n_queries * n_gallery, size=40, replace=False)
    query, candidate, label = cells // n_gallery, cells % n_gallery, rng.integers(0, 2, 40)
    listed = look_up_labels(lists, query, candidate, label, n_gallery)
    has_positive = np.bincount(query[label == 1], minlength=n_queries) > 0
    if not has_positive.any():
        return
    qrels: dict[str, dict[str, int]] = {}
    for q, c, value in zip(query, candidate, label, strict=True):
        qrels.setdefault(str(q), {})[str(c)] = int(value)
    run = {str(q): {str(c): float(9 - place) for place, c in enumerate(row)} for q, row in enumerate(lists)}
    measured = pytrec_eval.RelevanceEvaluator(qrels, {f"P.{k}"}).evaluate(run)
    expected = np.mean([measured[str(q)][f"P_{k}"] for q in range(n_queries) if has_positive[q]])
    assert hit_rate(listed, k, has_positive).value() == pytest.approx(expected)
    gains = sum(
        1 / (place + 1)
        for q in range(n_queries)
        for place, c in enumerate(lists[q][:k])
        if qrels.get(str(q), {}).get(str(c)) == 1
    )
    harmonic = sum(1 / place for place in range(1, k + 1))
    expected_mrr = gains / (has_positive.sum() * harmonic)
    assert reciprocal_rank(listed, k, has_positive).value() == pytest.approx(expected_mrr)


def test_look_up_knows_short_lists_and_no_labels() -> None:
    lists = np.array([[2, -1], [0, 1]])
    nothing = np.empty(0, dtype=np.int64)
    assert (look_up_labels(lists, nothing, nothing, nothing, 3) == UNJUDGED).all()
    found = look_up_labels(lists, np.array([0, 1]), np.array([2, 0]), np.array([0, 1]), 3)
    assert found.tolist() == [[0, UNJUDGED], [1, UNJUDGED]]
