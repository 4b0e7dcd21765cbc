"""Which differences between models are significant: paired t-tests over queries, corrected for multiplicity.

Two models are measured on the same queries; the standard error of a - b is that of its values with one query left out,
so that it serves macro and micro averages alike. For a mean over queries this is the paired t-test. Holm's correction
runs over all compared pairs of models of one measure. A generator and a new model are compared only by measures that
treat both groups equally (`ranking.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from likewise.evaluation.discovery import EncoderEstimates
from likewise.evaluation.query_sums import Floats
from likewise.evaluation.ranking import treats_alike
from likewise.intervals import Estimate, standard_error, t_interval, t_test

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
        "n_queries": pl.Int64,
    }
)


@dataclass(frozen=True)
class PairedDifference:
    """a - b over the same queries, the ends of its interval, two-sided p, and how many queries it rests on."""

    value: float
    low: float
    high: float
    p: float
    n_queries: int


def difference_table(estimates: Sequence[EncoderEstimates], generators: Sequence[str] = ()) -> pl.DataFrame:
    """Every two encoders on every measure they share: a minus b, its interval, p before and after correction.

    Only within a group, `generators` or new models, where a measure does not treat both groups equally.
    """
    rows = []
    for measure in estimates[0].by_measure if len(estimates) > 1 else ():
        having = {one.encoder: one.by_measure[measure].over_items for one in estimates if measure in one.by_measure}
        compared = {
            (a, b): found
            for (a, b), found in paired_differences(having).items()
            if treats_alike(str(measure)) or (a in generators) == (b in generators)
        }
        corrected = holm_correction(np.array([found.p for found in compared.values()]))
        for (names, found), p_holm in zip(compared.items(), corrected, strict=True):
            tested = found.p, float(p_holm), bool(p_holm < ALPHA), found.n_queries
            rows.append((str(measure), *names, found.value, found.low, found.high, *tested))
    table = pl.DataFrame(rows, schema=DIFFERENCE_SCHEMA, orient="row")
    return table.with_columns(pl.col(pl.Float64).fill_nan(None))


def paired_differences(estimates: Mapping[str, Estimate]) -> dict[tuple[str, str], PairedDifference]:
    """Every two models of one measure."""
    parts = {name: (one.value(), one.jackknife(), one.n_defined) for name, one in estimates.items()}
    return {(a, b): _difference(*parts[a], *parts[b]) for a, b in combinations(parts, 2)}


def paired_difference(a: Estimate, b: Estimate) -> PairedDifference:
    """Two models on the same queries."""
    return _difference(a.value(), a.jackknife(), a.n_defined, b.value(), b.jackknife(), b.n_defined)


def _difference(a: float, without_a: Floats, n_a: int, b: float, without_b: Floats, n_b: int) -> PairedDifference:
    difference, n = a - b, max(n_a, n_b)
    error = standard_error(difference, without_a - without_b, n)
    return PairedDifference(difference, *t_interval(difference, error, n), t_test(difference, error, n), n)


def holm_correction(p: Floats) -> Floats:
    """Holm's step-down correction; NaN stays NaN and does not count as a look."""
    corrected = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return corrected
