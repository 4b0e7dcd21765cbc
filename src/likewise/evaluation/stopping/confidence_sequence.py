"""Intervals that hold at every look: the normal-mixture confidence sequence (Robbins 1970), in information time.

Labels arrive in random order, and an estimate from the first of them is, given a later one, unbiased for it. Then the
covariance of two looks is the variance of the later one, so that information (1 / variance) x estimate moves like a
Brownian motion with the truth as its drift: increments are independent, whatever the unit that is exchangeable, single
pairs in mixed order or whole queries (Scharfstein, Tsiatis and Robins 1997). For such a process

    |estimate - truth| <= sqrt((I + r) log((I + r) / (r alpha^2))) / I   at all times at once, with chance 1 - alpha,

I being the information (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, for estimated variances). `r` only says
where the interval is tightest; it is chosen before any label. Nothing of earlier looks is needed: whoever resumes
later, or looks twice a minute, has the same guarantee. docs/stopping.md has the simulations.
"""

from dataclasses import dataclass
from functools import cache
from math import ceil, exp, inf, log, sqrt

from scipy.special import ndtr, stdtrit

ALPHA = 0.05
MIN_QUERIES = 20  # fewer say too little about how far queries differ
MIN_POSITIVES = 20  # and without similar pairs all models look alike


@dataclass(frozen=True)
class ConfidenceSequence:
    """A value between ends that hold at every look together."""

    value: float
    low: float
    high: float


def mixture_radius(standard_error: float, alpha: float, tightest_at: float) -> float:
    """Half the width at this standard error; tightest (in units of it) at the standard error `tightest_at`."""
    if standard_error <= 0.0:
        return 0.0
    information, mixing = standard_error**-2, tightest_at**-2 / _best_ratio(alpha)
    return sqrt((information + mixing) * log((information + mixing) / (mixing * alpha**2))) / information


def confidence_sequence(
    value: float, standard_error: float, n_queries: int, *, tightest_at: float, alpha: float = ALPHA
) -> ConfidenceSequence:
    """Around a value whose standard error is estimated from `n_queries` queries."""
    if n_queries < MIN_QUERIES:
        return ConfidenceSequence(value, -inf, inf)
    # a standard error from few queries is itself uncertain: widen it as Student's t does at the same depth of tail
    depth = mixture_radius(standard_error, alpha, tightest_at) / standard_error if standard_error > 0.0 else 0.0
    # (abs: beyond the smallest float the quantile is infinite, with either sign)
    wider = abs(float(stdtrit(n_queries - 1, ndtr(-depth)))) / depth if depth else 1.0
    radius = mixture_radius(standard_error, alpha, tightest_at) * wider
    return ConfidenceSequence(value, value - radius, value + radius)


def needed_error(distance: float, alpha: float, tightest_at: float) -> float:
    """The largest standard error at which the radius is at most `distance`."""
    low, high = 0.0, max(distance, tightest_at)
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if mixture_radius(middle, alpha, tightest_at) <= distance else (low, middle)
    return low


def labels_needed(n_labels: int, error: float, drawing_error: float, wanted: float) -> int | None:
    """How many labels in all bring the standard error down to `wanted`, other things equal; None if none would.

    More labels of the same queries shrink the part from drawing alone, in proportion to their number.
    """
    drawing = min(drawing_error, error) ** 2
    left = wanted**2 - (error**2 - drawing)
    if error <= wanted:
        return n_labels
    return None if left <= 0.0 or drawing <= 0.0 else ceil(n_labels * drawing / left)


@cache
def _best_ratio(alpha: float) -> float:
    """x with x = log((x + 1) / alpha^2): information over mixing where the interval is narrowest."""
    ratio = -2.0 * log(alpha)
    for _ in range(50):
        ratio = log((ratio + 1.0) * exp(-2.0 * log(alpha)))
    return ratio
