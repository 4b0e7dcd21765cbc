"""A coefficient of agreement with its interval over queries, computed from sums over pairs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.intervals import standard_error, t_interval

Floats = NDArray[np.float64]

NO_SHARED_PAIR = "no pair has answers of two experts"
ONE_ANSWER = "every answer is the same, so agreement by chance is certain"


@dataclass(frozen=True)
class AgreementCoefficient:
    """A number, its 95 % interval over queries and how many pairs it rests on, or None and why there is none."""

    value: float | None
    n_pairs: int
    reason: str | None = None
    low: float | None = None
    high: float | None = None


def coefficient_of(queries: NDArray[np.object_], sums: Floats, formula: Callable[..., Floats]) -> AgreementCoefficient:
    """A formula of sums over pairs (pairs x terms), with its interval over queries: a query's pairs are dependent."""
    names, query = np.unique(queries, return_inverse=True)
    by_query = np.column_stack([np.bincount(query, column) for column in sums.T])
    total = by_query.sum(axis=0)
    value = float(formula(*total))
    with np.errstate(invalid="ignore", divide="ignore"):
        error = standard_error(value, formula(*(total - by_query).T), len(names))
    if not np.isfinite(error):
        return AgreementCoefficient(value, len(sums))
    low, high = t_interval(value, error, len(names))
    return AgreementCoefficient(value, len(sums), None, max(-1.0, low), min(1.0, high))
