"""How sure is the agreement? A bootstrap over queries: pairs of one query are not independent, queries are.

Alpha (`agreement.py`) is made of sums over pairs, so that a resample needs only the sums of each query.
"""

import numpy as np
import polars as pl

from likewise.labeling.consensus import count_answers
from likewise.labeling.votes import tidy_votes

RESAMPLES = 1000
CONFIDENCE = 0.95


def alpha_interval(votes: pl.DataFrame, n_resamples: int = RESAMPLES, seed: int = 0) -> tuple[float, float] | None:
    """The 95 % interval of Krippendorff's alpha; None with fewer than two queries that two experts answered."""
    counts = count_answers(tidy_votes(votes)).filter(pl.col("similar") + pl.col("not_similar") >= 2)
    s, d = pl.col("similar"), pl.col("not_similar")
    sums = (
        counts.group_by("query")
        .agg(s=s.sum(), d=d.sum(), clash=(s * d / (s + d - 1)).sum())
        .sort("query")
        .select("s", "d", "clash")
        .to_numpy()
        .astype(np.float64)
    )
    if len(sums) < 2:
        return None
    random = np.random.default_rng(seed)
    drawn = random.multinomial(len(sums), np.full(len(sums), 1.0 / len(sums)), size=n_resamples) @ sums
    similar, different, clash = drawn.T
    defined = (similar > 0) & (different > 0)
    if not defined.any():
        return None
    n_answers = similar[defined] + different[defined]
    alpha = 1.0 - (n_answers - 1.0) * clash[defined] / (similar[defined] * different[defined])
    tail = 100.0 * (1.0 - CONFIDENCE) / 2.0
    low, high = np.percentile(alpha, [tail, 100.0 - tail])
    return float(low), float(high)
