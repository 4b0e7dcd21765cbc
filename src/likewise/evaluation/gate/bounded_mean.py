"""One-sided tests and bounds for the mean of values between -1 and 1, few of which may differ from zero.

A new model often changes few lists, and a rare loss is large: Student's t is then too sure of itself. The test of
"the mean is at most m" asks how likely the values are under the distribution on [-1, 1] of mean m that fits them best,
which may put weight on the worst value, -1, although nobody saw it (empirical likelihood; Owen 1988; without the last
term it is n KL_inf of Honda & Takemura 2010):

    L(m) = max over 0 <= a <= 1 / (m + 1) of sum log(1 + a (x - m)) + w log(1 + a (-1 - m))
    p    = P(T > sqrt(2 L(m))),   T Student's t with n - 1 degrees of freedom, as Wilks' theorem has it for many values.

The last term is a query of weight w and the worst value: it stands for losses that few queries do not show. w was
chosen as the smallest with which models that lose exactly the margin pass in about 5 % of gates (docs/gate.md). Values
estimated from drawn labels may lie below -1: then the lowest of them is the worst value.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from likewise.intervals import t_quantile

Floats = NDArray[np.float64]

WORST = -1.0
WORST_WEIGHT = 0.15
STEPS = 50
PRECISION = 1e-9
BOUND_PRECISION = 1e-7


def p_at_most(values: Floats, mean: float) -> float:
    """One-sided p of "the mean is at most `mean`": small where the values show that it is larger."""
    from scipy.special import stdtr

    ratio = _log_likelihood_ratio(values, mean)
    return float(stdtr(len(values) - 1, -sqrt(2.0 * ratio))) if ratio > 0.0 and len(values) > 1 else 1.0


def p_at_least(values: Floats, mean: float) -> float:
    """One-sided p of "the mean is at least `mean`": small where the values show that it is smaller."""
    return p_at_most(-values, -mean)


def lower_confidence_bound(values: Floats, alpha: float) -> float:
    """The smallest mean that is not rejected at level `alpha`."""
    if len(values) < 2:
        return WORST
    enough = t_quantile(len(values) - 1, 1.0 - 2.0 * alpha) ** 2 / 2.0
    low, high = _worst(values), float(values.mean())
    while high - low > BOUND_PRECISION:
        middle = (low + high) / 2.0
        if _log_likelihood_ratio(values, middle) > enough:
            low = middle
        else:
            high = middle
    return low


def upper_confidence_bound(values: Floats, alpha: float) -> float:
    """The largest mean that is not rejected at level `alpha`."""
    return -lower_confidence_bound(-values, alpha)


def _worst(values: Floats) -> float:
    return min(WORST, float(values.min(initial=0.0)))


def _log_likelihood_ratio(values: Floats, mean: float) -> float:
    """L(mean); 0 where the values do not speak for a larger one."""
    worst = _worst(values)
    above = np.append(values, worst) - mean
    weight = np.append(np.ones(len(values)), WORST_WEIGHT)
    if above @ weight <= 0.0 or mean <= worst:
        return 0.0 if mean > worst else float("inf")
    low, high = 0.0, (1.0 - 1e-12) / (mean - worst)
    at = high / 2.0
    for _ in range(STEPS):  # Newton's method inside of a bracket: the sum is concave
        part = above / (1.0 + at * above)
        slope = float(weight @ part)
        low, high = (at, high) if slope > 0.0 else (low, at)
        step = at + slope / float(weight @ part**2)
        following = step if low < step < high else (low + high) / 2.0
        if abs(following - at) <= PRECISION * at:
            break
        at = following
    return float(weight @ np.log1p(at * above))
