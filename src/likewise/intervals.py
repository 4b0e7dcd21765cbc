"""95 % intervals over queries, from the values with one query left out (jackknife).

A value v over n queries has the standard error s, s^2 = (n - 1) / n * sum of (v without query i - v)^2. For a mean over
queries that is the usual one; it also holds for ratios of sums and for micro averages.

A value between 0 and 1 gets Wilson's score interval: all p with |v - p| <= t s(p), where s(p)^2 = s^2 p(1-p) / v(1-v)
and t is the quantile of Student's t with n - 1 degrees of freedom. A query of value 1/2 and a small weight is counted
with the others: it stands for the rare failures that a few queries near 0 or 1 do not show. Where every query is 0
or 1, the spread follows from the mean, and the interval is Wilson's own; where all are equal it is unknown, and the
interval is Clopper-Pearson's for v n successes of n. Differences get v +- t s, and p from the same t.

Of fewer than 30 queries near 0 or 1, t is not the same at both ends. The query of value 1/2 holds the end towards the
middle so far out that the truth is hardly ever beyond it; the other end has a part of that tail besides its own.
docs/inference.md has the simulations by which this was chosen, and how often it covers the truth.
"""

from math import hypot, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
MIN_QUERIES = 15  # an interval over fewer is printed with a sentence
TAIL = (1.0 - CONFIDENCE) / 2.0
NO_SPREAD = 1e-12
ROUNDING = 1e-6
MAX_WEIGHT = 0.4  # of the query of value 1/2


class Estimate(Protocol):
    """A number over queries that can be computed again without each of them."""

    @property
    def n_defined(self) -> int:
        """Queries it rests on."""

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1 by its nature."""

    def value(self) -> float:
        """Every query counted once; NaN where it is undefined."""

    def jackknife(self) -> Floats:
        """The value without each query in turn; the value itself where a query does not count anyway."""


def interval_of(estimate: Estimate) -> tuple[float, float]:
    """The interval of a measure of one model."""
    value, n = estimate.value(), estimate.n_defined
    error = standard_error(value, estimate.jackknife(), n)
    if not estimate.is_share:
        return t_interval(value, error, n)
    return query_interval(value, error, n)


def standard_error(value: float, jackknife: Floats, n: int) -> float:
    """Of a value over n queries; NaN where it does not exist without one of them."""
    if n < 2:
        return float("nan")
    return float(np.sqrt((n - 1) / n * np.sum((jackknife - value) ** 2)))


def share_interval(
    value: float, error: float, n: float, weight: float | None = None, tilt: float = 0.0
) -> tuple[float, float]:
    """Of a value from 0 to 1 with this standard error over n queries; `weight` is that of the query of value 1/2.

    At 0 or 1 the nearer end has 1 + `tilt` times the tail of the other one, in the middle both have the same.
    """
    if np.isnan(value):
        return float("nan"), float("nan")
    if not error > NO_SPREAD:  # no spread, or none known
        low, high = clopper_pearson(value * n, n)
    elif abs(value * (1.0 - value) / error**2 - (n - 1)) < ROUNDING * n:  # every query is 0 or 1
        low, high = wilson_interval(value, n)
    else:
        weight = pseudo_weight(n) if weight is None else weight
        squares = error**2 * n * (n - 1) + weight * n / (n + weight) * (value - 0.5) ** 2
        middle = (n * value + weight / 2.0) / (n + weight)
        n_effective = middle * (1.0 - middle) * (n - 1) * (n + weight) / squares
        farther, nearer = (
            t_quantile(n - 1),
            t_quantile(n - 1, 1.0 - 2.0 * TAIL * (1.0 + tilt * abs(2.0 * middle - 1.0))),
        )
        at_low, at_high = (farther, nearer) if middle > 0.5 else (nearer, farther)
        low = wilson_interval(middle, n_effective, at_low)[0]
        high = wilson_interval(middle, n_effective, at_high)[1]
    return min(low, value), max(high, value)


def pseudo_weight(n: float) -> float:
    """Where it is no value over queries, but over trainings or folds; it grows because a single failure moves a mean
    over many by less."""
    return min(max(n - 5.0, 3.0) / 60.0, MAX_WEIGHT)


def query_interval(value: float, error: float, n: float) -> tuple[float, float]:
    """Of a value from 0 to 1 over n queries; from 30 on that of any other value over as many."""
    return share_interval(value, error, n, min(n / 60.0, MAX_WEIGHT), 0.06 * min(max(30.0 - n, 0.0), 22.0))


def t_interval(value: float, error: float, n: float) -> tuple[float, float]:
    """Of a difference, or a value without bounds; without spread its ends are those that n queries cannot exclude."""
    if np.isnan(value):
        return float("nan"), float("nan")
    if not error > NO_SPREAD:
        margin = clopper_pearson(0.0, n)[1]
        return max(-1.0, value - margin), min(1.0, value + margin)
    margin = t_quantile(n - 1) * error
    return value - margin, value + margin


def difference_interval(before: tuple[float, float, float], after: tuple[float, float, float]) -> tuple[float, float]:
    """Of after - before: two independent values, each with its own interval (value, low, high).

    Each end takes the sides that lie towards it (Newcombe 1998, method 10; Zou & Donner 2008).
    """
    (old, old_low, old_high), (new, new_low, new_high) = before, after
    low = new - old - hypot(new - new_low, old_high - old)
    return low, new - old + hypot(new_high - new, old - old_low)


def t_test(value: float, error: float, n: int) -> float:
    """Two-sided p of a paired difference over n queries; without spread that of the sign test."""
    from scipy.special import stdtr

    if np.isnan(value):
        return float("nan")
    if not error > NO_SPREAD:
        return 1.0 if abs(value) <= NO_SPREAD else 2.0 ** (1 - n)
    return float(2.0 * stdtr(n - 1, -abs(value) / error))


def t_quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + confidence / 2.0))


def wilson_interval(share: float, n: float, quantile: float | None = None) -> tuple[float, float]:
    """Wilson's interval of a share of `n` (which need not be whole); by default with the normal quantile."""
    from scipy.special import ndtri

    squared = (float(ndtri(0.5 + CONFIDENCE / 2.0)) if quantile is None else quantile) ** 2 / n
    middle = (share + squared / 2.0) / (1.0 + squared)
    half = sqrt(squared * share * (1.0 - share) + squared**2 / 4.0) / (1.0 + squared)
    return max(0.0, middle - half), min(1.0, middle + half)


def clopper_pearson(n_hits: float, n_drawn: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Exact interval of a binomial share; hits need not be whole."""
    from scipy.special import betaincinv

    tail = (1.0 - confidence) / 2.0
    low = 0.0 if n_hits <= 0 else float(betaincinv(n_hits, n_drawn - n_hits + 1, tail))
    high = 1.0 if n_hits >= n_drawn else float(betaincinv(n_hits + 1, n_drawn - n_hits, 1.0 - tail))
    return low, high


def few_queries_note(n_queries: int | None, unit: str = "queries") -> str | None:
    """What to say beside an interval over few queries; None where there are enough."""
    if not n_queries or n_queries >= MIN_QUERIES:
        return None
    return f"fewer than {MIN_QUERIES} {unit} ({n_queries}) stand behind these intervals: take them as a rough guide"
