"""Micro averages: all labelled pairs in one list of scores, and the same with one query left out.

Pairs of equal score form a class, and a sparse table counts each query's pairs per class, so that a query is left out
by subtracting its column from the sums.
"""

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints

BLOCK_ENTRIES = 2_000_000  # classes x queries held at once
MAX_JACKKNIFE_BINS = 2048


def micro_auc(score: Floats, label: NDArray[np.integer]) -> tuple[float, float]:
    """ROC-AUC and average precision of all pairs in one list."""
    if not len(score):
        return float("nan"), float("nan")
    score_bin, n_bins = _score_bins(score, None)
    gained, listed = np.bincount(score_bin[label == 1], minlength=n_bins), np.bincount(score_bin, minlength=n_bins)
    roc, precision = _areas(gained[:, None].astype(np.float64), listed[:, None].astype(np.float64))
    return float(roc[0]), float(precision[0])


def micro_jackknife(
    query: Ints, score: Floats, label: NDArray[np.integer], n_queries: int, max_bins: int | None = MAX_JACKKNIFE_BINS
) -> tuple[Floats, Floats]:
    """ROC-AUC and average precision without each query in turn; NaN where only one class of pairs would be left.

    With `max_bins` neighbouring scores are joined into so many classes of equal size, as if they were tied. Standard
    errors hardly feel it, and it is many times faster; how far a query moves the area is added to the exact one.
    """
    from scipy.sparse import csc_array

    roc, precision = np.full(n_queries, np.nan), np.full(n_queries, np.nan)
    if not len(score):
        return roc, precision
    score_bin, n_bins = _score_bins(score, max_bins)
    is_positive = label == 1
    shape = (n_bins, n_queries)
    ones = np.ones(len(score))
    positives = csc_array((ones[is_positive], (score_bin[is_positive], query[is_positive])), shape=shape)
    pairs = csc_array((ones, (score_bin, query)), shape=shape)
    gained, listed = (np.asarray(table.sum(axis=1)).reshape(-1, 1) for table in (positives, pairs))
    step = max(1, BLOCK_ENTRIES // n_bins)
    for start in range(0, n_queries, step):
        part = slice(start, start + step)
        roc[part], precision[part] = _areas(gained - positives[:, part].toarray(), listed - pairs[:, part].toarray())
    exact, joined = micro_auc(score, label), _areas(gained, listed)
    return roc + (exact[0] - joined[0][0]), precision + (exact[1] - joined[1][0])


def _score_bins(score: Floats, max_bins: int | None) -> tuple[Ints, int]:
    """For each pair the number of its class of equal scores, from high to low, and how many classes there are."""
    order = np.argsort(-score, kind="stable")
    new = np.ones(len(score), dtype=np.bool_)
    new[1:] = score[order][1:] != score[order][:-1]
    run = np.cumsum(new) - 1
    if max_bins is not None and run[-1] + 1 > max_bins:
        by_place = np.flatnonzero(new) * max_bins // len(score)  # of each run, by where it begins
        run = by_place[run]
    score_bin = np.empty(len(score), dtype=np.int64)
    score_bin[order] = run
    return score_bin, int(run[-1]) + 1


def _areas(gained: Floats, listed: Floats) -> tuple[Floats, Floats]:
    """Areas from the weights of positives and of all pairs in each class (rows, from high to low scores).

    With t_i positives in class i, ROC-AUC is 1 - sum t_i (F_i - f_i / 2) / (T F), where F_i negatives stand in the
    classes up to i and f_i in class i itself.
    """
    true, every = np.cumsum(gained, axis=0), np.cumsum(listed, axis=0)
    n_true, n_false = true[-1], every[-1] - true[-1]
    precise = np.divide(gained * true, every, out=np.zeros_like(true), where=every > 0)
    above = every - true - (listed - gained) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = precise.sum(axis=0) / n_true
        roc = 1.0 - np.multiply(gained, above, out=above).sum(axis=0) / (n_true * n_false)
    one_class = (n_true == 0) | (n_false == 0)
    roc[one_class] = precision[one_class] = np.nan
    return roc, precision
