"""Micro averages: all labelled pairs in one list of scores, resampled by query (cluster bootstrap).

Drawing a query w times weighs each of its pairs w times, so a resample is a vector of weights: pairs of equal score
form a class, a sparse table counts each query's pairs per class, and all resamples are one product with it.
"""

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints

BLOCK_ENTRIES = 4_000_000  # classes x resamples held at once
MAX_INTERVAL_BINS = 8192


def micro_auc(
    query: Ints, score: Floats, label: NDArray[np.integer], weights: Floats, *, max_bins: int | None = None
) -> tuple[Floats, Floats]:
    """ROC-AUC and average precision of all pairs in one list, for each row of query weights.

    With `max_bins` neighbouring scores are joined into so many classes of equal size, as if they were tied. That
    moves a ROC-AUC by less than 1 / most_classes and is many times faster: right for the ends of intervals.
    """
    from scipy.sparse import csr_array

    roc, precision = np.full(len(weights), np.nan), np.full(len(weights), np.nan)
    if not len(score):
        return roc, precision
    score_bin, n_bins = _score_bins(score, max_bins)
    dtype = np.float64 if max_bins is None else np.float32  # whole numbers below 2^24: exact in both
    shape = (n_bins, weights.shape[1])
    is_positive = label == 1
    ones = np.ones(len(score), dtype=dtype)
    positives = csr_array((ones[is_positive], (score_bin[is_positive], query[is_positive])), shape=shape)
    pairs = csr_array((ones, (score_bin, query)), shape=shape)
    step = max(1, BLOCK_ENTRIES // n_bins)
    for start in range(0, len(weights), step):
        part = slice(start, start + step)
        drawn = np.ascontiguousarray(weights[part].T, dtype=dtype)
        roc[part], precision[part] = _areas(positives @ drawn, pairs @ drawn)
    return roc, precision


def unweighted_micro_auc(score: Floats, label: NDArray[np.integer]) -> tuple[float, float]:
    """ROC-AUC and average precision of all pairs in one list, every query counted once."""
    if not len(score):
        return float("nan"), float("nan")
    score_bin, n_bins = _score_bins(score, None)
    gained, listed = np.bincount(score_bin[label == 1], minlength=n_bins), np.bincount(score_bin, minlength=n_bins)
    roc, precision = _areas(gained[:, None].astype(np.float64), listed[:, None].astype(np.float64))
    return float(roc[0]), float(precision[0])


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


def _areas(gained: NDArray[np.floating], listed: NDArray[np.floating]) -> tuple[Floats, Floats]:
    """Areas from the weights of positives and of all pairs in each class (rows, from high to low scores).

    With t_i positives in class i, ROC-AUC is 1 - sum t_i (F_i - f_i / 2) / (T F), where F_i negatives stand in the
    classes up to i and f_i in class i itself.
    """
    true, every = np.cumsum(gained, axis=0), np.cumsum(listed, axis=0)
    n_true, n_false = true[-1].astype(np.float64), (every[-1] - true[-1]).astype(np.float64)
    precise = np.divide(gained * true, every, out=np.zeros_like(true), where=every > 0)
    above = every - true - (listed - gained) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = precise.sum(axis=0, dtype=np.float64) / n_true
        roc = 1.0 - np.multiply(gained, above, out=above).sum(axis=0, dtype=np.float64) / (n_true * n_false)
    one_class = (n_true == 0) | (n_false == 0)
    roc[one_class] = precision[one_class] = np.nan
    return roc, precision
