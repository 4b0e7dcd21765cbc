"""What a measure is expected to be when only the chance of every label is known, and how each label would move it.

A measure of one query is a function of its labels y, each 0 or 1. With every label replaced by an independent coin of
chance p, its expectation F(p) is a polynomial that is linear in each single p_i; at p = y it is the measure itself. So

    F(y) = F(p) + sum over i of dF/dp_i (y_i - p_i) + terms with two or more different labels,

and where the errors y - p have mean 0 and are unrelated the rest is 0 on average, however curved the measure: unlike
a ratio of two estimated sums, which is biased inside a single query.

With R the number of positives, every measure here is a sum of gain x y_i x g(R). Write g(1 + s) as a weighted sum of
powers t^s (its nodes t and coefficients). Then with a_i(t) = p_i / (1 - p_i + p_i t) and the generating function
G(t) = product of (1 - p_i + p_i t) = E t^R

    E[sum_i gain_i y_i g(R)] = sum_t c_t G(t) sum_i gain_i a_i(t).

Pairs with hardly a chance (below LIGHT) enter by their sums: to the second order of p they are alike at every node.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Nodes = NDArray[np.float64] | NDArray[np.complex128]

LIGHT = 1e-3
QUADRATURE = 16
DECAY = 40.0  # e^-40 is nothing: beyond that the integrand of 1/R is left out
CIRCLE = 32  # nodes on a circle of RADIUS: RADIUS^CIRCLE is what they confuse counts CIRCLE apart by
RADIUS = 0.6


@dataclass(frozen=True)
class PowerSum:
    """g(1 + s) = constant + sum of coefficient x node^s: nodes and coefficients of shape (queries or 1, nodes)."""

    nodes: Nodes
    coefficients: Nodes
    constant: float = 0.0


def reciprocal_power_sum(expected_positives: Floats) -> PowerSum:
    """g(R) = 1/R, from 1/(1 + s) = integral of t^s over 0..1, by Gauss-Legendre where the integrand lives."""
    place, weight = np.polynomial.legendre.leggauss(QUADRATURE)
    width = np.minimum(1.0, DECAY / np.maximum(expected_positives, 1e-9))[:, None]
    return PowerSum(1.0 - width * (place + 1.0) / 2.0, width * weight / 2.0)


def levelling_off(values: Floats) -> PowerSum:
    """g(R) = values[R - 1], and the last of them for every larger R; exact to about 1e-7 (a transform on a circle)."""
    steps = values - values[-1]
    angle = np.arange(CIRCLE // 2 + 1) * 2.0 * np.pi / CIRCLE
    nodes = RADIUS * np.exp(1j * angle)
    both = np.where((angle == 0.0) | (angle == np.pi), 1.0, 2.0)  # a node and its conjugate: real parts count twice
    coefficients = both / CIRCLE * (steps[None, :] * nodes[:, None] ** -np.arange(len(values))[None, :]).sum(axis=1)
    return PowerSum(nodes[None, :], coefficients[None, :], float(values[-1]))


@dataclass(frozen=True)
class PairChances:
    """The chance of every pair of a block of queries to be similar; 0 or 1 where labelled, 0 where not admissible.

    `heavy` are the units of each query that are treated one by one (padded with a unit of chance 0, `is_heavy` false);
    drawn pairs, of which the derivative is wanted, are always among them: `drawn_place` is where.
    """

    chance: Floats
    light: Floats  # chances of the light pairs, 0 elsewhere
    heavy: Ints
    is_heavy: Bools
    heavy_chance: Floats
    drawn_row: Ints
    drawn_unit: Ints
    drawn_place: Ints

    @property
    def expected_positives(self) -> Floats:
        return np.asarray(self.chance.sum(axis=1))


def pair_chances(chance: Floats, drawn_row: Ints, drawn_unit: Ints) -> PairChances:
    """Sort the pairs of a block into heavy and light; `drawn` are rows and units sorted by row and unit."""
    one_by_one = chance >= LIGHT
    one_by_one[drawn_row, drawn_unit] = True
    counts = one_by_one.sum(axis=1)
    width = max(1, int(counts.max(initial=0)))
    heavy = np.zeros((len(chance), width), dtype=np.int64)
    is_heavy = np.arange(width)[None, :] < counts[:, None]
    row, unit = np.nonzero(one_by_one)
    heavy[is_heavy] = unit
    place = np.zeros(chance.shape, dtype=np.int64)
    place[row, unit] = np.nonzero(is_heavy)[1]
    return PairChances(
        chance,
        np.where(one_by_one, 0.0, chance),
        heavy,
        is_heavy,
        np.where(is_heavy, np.take_along_axis(chance, heavy, 1), 0.0),
        drawn_row,
        drawn_unit,
        place[drawn_row, drawn_unit],
    )


@dataclass(frozen=True)
class Expectation:
    """F(p) for every query of a block, and its derivative by the chance of each drawn pair."""

    value: Floats
    derivative: Floats


def mean_expectation(shifted: Sequence[Expectation]) -> Expectation:
    """Of chances that are not known for certain: the mean over those they may be."""
    values, derivatives = ([one.value for one in shifted], [one.derivative for one in shifted])
    return Expectation(np.mean(values, axis=0), np.mean(derivatives, axis=0))


@dataclass(frozen=True)
class GeneratingFunction:
    """G(t) and a_i(t) of heavy pairs at the nodes of g."""

    chances: PairChances
    powers: PowerSum
    whole: Nodes  # G(t), (queries, nodes)
    factor: Nodes  # 1 - p_i + p_i t of heavy pairs, (queries, heavy, nodes)
    share: Nodes  # a_i(t) of heavy pairs

    @staticmethod
    def of(chances: PairChances, powers: PowerSum) -> "GeneratingFunction":
        missing = 1.0 - powers.nodes
        factor = 1.0 - chances.heavy_chance[:, :, None] * missing[:, None, :]
        light, squares = chances.light.sum(axis=1)[:, None], (chances.light**2).sum(axis=1)[:, None]
        whole = np.prod(factor, axis=1) * np.exp(-missing * light - missing**2 * squares / 2.0)
        return GeneratingFunction(chances, powers, whole, factor, chances.heavy_chance[:, :, None] / factor)

    def expect(self, gain: Floats) -> Expectation:
        """E[sum_i gain_i y_i g(R)], gains of shape (queries, units)."""
        some, missing = self.chances, 1.0 - self.powers.nodes
        heavy_gain = np.take_along_axis(gain, some.heavy, 1)
        light_gain = gain * some.light
        summed = np.einsum("qh,qht->qt", heavy_gain, self.share) + light_gain.sum(axis=1)[:, None]
        summed = summed + missing * (light_gain * some.light).sum(axis=1)[:, None]
        rows, places = some.drawn_row, some.drawn_place
        own_gain = gain[rows, some.drawn_unit]
        own = own_gain[:, None] - _of_rows(missing, rows) * (
            summed[rows] - own_gain[:, None] * self.share[rows, places]
        )
        constant = self.powers.constant
        return Expectation(
            self._integrate(summed) + constant * (gain * some.chance).sum(axis=1),
            self._integrate_drawn(own) + constant * own_gain,
        )

    def expect_precision(self, order: Ints, rank: Ints) -> Expectation:
        """Average precision: E[sum_i y_i / rank_i (1 + positives above i) / R]; `order` lists units best first."""
        some, nodes = self.chances, self.powers.nodes
        missing, position = 1.0 - nodes, np.take_along_axis(rank, some.heavy, 1)
        light = np.take_along_axis(some.light, order, 1)
        place = np.arange(1.0, order.shape[1] + 1.0)
        light_above = np.cumsum(light, axis=1) - light
        light_share = light / place
        light_below = light_share.sum(axis=1, keepdims=True) - np.cumsum(light_share, axis=1)
        by_rank = np.argsort(np.where(some.is_heavy, position, order.shape[1]), axis=1, kind="stable")
        share = np.take_along_axis(self.share, by_rank[:, :, None], 1)
        position = np.take_along_axis(position, by_rank, 1)
        first = 1.0 / (position[:, :, None] + 1.0)
        above = np.cumsum(share, axis=1) - share + np.take_along_axis(light_above, position, 1)[:, :, None]
        weighed = share * first
        below = weighed.sum(axis=1, keepdims=True) - np.cumsum(weighed, axis=1)
        light_below = np.take_along_axis(light_below, position, 1)[:, :, None]
        times = nodes[:, None, :]
        own = first * (1.0 + times * above)
        summed = (share * (own + times * light_below)).sum(axis=1) + light_share.sum(axis=1)[:, None]
        summed = summed + nodes * (light_share * light_above).sum(axis=1)[:, None]
        moved = own + times * (below + light_below)
        sorted_place = np.argsort(by_rank, axis=1)[some.drawn_row, some.drawn_place]
        rows, move = some.drawn_row, moved[some.drawn_row, sorted_place]
        change = move - _of_rows(missing, rows) * (summed[rows] - self.share[rows, some.drawn_place] * move)
        return Expectation(self._integrate(summed), self._integrate_drawn(change))

    def _integrate(self, values: Nodes) -> Floats:
        return np.asarray((self.powers.coefficients * self.whole * values).sum(axis=1).real)

    def _integrate_drawn(self, values: Nodes) -> Floats:
        rows = self.chances.drawn_row
        weight = _of_rows(self.powers.coefficients, rows) * self.whole[rows]
        return np.asarray((weight * values / self.factor[rows, self.chances.drawn_place]).sum(axis=1).real)


def any_positive(chances: PairChances) -> Expectation:
    """P(R > 0)."""
    misses = 1.0 - chances.heavy_chance
    certain = misses <= 0.0
    rest = np.where(certain, 1.0, misses).prod(axis=1)
    rest *= np.exp(np.log1p(-chances.light).sum(axis=1))
    n_certain = certain.sum(axis=1)
    rows, places = chances.drawn_row, chances.drawn_place
    own_certain = certain[rows, places]
    without_own = rest[rows] / np.where(own_certain, 1.0, misses[rows, places])
    none = np.where(n_certain > 0, 0.0, rest)
    return Expectation(1.0 - none, np.where(n_certain[rows] - own_certain > 0, 0.0, without_own))


def _of_rows(values: Nodes, rows: Ints) -> Nodes:
    """The nodes of each drawn pair's query; nodes that all queries share stay one row."""
    return values if len(values) == 1 else values[rows]
