"""Measures over the whole catalog as expectations: per query a numerator, a denominator, and both's derivatives.

P@k is over all queries; Recall@k, nDCG@k, AP and ROC_AUC over queries with a similar item, whose share is estimated as
well. In ROC_AUC the reciprocal of the number of negatives, n - R, is expanded around the expected R to first order;
that part of the area is small where positives are rare, and the error is of the order of (error of R / n)^2 R / n.
"""

from dataclasses import dataclass

import numpy as np

from likewise.evaluation.estimates.blocks import RankedBlock
from likewise.evaluation.estimates.chances import (
    Expectation,
    Floats,
    GeneratingFunction,
    PairChances,
    any_positive,
    levelling_off,
    reciprocal_power_sum,
)

PRIOR_RATIO = 0.5
CERTAIN = 1.0 - 1e-9
MACRO_AUC_RATIO = 1.0  # a pair far down the list of a query with few similar items moves it most


@dataclass(frozen=True)
class ExpectedMeasure:
    """A measure is a sum of numerators over queries divided by one of denominators.

    Where the latter counts queries with a similar item, it is at least the number of those where one was found, and at
    most that of all queries, whatever a heavy label says. `prior_ratio` is how large the variance from drawing is, over
    the one that predicted chances foresee, before labels say more: see `linearised.py`.
    """

    numerator: Expectation
    denominator: Expectation
    counts_queries: bool = False
    prior_ratio: float = PRIOR_RATIO

    @property
    def uncorrected(self) -> float:
        """The value that the chances alone give."""
        return float(self.numerator.value.sum()) / self.total(self.denominator.value)

    def total(self, denominator: Floats) -> float:
        """Of the denominators of all queries."""
        total = float(denominator.sum())
        if not self.counts_queries:
            return total
        n_certain = int((self.denominator.value >= CERTAIN).sum())
        return min(max(total, float(n_certain)), float(len(denominator)))


def expected_measures(
    block: RankedBlock, chances: PairChances, ks: tuple[int, ...]
) -> tuple[Expectation, list[dict[str, ExpectedMeasure]]]:
    """The number of positives, and for each encoder every measure by its name."""
    every_query = Expectation(np.ones(len(chances.chance)), np.zeros(len(chances.drawn_row)))
    similar = any_positive(chances)
    mean = GeneratingFunction.of(chances, reciprocal_power_sum(chances.expected_positives))
    gains = {k: 1.0 / np.log2(np.arange(2.0, k + 2.0)) for k in ks}
    levels = {k: GeneratingFunction.of(chances, levelling_off(1.0 / np.cumsum(gains[k]))) for k in ks}
    found = []
    for order, rank, below in zip(block.order, block.rank, block.below, strict=True):
        by_name = {}
        for k in ks:
            top = (rank < k).astype(np.float64)
            discounted = np.where(rank < k, gains[k][np.minimum(rank, k - 1)], 0.0)
            by_name[f"P@{k}"] = ExpectedMeasure(expected_linear_gain(chances, top / k), every_query)
            by_name[f"Recall@{k}"] = ExpectedMeasure(mean.expect(top), similar, counts_queries=True)
            by_name[f"nDCG@{k}"] = ExpectedMeasure(levels[k].expect(discounted), similar, counts_queries=True)
        precision = mean.expect_precision(order.astype(np.int64), rank.astype(np.int64))
        by_name["AP"] = ExpectedMeasure(precision, similar, counts_queries=True)
        by_name["ROC_AUC"] = ExpectedMeasure(
            _area(mean, similar, below.astype(np.float64), block.n_admissible),
            similar,
            counts_queries=True,
            prior_ratio=MACRO_AUC_RATIO,
        )
        found.append(by_name)
    return expected_linear_gain(chances, np.ones_like(chances.chance)), found


def expected_linear_gain(chances: PairChances, gain: Floats) -> Expectation:
    """E[sum_i gain_i y_i]."""
    return Expectation((gain * chances.chance).sum(axis=1), gain[chances.drawn_row, chances.drawn_unit])


def _area(mean: GeneratingFunction, similar: Expectation, below: Floats, n_admissible: Floats) -> Expectation:
    """With N ordered pairs of a positive above a negative, N / (R (n - R)) = (N / R + N / (n - R)) / n."""
    chances = mean.chances
    rows = chances.drawn_row
    one = chances.chance.sum(axis=1)
    two, three = (chances.chance**2).sum(axis=1), (chances.chance**3).sum(axis=1)
    own, own_below = chances.chance[rows, chances.drawn_unit], below[rows, chances.drawn_unit]
    average, total = mean.expect(below), expected_linear_gain(chances, below)
    over_positives = average.value - (one - similar.value) / 2.0
    over_positives_slope = average.derivative - (1.0 - similar.derivative) / 2.0
    # moments of N = sum of `below` over positives - R (R - 1) / 2, for N / (n - R) around the expected R
    twice = one**2 - two  # E[R (R - 1)]
    ordered = total.value - twice / 2.0
    ordered_slope = own_below - (one[rows] - own)
    summed = total.value + total.value * one - (below * chances.chance**2).sum(axis=1)
    summed_slope = own_below * (1.0 + one[rows] - 2.0 * own) + total.value[rows]
    thrice = one**3 - 3.0 * one * two + 2.0 * three  # E[R (R - 1) (R - 2)]
    thrice_slope = 3.0 * ((one[rows] - own) ** 2 - (two[rows] - own**2))
    with_count = summed - (thrice + 2.0 * twice) / 2.0  # E[N R]
    with_count_slope = summed_slope - (thrice_slope + 4.0 * (one[rows] - own)) / 2.0
    negatives = n_admissible - one
    kept = 1.0 - one / negatives
    over_negatives = (ordered * kept + with_count / negatives) / negatives
    over_negatives_slope = (ordered_slope * kept[rows] + with_count_slope / negatives[rows]) / negatives[rows]
    return Expectation(
        (over_positives + over_negatives) / n_admissible,
        (over_positives_slope + over_negatives_slope) / n_admissible[rows],
    )
