"""From drawn labels to a value with an interval: what is expected of all pairs, plus a correction by the labels drawn.

    numerator of a query = F(known labels, predicted chances) + sum over drawn i of (1 / pi_i - 1) F'_i (y_i - p_i)

p_i being predicted by a model that has not seen y_i. The correction estimates what the predictions of the pairs that
were not drawn miss, whatever the model is worth; with p = 0 throughout the linear measures are Horvitz-Thompson sums of
y_i / pi_i. The variance is taken between queries, which are drawn independently, so it holds for queries and draws
together. A few heavy pairs carry much of it: where the labels show less variance from drawing than the predicted
chances would have it, because none of those pairs was drawn, it is raised by RAISED of the difference, the share with
which intervals cover the truth as often as they say (docs/sampling.md).
"""

from dataclasses import dataclass

import numpy as np

from likewise.evaluation.estimates.catalog_measures import ExpectedMeasure
from likewise.evaluation.estimates.chances import Expectation, Floats, Ints
from likewise.intervals import share_interval, t_interval

RAISED = 0.25


@dataclass(frozen=True)
class DrawnLabels:
    """Labels of drawn pairs with their inclusion probability and the chance predicted without them."""

    query: Ints
    label: Floats
    probability: Floats
    unseen: Floats
    n_queries: int

    def corrected(self, expected: Expectation) -> Floats:
        """Per query, the expectation with its correction."""
        missed = (1.0 / self.probability - 1.0) * (self.label - self.unseen)
        return np.asarray(expected.value + np.bincount(self.query, missed * expected.derivative, self.n_queries))


@dataclass(frozen=True)
class CatalogEstimate:
    """A value over the whole catalog: how each query moves it (`influence`), and each drawn label (`slope`)."""

    value: float
    influence: Floats
    slope: Floats
    drawn: DrawnLabels

    @property
    def standard_error(self) -> float:
        """Over queries and draws together."""
        n = len(self.influence)
        between = float((self.influence**2).sum() / (n * (n - 1))) if n > 1 else float("nan")
        seen, predicted = self._drawing_variances()
        return float(np.sqrt(between + RAISED * max(0.0, predicted - seen)))

    @property
    def drawing_error(self) -> float:
        """Over draws alone: for these very queries."""
        seen, predicted = self._drawing_variances()
        return float(np.sqrt(seen + RAISED * max(0.0, predicted - seen)))

    def interval(self, *, these_queries: bool = False) -> tuple[float, float]:
        """At 95 %: for queries like these, or for these very queries."""
        error = self.drawing_error if these_queries else self.standard_error
        return t_interval(self.value, error, len(self.influence))

    def share_interval(self) -> tuple[float, float]:
        """At 95 %, of a value between 0 and 1 for queries like these."""
        return share_interval(min(max(self.value, 0.0), 1.0), self.standard_error, len(self.influence))

    def minus(self, other: "CatalogEstimate") -> "CatalogEstimate":
        """The difference of two measures on the same queries and draws."""
        return CatalogEstimate(
            self.value - other.value, self.influence - other.influence, self.slope - other.slope, self.drawn
        )

    def _drawing_variances(self) -> tuple[float, float]:
        """The variance from drawing alone: as the labels show it, and as predicted chances have it."""
        drawn = self.drawn
        weight = (1.0 - drawn.probability) / drawn.probability**2 * self.slope**2
        seen = float((weight * (drawn.label - drawn.unseen) ** 2).sum())
        return seen, float((weight * drawn.unseen * (1.0 - drawn.unseen)).sum())


def estimate_measure(drawn: DrawnLabels, expected: ExpectedMeasure) -> CatalogEstimate:
    """Correct numerator and denominator, and say how sure that is."""
    numerator, denominator = drawn.corrected(expected.numerator), drawn.corrected(expected.denominator)
    value = float(numerator.sum() / denominator.sum())
    return CatalogEstimate(
        value,
        (numerator - value * denominator) / denominator.mean(),
        (expected.numerator.derivative - value * expected.denominator.derivative) / denominator.sum(),
        drawn,
    )
