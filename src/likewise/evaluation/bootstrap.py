"""Bootstrap over queries, for numbers without a standard error, such as rank correlations of few models."""

import numpy as np

from likewise.evaluation.query_sums import Floats
from likewise.intervals import CONFIDENCE

RESAMPLES = 1000


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
