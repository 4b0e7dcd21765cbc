"""From drawn labels to a value with an interval: what is expected of all pairs, plus a correction by the labels drawn.

    numerator of a query = F(known labels, predicted chances) + sum over drawn i of (w_i - 1) F'_i (y_i - p_i)

w_i being 1 / pi_i in a design of one round (`draw.py`), and p_i predicted by a model that has not seen y_i. The
correction estimates what the predictions of the pairs that were not drawn miss, whatever the model is worth; with p = 0
throughout the linear measures are Horvitz-Thompson sums of w_i y_i. What a machine judge adds is in `judge.py`.

The variance is taken between queries, which are drawn independently, so it holds for queries and draws together. Its
part from drawing, the sum of s_i (y_i - p_i)^2 over labels with s_i = spread x slope^2, may hang on a few heavy labels:
where one of them is a surprise, the value is far off and the variance large; where none is, it is too small. The
predicted chances know of surprises that did not happen, sum of s_i p_i (1 - p_i), but overstate them, by about two
where they hang on pairs far down the lists. So both are weighed as in credibility theory
(Buhlmann 1967): what labels show by the number of surprises it rests on, predicted^2 / variance of what is seen, and
PRIOR_EVENTS surprises of the size foreseen, `prior_ratio` x predicted. Where that is more than what labels show, the
difference is added. The constants were chosen on a catalog of its own (docs/sampling.md).

How far chances overstate surprises differs between designs, and labels of all kinds tell it together, each by the pairs
it stands for: L = sum of w_i (y_i - p_i)^2 / sum of w_i p_i (1 - p_i), known from dozens of surprises. A variance goes
by squares of w, and heavier pairs are the more overstated: about L^2 (`heavy_ratio`). The number of similar pairs, in
which every pair counts alike, has that in the place of a constant.
"""

from dataclasses import dataclass
from math import exp, log

import numpy as np

from likewise.evaluation.estimates.catalog_measures import PRIOR_RATIO, ExpectedMeasure
from likewise.evaluation.estimates.chances import Expectation, Floats, Ints
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.intervals import share_interval, t_interval

PRIOR_EVENTS = 2.0  # surprises that the predicted chances are worth
LEAST_RATIO = 0.25  # few surprises so far are no promise of none
MOST_LOG = 100.0  # an interval this wide says nothing
PSEUDO_WEIGHT = 0.05  # small: failures that no query shows are foreseen by the chances, and stand in the error already


@dataclass(frozen=True)
class Corrections:
    """Pairs whose answers correct an expectation: their queries, by how much their derivative counts (`missed`), and
    the variance from drawing that each has per squared slope, as answers show it and as predicted chances have it;
    `seen_noise` is the variance of the former, per fourth power of the slope. `heavy_ratio` is the variance of a sum
    over all pairs by the predicted one, before its own surprises say more."""

    query: Ints
    missed: Floats
    seen_variance: Floats
    predicted_variance: Floats
    seen_noise: Floats
    n_queries: int
    heavy_ratio: float = PRIOR_RATIO

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
        drawn.spread**2 * unseen * (1.0 - unseen) * (1.0 - 2.0 * unseen) ** 2,
        drawn.n_queries,
        _heavy_ratio(drawn, unseen),
    )


def _heavy_ratio(drawn: LabelledDraw, unseen: Floats) -> float:
    """How far heavy labels are from the chances predicted without them, over what coins of those chances would be."""
    seen, foreseen = (float(drawn.weight @ side) for side in ((drawn.label - unseen) ** 2, unseen * (1.0 - unseen)))
    return min(max((seen / foreseen) ** 2, LEAST_RATIO), 1.0) if foreseen > 0.0 else 1.0


def no_corrections(n_queries: int) -> Corrections:
    """Where nothing is corrected."""
    none = np.empty(0)
    return Corrections(np.empty(0, dtype=np.int64), none, none, none, none, n_queries)


