"""Paired bootstrap over queries: every model is measured on the same resamples, so differences can be compared."""

from typing import Literal

import numpy as np

from likewise.evaluation.query_sums import Floats, QuerySums

RESAMPLES = 1000
CONFIDENCE = 0.95
Interval = Literal["percentile", "bca"]


def query_weights(n_queries: int, n_resamples: int, seed: int) -> Floats:
    """How often each query is drawn, one row per resample; each row sums to n_queries."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, max(1, n_queries), size=(n_resamples, n_queries))
    offsets = np.arange(n_resamples)[:, None] * n_queries
    counts = np.bincount((drawn + offsets).ravel(), minlength=n_resamples * n_queries)
    return counts.reshape(n_resamples, n_queries).astype(np.float64)


def percentile_interval(resampled: Floats, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The middle share of the resampled values; NaN when none is defined."""
    defined = resampled[~np.isnan(resampled)]
    if not len(defined):
        return float("nan"), float("nan")
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(defined, [tail, 1.0 - tail])
    return float(low), float(high)


def bca_interval(
    value: float, resampled: Floats, jackknife: Floats, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Bias-corrected and accelerated (Efron 1987); `jackknife` are the values with one query left out.

    Falls back to the percentile interval where it is undefined (all resamples on one side, no spread).
    """
    from scipy.special import ndtr, ndtri

    defined = resampled[~np.isnan(resampled)]
    left = jackknife[~np.isnan(jackknife)]
    below = (np.count_nonzero(defined < value) + np.count_nonzero(defined == value) / 2) / max(1, len(defined))
    spread = left.mean() - left if len(left) else np.zeros(1)
    cubed, squared = float((spread**3).sum()), float((spread**2).sum())
    if not 0.0 < below < 1.0 or squared == 0.0:
        return percentile_interval(resampled, confidence)
    bias, acceleration = ndtri(below), cubed / (6.0 * squared**1.5)
    tail = (1.0 - confidence) / 2.0
    ends = bias + ndtri([tail, 1.0 - tail])
    low, high = np.quantile(defined, ndtr(bias + ends / (1.0 - acceleration * ends)))
    return float(low), float(high)


def interval_from(value: float, resampled: Floats, jackknife: Floats | None) -> tuple[float, float]:
    """BCa where the values with one query left out are given, otherwise percentile."""
    if jackknife is None or np.isnan(value):
        return percentile_interval(resampled)
    return bca_interval(value, resampled, jackknife)


def interval_of(sums: QuerySums, weights: Floats, kind: Interval) -> tuple[float, float]:
    """The wanted interval of a measure that is one sum over queries divided by another."""
    return interval_from(sums.value(), sums.resampled(weights), sums.jackknife() if kind == "bca" else None)
