"""Most measures are one sum over queries divided by another; kept per query, they can be computed without each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ROUNDING = 1e-9


@dataclass(frozen=True)
class QuerySums:
    """value = sum of `numerator` / sum of `denominator`, over queries; the latter is 0 where it is undefined."""

    numerator: Floats
    denominator: Floats

    @staticmethod
    def mean_of(values: Floats) -> "QuerySums":
        """The mean over the queries where `values` is defined (not NaN)."""
        defined = ~np.isnan(values)
        return QuerySums(np.where(defined, values, 0.0), defined.astype(np.float64))

    @property
    def n_defined(self) -> int:
        return int((self.denominator > 0).sum())

    @property
    def is_share(self) -> bool:
        """Whether every query has a value between 0 and 1."""
        return bool(np.all((self.numerator >= 0) & (self.numerator <= self.denominator * (1.0 + ROUNDING))))

    def value(self) -> float:
        return float(self.resampled(np.ones((1, len(self.denominator))))[0])

    def resampled(self, weights: Floats) -> Floats:
        """The value under each row of query weights; NaN where no query is left."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((weights @ self.numerator) / (weights @ self.denominator))

    def grouped(self, groups: NDArray[np.int64]) -> "QuerySums":
        """The queries of each group (numbered from 0) as one: the same value, over groups."""
        numerator, denominator = (
            np.bincount(groups, of).astype(np.float64) for of in (self.numerator, self.denominator)
        )
        return QuerySums(numerator, denominator)

    def jackknife(self) -> Floats:
        """The value with one query left out, for every query in turn; NaN where none would be left."""
        denominator = self.denominator.sum() - self.denominator
        value: Floats = np.full(len(denominator), np.nan)
        np.divide(self.numerator.sum() - self.numerator, denominator, out=value, where=denominator > 0)
        return value


def mean_of_ratio(numerator: NDArray[np.generic], denominator: NDArray[np.generic]) -> QuerySums:
    """The mean over queries of one ratio per query, which is undefined where the denominator is 0."""
    possible = denominator.astype(np.float64)
    value: Floats = np.full(len(possible), np.nan)
    np.divide(numerator.astype(np.float64), possible, out=value, where=possible > 0)
    return QuerySums.mean_of(value)
