"""Most metrics are one sum over queries divided by another; kept per query, they can be resampled at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class QuerySums:
    """value = sum of `over` / sum of `under`, over queries; `under` is 0 where the metric is undefined."""

    over: Floats
    under: Floats

    @staticmethod
    def mean_of(values: Floats) -> "QuerySums":
        """The mean over the queries where `values` is defined (not NaN)."""
        defined = ~np.isnan(values)
        return QuerySums(np.where(defined, values, 0.0), defined.astype(np.float64))

    @property
    def n_defined(self) -> int:
        return int((self.under > 0).sum())

    def value(self) -> float:
        return float(self.resampled(np.ones((1, len(self.under))))[0])

    def resampled(self, weights: Floats) -> Floats:
        """The value under each row of query weights; NaN where no query is left."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((weights @ self.over) / (weights @ self.under))

    def without_each(self) -> Floats:
        """The value with one query left out, for every query in turn; NaN where none would be left."""
        under = self.under.sum() - self.under
        value: Floats = np.full(len(under), np.nan)
        np.divide(self.over.sum() - self.over, under, out=value, where=under > 0)
        return value
