"""Micro averages: all labelled pairs in one list of scores, resampled by query (cluster bootstrap).

Drawing a query w times weighs each of its pairs w times, so a resample is a vector of weights: the pairs are
sorted once, and each resample costs a few cumulative sums.
"""

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints

BLOCK_NUMBERS = 4_000_000  # resamples x pairs held at once


def micro_auc(query: Ints, score: Floats, label: NDArray[np.integer], weights: Floats) -> tuple[Floats, Floats]:
    """ROC-AUC and average precision of all pairs in one list, for each row of query weights."""
    order = np.argsort(-score, kind="stable")
    query, score = query[order], score[order]
    positive = label[order].astype(np.float64)
    last_of_run = np.append(np.flatnonzero(score[1:] != score[:-1]), len(score) - 1)
    roc, precision = np.full(len(weights), np.nan), np.full(len(weights), np.nan)
    if not len(score):
        return roc, precision
    step = max(1, BLOCK_NUMBERS // len(score))
    for start in range(0, len(weights), step):
        part = slice(start, start + step)
        weight = weights[part][:, query]
        true = np.cumsum(weight * positive, axis=1)[:, last_of_run]
        false = np.cumsum(weight * (1.0 - positive), axis=1)[:, last_of_run]
        roc[part], precision[part] = _areas(true, false)
    return roc, precision


def _areas(true: Floats, false: Floats) -> tuple[Floats, Floats]:
    """Areas from cumulated weights of positives and negatives at each distinct score, from high to low."""
    true_step = np.diff(true, axis=1, prepend=0.0)
    false_step = np.diff(false, axis=1, prepend=0.0)
    n_true, n_false = true[:, -1], false[:, -1]
    with np.errstate(invalid="ignore", divide="ignore"):
        below = n_false[:, None] - false + false_step / 2.0
        roc = (true_step * below).sum(axis=1) / (n_true * n_false)
        listed = true + false
        gained = np.divide(true_step * true, listed, out=np.zeros_like(true), where=listed > 0)
        precision = gained.sum(axis=1) / n_true
    one_class = (n_true == 0) | (n_false == 0)
    roc[one_class] = precision[one_class] = np.nan
    return roc, precision
