"""ROC-AUC and average precision (PR-AUC), one value per query, for thousands of queries in one sort.

ROC-AUC is the probability that a positive scores above a negative, a tie counting one half. Average precision is
the sum over distinct scores, from high to low, of (recall gained) x (precision there); tied candidates are
one step. Both equal scikit-learn's on a single query. A query with a single class is undefined: NaN, never 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class SortedPairs:
    """Labelled pairs sorted by (query, score), cut into runs of equal query and score."""

    order: Ints
    query: Ints
    positive: Floats
    run_start: Ints
    run_of_pair: Ints
    query_start: Ints  # of each query, where its pairs begin
    n_queries: int


def sort_pairs(query: Ints, score: Floats, label: NDArray[np.integer], n_queries: int) -> SortedPairs:
    """Sort once; both measures (and their resamples) reuse it."""
    order = np.lexsort((score, query))
    sorted_query, sorted_score = query[order], score[order]
    new_run = np.ones(len(order), dtype=np.bool_)
    new_run[1:] = (sorted_query[1:] != sorted_query[:-1]) | (sorted_score[1:] != sorted_score[:-1])
    run_start = np.flatnonzero(new_run)
    query_start = np.searchsorted(sorted_query, np.arange(n_queries))
    positive = label[order].astype(np.float64)
    return SortedPairs(order, sorted_query, positive, run_start, np.cumsum(new_run) - 1, query_start, n_queries)


def mean_ranks(pairs: SortedPairs) -> Floats:
    """Of each pair, as sorted: how many pairs of its query score lower, equal ones counting one half."""
    run_end = np.append(pairs.run_start[1:], len(pairs.query))
    mean_position = (pairs.run_start + run_end - 1) / 2.0
    return np.asarray(mean_position[pairs.run_of_pair] - pairs.query_start[pairs.query])


def roc_auc(pairs: SortedPairs) -> Floats:
    """ROC-AUC of each query from mean ranks (Mann-Whitney); NaN where one class is missing."""
    rank = mean_ranks(pairs)
    n_positive, n_negative = _counts(pairs)
    rank_sum = np.bincount(pairs.query, rank * pairs.positive, pairs.n_queries)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (rank_sum - n_positive * (n_positive - 1) / 2.0) / (n_positive * n_negative)


def average_precision(pairs: SortedPairs) -> Floats:
    """Average precision of each query; NaN where one class is missing (then it says nothing about the model)."""
    n_positive, n_negative = _counts(pairs)
    size = n_positive + n_negative
    run_query = pairs.query[pairs.run_start]
    run_positives = np.bincount(pairs.run_of_pair, pairs.positive, len(pairs.run_start))
    cumulated = np.cumsum(run_positives)
    before_query = (np.cumsum(n_positive) - n_positive)[run_query]
    above_or_here = n_positive[run_query] - (cumulated - run_positives - before_query)
    listed = size[run_query] - (pairs.run_start - pairs.query_start[run_query])
    total = np.bincount(run_query, run_positives * above_or_here / listed, pairs.n_queries)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = total / n_positive
    value[(n_positive == 0) | (n_negative == 0)] = np.nan
    return value


def _counts(pairs: SortedPairs) -> tuple[Floats, Floats]:
    n_positive: Floats = np.bincount(pairs.query, pairs.positive, pairs.n_queries).astype(np.float64)
    size: Floats = np.bincount(pairs.query, minlength=pairs.n_queries).astype(np.float64)
    return n_positive, size - n_positive