@dataclass(frozen=True)
class CatalogEstimate:
    """A value over the whole catalog: how each query moves it (`influence`), and each answer (`slope`).

    `predicted` is the value before the labels correct it.
    """

    value: float
    influence: Floats
    slope: Floats
    corrections: Corrections
    predicted: float
    prior_ratio: float

    @property
    def standard_error(self) -> float:
        """Over queries and draws together."""
        n = len(self.influence)
        between = float((self.influence**2).sum() / (n * (n - 1))) if n > 1 else float("nan")
        seen, drawing, _ = self._drawing_variances()
        return float(np.sqrt(between + drawing - seen))

    @property
    def drawing_error(self) -> float:
        """Over draws alone: for these very queries."""
        return float(np.sqrt(self._drawing_variances()[1]))

    @property
    def foreseen_error(self) -> float:
        """Over draws alone, as the predicted chances foresee it, whatever the labels happen to say."""
        return float(np.sqrt(self._drawing_variances()[2]))

    def interval(self, *, these_queries: bool = False) -> tuple[float, float]:
        """At 95 %: for queries like these, or for these very queries."""
        error = self.drawing_error if these_queries else self.standard_error
        return t_interval(self.value, error, len(self.influence))

    def share_interval(self) -> tuple[float, float]:
        """At 95 %, of a value between 0 and 1 for queries like these."""
        value = min(max(self.value, 0.0), 1.0)
        return share_interval(value, self.standard_error, len(self.influence), PSEUDO_WEIGHT)

    def count_interval(self) -> tuple[float, float]:
        """At 95 %, of a number for these very queries: about its logarithm, as heavy labels make it too large."""
        if self.value <= 0.0:
            return self.interval(these_queries=True)
        low, high = t_interval(log(self.value), self.drawing_error / self.value, len(self.influence))
        return exp(max(low, -MOST_LOG)), exp(min(high, MOST_LOG))

    def minus(self, other: "CatalogEstimate") -> "CatalogEstimate":
        """The difference of two measures on the same queries and draws."""
        return CatalogEstimate(
            self.value - other.value,
            self.influence - other.influence,
            self.slope - other.slope,
            self.corrections,
            self.predicted - other.predicted,
            max(self.prior_ratio, other.prior_ratio),
        )

    def _drawing_variances(self) -> tuple[float, float, float]:
        """The variance from drawing alone: as the labels show it, as it is taken, and as predicted chances have it."""
        squared, terms = self.slope**2, self.corrections
        seen, predicted = (float(squared @ side) for side in (terms.seen_variance, terms.predicted_variance))
        noise = float(squared**2 @ terms.seen_noise)
        if noise <= 0.0:
            return seen, max(seen, predicted), predicted
        events = predicted**2 / noise
        foreseen = (PRIOR_EVENTS * self.prior_ratio * predicted + events * seen) / (PRIOR_EVENTS + events)
        return seen, max(seen, foreseen), predicted


def estimate_measure(corrections: Corrections, expected: ExpectedMeasure) -> CatalogEstimate:
    """Correct numerator and denominator, and say how sure that is."""
    numerator, denominator = corrections.corrected(expected.numerator), corrections.corrected(expected.denominator)
    total = expected.total(denominator)
    value = float(numerator.sum()) / total
    return CatalogEstimate(
        value,
        (numerator - value * denominator) * (len(denominator) / total),
        (expected.numerator.derivative - value * expected.denominator.derivative) / total,
        corrections,
        expected.uncorrected,
        expected.prior_ratio,
    )


def estimate_count(corrections: Corrections, expected: Expectation) -> CatalogEstimate:
    """The number of similar pairs per query."""
    every_query = Expectation(np.ones(corrections.n_queries), np.zeros(len(corrections.query)))
    return estimate_measure(corrections, ExpectedMeasure(expected, every_query, prior_ratio=corrections.heavy_ratio))
