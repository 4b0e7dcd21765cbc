"""From drawn labels to a value with an interval: what is expected of all pairs, plus a correction by the labels drawn.

    numerator of a query = F(known labels, predicted chances) + sum over drawn i of (w_i - 1) F'_i (y_i - p_i)

w_i being 1 / pi_i in a design of one round (`draw.py`), and p_i predicted by a model that has not seen y_i. The
correction estimates what the predictions of the pairs that were not drawn miss, whatever the model is worth; with p = 0
throughout the linear measures are Horvitz-Thompson sums of w_i y_i. What a machine judge adds is in `judge.py`. The
variance is taken between queries, which are drawn independently, so it holds for queries and draws together. A few
heavy pairs carry much of it: where the labels show less variance from drawing than the predicted chances would have it,
because none of those pairs was drawn, the predicted one is taken.
"""

from dataclasses import dataclass

import numpy as np

from likewise.evaluation.estimates.catalog_measures import ExpectedMeasure
from likewise.evaluation.estimates.chances import Expectation, Floats, Ints
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.intervals import share_interval, t_interval

CERTAIN = 1.0 - 1e-9


@dataclass(frozen=True)
class Corrections:
    """Pairs whose answers correct an expectation: their queries, by how much their derivative counts (`missed`), and
    the variance from drawing that each has per squared slope, as answers show it and as predicted chances have it."""

    query: Ints
    missed: Floats
    seen_variance: Floats
    predicted_variance: Floats
    n_queries: int

    def corrected(self, expected: Expectation) -> Floats:
        """Per query, the expectation with its correction."""
        return np.asarray(expected.value + np.bincount(self.query, self.missed * expected.derivative, self.n_queries))


def label_corrections(drawn: LabelledDraw, unseen: Floats) -> Corrections:
    """Of labels, with the chances predicted without them."""
    return Corrections(
        drawn.query,
        (drawn.weight - 1.0) * (drawn.label - unseen),
        drawn.spread * (drawn.label - unseen) ** 2,
        drawn.spread * unseen * (1.0 - unseen),
        drawn.n_queries,
    )


@dataclass(frozen=True)
class CatalogEstimate:
    """A value over the whole catalog: how each query moves it (`influence`), and each answer (`slope`)."""

    value: float
    influence: Floats
    slope: Floats
    corrections: Corrections

    @property
    def standard_error(self) -> float:
        """Over queries and draws together."""
        n = len(self.influence)
        between = float((self.influence**2).sum() / (n * (n - 1))) if n > 1 else float("nan")
        seen, predicted = self._drawing_variances()
        return float(np.sqrt(between + max(0.0, predicted - seen)))

    @property
    def drawing_error(self) -> float:
        """Over draws alone: for these very queries."""
        seen, predicted = self._drawing_variances()
        return float(np.sqrt(max(seen, predicted)))

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
            self.value - other.value, self.influence - other.influence, self.slope - other.slope, self.corrections
        )

    def _drawing_variances(self) -> tuple[float, float]:
        """The variance from drawing alone: as the labels show it, and as predicted chances have it."""
        squared = self.slope**2
        seen, predicted = self.corrections.seen_variance, self.corrections.predicted_variance
        return float((squared * seen).sum()), float((squared * predicted).sum())


def estimate_measure(corrections: Corrections, expected: ExpectedMeasure) -> CatalogEstimate:
    """Correct numerator and denominator, and say how sure that is."""
    numerator, denominator = corrections.corrected(expected.numerator), corrections.corrected(expected.denominator)
    total = float(denominator.sum())
    if expected.counts_queries:
        n_certain = int((expected.denominator.value >= CERTAIN).sum())
        total = min(max(total, float(n_certain)), float(len(denominator)))
    value = float(numerator.sum()) / total
    return CatalogEstimate(
        value,
        (numerator - value * denominator) * (len(denominator) / total),
        (expected.numerator.derivative - value * expected.denominator.derivative) / total,
        corrections,
    )
