"""ROC-AUC and average precision equal scikit-learn's, query by query, with ties; one-class queries are undefined."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from likewise.evaluation.auc import average_precision, roc_auc, sort_pairs
from likewise.evaluation.micro_auc import micro_auc, micro_jackknife


@st.composite
def judged_lists(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Pairs of a few queries with coarse scores (so that ties are common), some queries of one class, some empty."""
    n_queries = draw(st.integers(1, 6))
    n_pairs = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    levels = draw(st.sampled_from([1, 2, 4, 1000]))
    return (
        rng.integers(0, n_queries, n_pairs),
        rng.integers(0, levels, n_pairs) / levels,
        (rng.random(n_pairs) < draw(st.sampled_from([0.1, 0.5, 0.9]))).astype(np.int64),
        n_queries,
    )


@given(judged_lists())
@settings(max_examples=200)
def test_each_query_equals_scikit_learn(lists: tuple[np.ndarray, np.ndarray, np.ndarray, int]) -> None:
    query, score, label, n_queries = lists
    pairs = sort_pairs(query, score, label, n_queries)
    roc, precision = roc_auc(pairs), average_precision(pairs)
    for q in range(n_queries):
        here = query == q
        if len(np.unique(label[here])) < 2:
            assert np.isnan(roc[q])
            assert np.isnan(precision[q])
        else:
            assert abs(roc[q] - roc_auc_score(label[here], score[here])) < 1e-12
            assert abs(precision[q] - average_precision_score(label[here], score[here])) < 1e-12


@given(judged_lists())
@settings(max_examples=150)
def test_micro_equals_scikit_learn_with_and_without_each_query(
    lists: tuple[np.ndarray, np.ndarray, np.ndarray, int],
) -> None:
    query, score, label, n_queries = lists
    every = np.ones(len(query), dtype=bool)
    roc, precision = micro_jackknife(query, score, label, n_queries)
    cases = [(every, *micro_auc(score, label)), *((query != q, roc[q], precision[q]) for q in range(n_queries))]
    for kept, area, average in cases:
        if len(np.unique(label[kept])) < 2 or len(np.unique(label)) < 2:
            assert np.isnan(area)
        else:
            assert abs(area - roc_auc_score(label[kept], score[kept])) < 1e-12
            assert abs(average - average_precision_score(label[kept], score[kept])) < 1e-12


def test_identities(rng: np.random.Generator) -> None:
    query, score = np.repeat(np.arange(20), 15), rng.integers(0, 9, 300) / 9
    label = rng.integers(0, 2, 300)
    forward = roc_auc(sort_pairs(query, score, label, 20))
    backward = roc_auc(sort_pairs(query, -score, label, 20))
    np.testing.assert_allclose(backward, 1 - forward, atol=1e-12)
    constant = roc_auc(sort_pairs(query, np.zeros(300), label, 20))
    np.testing.assert_allclose(constant, 0.5, atol=1e-12)
    twice = roc_auc(sort_pairs(np.tile(query, 2), np.tile(score, 2), np.tile(label, 2), 20))
    np.testing.assert_allclose(twice, forward, atol=1e-12)
    shuffled = rng.permutation(300)
    again = roc_auc(sort_pairs(query[shuffled], score[shuffled], label[shuffled], 20))
    assert np.array_equal(again, forward)


def test_no_pairs_at_all() -> None:
    nothing = np.empty(0, dtype=np.int64)
    pairs = sort_pairs(nothing, nothing.astype(float), nothing, 2)
    assert np.isnan(roc_auc(pairs)).all()
    assert np.isnan(average_precision(pairs)).all()
    assert np.isnan(micro_auc(nothing.astype(float), nothing)).all()
    assert np.isnan(micro_jackknife(nothing, nothing.astype(float), nothing, 2)).all()
