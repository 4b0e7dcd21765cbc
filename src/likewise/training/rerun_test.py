"""Whether two methods differ, when both the reruns (seeds) and the test classes are random.

A rerun r of a method gives every class c a mean, y_rc = method + rerun_r + class_c + method x class + noise_rc.  Reruns
belong to one method; test classes are the same for both methods, so they are paired.  With R reruns the difference D of
two means has three sources of error, each estimated by itself:

    S_a^2 / R_a, S_b^2 / R_b    from the variance between a method's reruns, with R - 1 degrees of freedom
    max(0, V - E)               from the classes: V is the variance of D over them, E what reruns x classes adds to it

This is the analysis of readers and cases in diagnostic studies (Obuchowski and Rockette 1995), reruns for readers and
classes for cases.  A source with few degrees of freedom may look small by chance.  One t with Satterthwaite's degrees
of freedom forgets that, which matters after a correction for many pairs, so D is compared with the sum of independent
Student's t, each scaled by its source (Behrens 1929, Fisher 1935): it keeps its level far into the tail.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from likewise.evaluation.query_sums import Floats

CONFIDENCE, POWER = 0.95, 0.8
N_NODES, N_BINS, NEGLIGIBLE = 41, 500, 1e-12


@dataclass(frozen=True)
class RerunValues:
    """A method's mean per class in every rerun (reruns x classes); nothing about a deterministic one varies."""

    means: Floats
    deterministic: bool = False

    @property
    def testable(self) -> bool:
        return self.deterministic or len(self.means) > 1


@dataclass(frozen=True)
class ErrorSource:
    """A part of the variance of a difference, estimated with so many degrees of freedom."""

    variance: float
    degrees_of_freedom: float


@dataclass(frozen=True)
class RerunDifference:
    """a minus b; without two reruns of both there are no sources, no interval and no p (NaN)."""

    difference: float
    sources: tuple[ErrorSource, ...] = ()

    @property
    def p(self) -> float:
        """Two-sided."""
        return self._tail(abs(self.difference))

    @property
    def interval(self) -> tuple[float, float]:
        margin = self.margin(1 - CONFIDENCE)
        return self.difference - margin, self.difference + margin

    def detectable(self, alpha: float) -> float:
        """The true difference that a test at this level finds with a probability of 80 %.

        Another check estimates its sources anew, and its margin grows with them; the true ones are taken to be these.
        """
        from scipy.special import ndtr

        if not self.sources:
            return float("nan")
        error = sum(source.variance for source in self.sources) ** 0.5
        if error == 0.0:
            return 0.0
        estimated, weights = sum_of_sources(self.sources, lambda chi2, df: chi2 / df)
        margins = self.margin(alpha) * np.sqrt(estimated) / error
        return _falls_to(lambda size: 1 - float(weights @ ndtr((size - margins) / error)), 1 - POWER, margins.max() * 2)

    def margin(self, alpha: float) -> float:
        """How far from zero an estimate must be for this p."""
        if not self.sources:
            return float("nan")
        return _falls_to(self._tail, alpha, float(np.sqrt(self._variances[0].max())) * 40.0)

    def _tail(self, size: float) -> float:
        """The probability of an error of this size or more, on either side."""
        from scipy.special import erfc

        if not self.sources:
            return float("nan")
        variances, weights = self._variances
        with np.errstate(divide="ignore", invalid="ignore"):
            return float((weights * np.where(variances > 0, erfc(size / np.sqrt(2 * variances)), size == 0)).sum())

    @cached_property
    def _variances(self) -> tuple[Floats, Floats]:
        """What the true variance may be: with s^2 estimated on f degrees of freedom it is f s^2 / chi^2_f.

        A sum of t is a normal variable whose variance is drawn from this.
        """
        return sum_of_sources(self.sources, lambda chi2, df: df / chi2)


def compare_reruns(a: RerunValues, b: RerunValues, n_queries: Floats) -> RerunDifference:
    """The difference of two methods on the same classes, of which each has `n_queries`."""
    share = n_queries / n_queries.sum()
    per_class = a.means.mean(axis=0) - b.means.mean(axis=0)
    difference = float(share @ per_class)
    if not (a.testable and b.testable) or len(share) < 2:
        return RerunDifference(difference)
    sources, interaction = [], 0.0
    for method in (a, b):
        if not method.deterministic:
            n, values = len(method.means), method.means @ share
            sources.append(ErrorSource(float(values.var(ddof=1)) / n, n - 1))
            rest = method.means - values[:, None] - (method.means.mean(axis=0) - values.mean())
            interaction += sum(class_variance(row, share) for row in rest) / ((n - 1) * n)
    classes = class_variance(per_class - difference, share)
    sources.append(ErrorSource(max(0.0, classes - interaction), 1 / float(share @ share) - 1))
    return RerunDifference(difference, tuple(sources))


def class_variance(deviations: Floats, share: Floats) -> float:
    """The variance of a mean over classes from their deviations from it, unbiased for classes of unequal size."""
    return float((share**2 * deviations**2 / (1 - 2 * share + share @ share)).sum())


def sum_of_sources(sources: Sequence[ErrorSource], scaled: Callable[[Floats, float], Floats]) -> tuple[Floats, Floats]:
    """The sum of independent variances, each times a function of its chi^2: values, and their probabilities."""
    totals, probabilities = np.zeros(1), np.ones(1)
    for source in [each for each in sources if each.variance > 0]:
        chi2, weights = chi2_nodes(source.degrees_of_freedom)
        drawn = source.variance * scaled(chi2, source.degrees_of_freedom)
        totals, probabilities = _merge(np.add.outer(totals, drawn).ravel(), np.outer(probabilities, weights).ravel())
    return totals, probabilities


@lru_cache(maxsize=64)
def chi2_nodes(degrees_of_freedom: float) -> tuple[Floats, Floats]:
    """Values of a chi^2 variable and their probabilities, evenly spaced in its logarithm."""
    from scipy.stats import chi2

    low, high = (float(np.log(end(NEGLIGIBLE, degrees_of_freedom))) for end in (chi2.ppf, chi2.isf))
    values: Floats = np.exp(np.linspace(low, high, max(N_NODES, int(2 * (high - low)))))
    weights: Floats = chi2.pdf(values, degrees_of_freedom) * values
    return values, weights / weights.sum()


def _falls_to(share: Callable[[float], float], wanted: float, high: float) -> float:
    """Where a falling function of a size reaches a value, between 0 and `high`."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if share(middle) > wanted else (low, middle)
    return high


def _merge(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Neighbouring values as one, their mean: few enough for the next step."""
    low, high = values.min(), values.max()
    if len(values) <= N_BINS or low == high:
        return values, weights
    bins = (np.log(values / low) / np.log(high / low) * (N_BINS - 1)).astype(np.int64)
    total = np.bincount(bins, weights, N_BINS).astype(np.float64)
    kept = total > 0
    return (np.bincount(bins, weights * values, N_BINS) / np.where(kept, total, 1))[kept], total[kept]
