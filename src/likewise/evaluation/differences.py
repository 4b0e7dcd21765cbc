"""Which differences between models are significant: resamples and a randomisation test, corrected for multiplicity.

For measures that are sums over queries, the randomisation test swaps the two models' results of a query at random; p is
the share of swaps that give as large a difference (Smucker et al. 2007). Scores of two models cannot be swapped within
one micro list, so there p comes from the paired bootstrap. Holm's correction runs over all pairs of models of one
measure.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.evaluation.bootstrap import interval_from
from likewise.evaluation.discovery import EncoderEstimates, MeasureEstimate
from likewise.evaluation.query_sums import Floats, QuerySums

N_PERMUTATIONS = 5000
ALPHA = 0.05
DIFFERENCE_SCHEMA = pl.Schema(
    {
        "measure": pl.String,
        "encoder_a": pl.String,
        "encoder_b": pl.String,
        "difference": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "p": pl.Float64,
        "p_holm": pl.Float64,
        "significant": pl.Boolean,
        "test": pl.String,
    }
)


def difference_table(estimates: Sequence[EncoderEstimates], *, seed: int = 0) -> pl.DataFrame:
    """Every two encoders on every measure they share: a minus b, its interval, p before and after correction."""
    if len(estimates) < 2:
        return pl.DataFrame(schema=DIFFERENCE_SCHEMA)
    rows = []
    signs = swap_signs(estimates[0].n_queries, seed)
    for measure in estimates[0].by_measure:
        having = [one for one in estimates if measure in one.by_measure]
        compared = [
            (a.encoder, b.encoder, *compare(a.by_measure[measure], b.by_measure[measure], signs))
            for a, b in combinations(having, 2)
        ]
        corrected = holm_correction(np.array([line[5] for line in compared]))
        for (*numbers, test), p_holm in zip(compared, corrected, strict=True):
            rows.append((str(measure), *numbers, float(p_holm), bool(p_holm < ALPHA), test))
    table = pl.DataFrame(rows, schema=DIFFERENCE_SCHEMA, orient="row")
    return table.with_columns(pl.col(pl.Float64).fill_nan(None))


def compare(
    a: MeasureEstimate, b: MeasureEstimate, signs: NDArray[np.float32]
) -> tuple[float, float, float, float, str]:
    """The difference a - b of one measure, the ends of its paired interval, p, and the test p comes from."""
    difference, spread = a.value - b.value, a.resampled - b.resampled
    jackknife = None if a.jackknife is None or b.jackknife is None else a.jackknife - b.jackknife
    low, high = interval_from(difference, spread, jackknife)
    if isinstance(a.estimate, QuerySums) and isinstance(b.estimate, QuerySums):
        return difference, low, high, randomisation_p(a.estimate, b.estimate, signs), "randomisation"
    return difference, low, high, bootstrap_p(spread), "bootstrap"


def swap_signs(n_queries: int, seed: int, n_permutations: int = N_PERMUTATIONS) -> NDArray[np.float32]:
    """One row per swap: 1 where a query's two results stay, -1 where they change places."""
    coins = np.random.default_rng(seed).integers(0, 2, size=(n_permutations, n_queries), dtype=np.int8)
    return coins.astype(np.float32) * 2.0 - 1.0


def randomisation_p(a: QuerySums, b: QuerySums, signs: NDArray[np.float32]) -> float:
    """Two-sided p of the observed difference when the models' results are swapped query by query.

    Queries are swapped as parts of the two models' values, numerator / sum(denominator); which queries count depends on
    the labels alone, so both models have the same sum.
    """
    total_a, total_b = a.denominator.sum(), b.denominator.sum()
    difference = a.numerator / total_a - b.numerator / total_b if total_a and total_b else np.array([np.nan])
    observed = abs(float(difference.sum()))
    if np.isnan(observed):
        return float("nan")
    swapped = np.abs(signs @ difference.astype(np.float32))
    as_large = np.count_nonzero(swapped >= observed * (1.0 - 1e-5))
    return float((as_large + 1) / (len(signs) + 1))


def bootstrap_p(spread: Floats) -> float:
    """Two-sided p from resampled differences: twice the smaller share on either side of zero."""
    defined = spread[~np.isnan(spread)]
    if not len(defined):
        return float("nan")
    below = np.count_nonzero(defined <= 0), np.count_nonzero(defined >= 0)
    return float(min(1.0, 2 * (min(below) + 1) / (len(defined) + 1)))


def holm_correction(p: Floats) -> Floats:
    """Holm's step-down correction; NaN stays NaN and does not count as a look."""
    corrected = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return corrected
