"""Pass, fail or undecided: a non-inferiority test of the new model's mean difference, overall and by category.

With D the mean over queries of new minus old and a margin M that the user is ready to lose, the gate

    fails      where D < -M is shown: overall at 2.5 %, or in a category at 2.5 % over all categories (Holm)
    passes     where D > -M is shown overall at 5 %, and no category fails
    is undecided otherwise: the labels, or the queries, do not tell.

A model that is no worse than the margin fails in at most 5 % of gates, and one that is worse passes in at most 5 %.
What candidates nobody labelled could turn is turned against each claim (`Evidence`), so that it is never shown by a
guess. A category is named where it falls while the average rises.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.differences import holm_correction
from likewise.evaluation.gate.bounded_mean import (
    Floats,
    lower_confidence_bound,
    p_at_least,
    p_at_most,
    upper_confidence_bound,
)

Verdict = Literal["pass", "fail", "undecided"]
EXIT_CODES: dict[Verdict, int] = {"pass": 0, "fail": 1, "undecided": 3}

ALPHA_PASS = 0.05
ALPHA_FAIL = 0.025  # overall, and once more for all categories together


class Evidence(Protocol):
    """What is known of the mean difference new - old over some queries."""

    @property
    def n_queries(self) -> int: ...

    @property
    def difference(self) -> float:
        """The estimate; unlabelled candidates count as misses, where they are not estimated."""

    def p_worse(self, margin: float) -> float:
        """p of "it is at least -margin": small where the new model is shown to be worse than that."""

    def p_not_worse(self, margin: float) -> float:
        """p of "it is at most -margin": small where the new model is shown to be no worse than that."""

    def interval(self) -> tuple[float, float]:
        """What the difference may be: bounds at the levels of pass (below) and fail (above)."""


@dataclass(frozen=True)
class BoundedDifferences:
    """One value per query; `lowest` and `highest` are those under the labels that speak most against and for the new.

    NaN where a query has no positive. `items` numbers the item of each query where several show one: they are one
    observation, the mean of theirs.
    """

    labelled: Floats
    lowest: Floats
    highest: Floats
    items: NDArray[np.int64] | None = None

    @property
    def n_queries(self) -> int:
        return int((~np.isnan(self.labelled)).sum())

    @property
    def difference(self) -> float:
        return float(np.nanmean(self.labelled)) if self.n_queries else float("nan")

    def p_worse(self, margin: float) -> float:
        return p_at_least(self._observed(self.highest), -margin)

    def p_not_worse(self, margin: float) -> float:
        return p_at_most(self._observed(self.lowest), -margin)

    def interval(self) -> tuple[float, float]:
        lowest, highest = self._observed(self.lowest), self._observed(self.highest)
        return lower_confidence_bound(lowest, ALPHA_PASS), upper_confidence_bound(highest, ALPHA_FAIL)

    def of(self, chosen: NDArray[np.bool_]) -> "BoundedDifferences":
        """The queries where `chosen` is true."""
        items = None if self.items is None else self.items[chosen]
        return BoundedDifferences(self.labelled[chosen], self.lowest[chosen], self.highest[chosen], items)

    def _observed(self, values: Floats) -> Floats:
        if self.items is None:
            return without_nan(values)
        known = ~np.isnan(values)
        n = np.bincount(self.items[known])
        return np.asarray(np.bincount(self.items[known], values[known])[n > 0] / n[n > 0], dtype=np.float64)


@dataclass(frozen=True)
class EstimatedDifference:
    """A difference over the whole catalog, from labels drawn with known probabilities, and its standard error.

    `values` has one per query, with this mean and standard error: what a rare loss looks like.
    """

    difference: float
    standard_error: float
    values: Floats

    @staticmethod
    def of(difference: float, standard_error: float, influence: Floats) -> "EstimatedDifference":
        """From how each query moves the difference; their spread is brought to that of queries and draws together."""
        n, spread = len(influence), influence - influence.mean()
        own = float(spread.std(ddof=1)) / np.sqrt(n) if n > 1 else 0.0
        scale = standard_error / own if own > 0.0 else 0.0
        return EstimatedDifference(difference, standard_error, difference + scale * spread)

    @property
    def n_queries(self) -> int:
        return len(self.values)

    def p_worse(self, margin: float) -> float:
        return p_at_least(self.values, -margin) if self._known else 0.5

    def p_not_worse(self, margin: float) -> float:
        return p_at_most(self.values, -margin) if self._known else 0.5

    def interval(self) -> tuple[float, float]:
        if not self._known:
            return -1.0, 1.0
        return lower_confidence_bound(self.values, ALPHA_PASS), upper_confidence_bound(self.values, ALPHA_FAIL)

    @property
    def _known(self) -> bool:
        return self.n_queries > 1 and self.standard_error > 0.0


@dataclass(frozen=True)
class EqualLists:
    """Two models that list the same for every image: there is nothing to test."""

    n_queries: int
    difference: float = 0.0

    def p_worse(self, margin: float) -> float:
        return 1.0

    def p_not_worse(self, margin: float) -> float:
        return 0.0

    def interval(self) -> tuple[float, float]:
        return 0.0, 0.0


@dataclass(frozen=True)
class GroupVerdict:
    """The decision about one category, or about all queries."""

    name: str
    verdict: Verdict
    evidence: Evidence
    p_worse: float
    p_not_worse: float
    falls: bool = False  # it is shown to be below zero while the average rises


@dataclass(frozen=True)
class GateDecision:
    """`verdict` is the gate's; `overall` is about the average alone."""

    verdict: Verdict
    overall: GroupVerdict
    categories: tuple[GroupVerdict, ...]

    @property
    def failing(self) -> list[str]:
        return [one.name for one in self.categories if one.verdict == "fail"]

    @property
    def falling(self) -> list[str]:
        return [one.name for one in self.categories if one.falls]


def decide_gate(overall: Evidence, categories: Mapping[str, Evidence], margin: float) -> GateDecision:
    """The verdict for all queries and for each category, whose p are corrected by Holm."""
    average = _judge("", overall, overall.p_worse(margin), overall.p_not_worse(margin))
    each = list(categories.values())
    worse = holm_correction(np.array([one.p_worse(margin) for one in each]))
    not_worse = holm_correction(np.array([one.p_not_worse(margin) for one in each]))
    below_zero = holm_correction(np.array([one.p_worse(0.0) for one in each]))
    rises = overall.difference > 0.0
    judged = tuple(
        _judge(name, one, float(worse[at]), float(not_worse[at]), falls=bool(rises and below_zero[at] <= ALPHA_FAIL))
        for at, (name, one) in enumerate(categories.items())
    )
    fails = any(one.verdict == "fail" for one in (average, *judged))
    return GateDecision("fail" if fails else average.verdict, average, judged)


def without_nan(values: Floats) -> Floats:
    """Those that are not NaN."""
    return values[~np.isnan(values)]


def _judge(name: str, one: Evidence, p_worse: float, p_not_worse: float, *, falls: bool = False) -> GroupVerdict:
    verdict: Verdict = "fail" if p_worse <= ALPHA_FAIL else "pass" if p_not_worse <= ALPHA_PASS else "undecided"
    return GroupVerdict(name, verdict, one, p_worse, p_not_worse, falls)
