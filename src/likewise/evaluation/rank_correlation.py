"""How far two orders of the same models agree, and how little that says when the models are few."""

from functools import cache
from itertools import permutations
from math import factorial, sqrt

import numpy as np

from likewise.evaluation.auc import Floats, Ints

MIN_MODELS = 5  # a correlation over fewer models says little
MAX_PERMUTED = 8  # models whose every order can be tried


def spearman(a: Floats, b: Floats) -> float:
    """Spearman's rank correlation, ties at mid-rank; NaN if an order is missing or does not vary."""
    return float(spearman_by_column(a[:, None], b[:, None])[0])


def spearman_by_column(a: Floats, b: Floats) -> Floats:
    """The same for every column of two tables (models x resamples)."""
    first, second = (ranks - ranks.mean(axis=0) for ranks in (mid_ranks(a), mid_ranks(b)))
    return _correlations(first, second)


def spearman_p(correlation: float, n_models: int) -> float:
    """Two-sided p against no correlation, by the t approximation that the paper's Table 3 uses."""
    from scipy.special import stdtr

    if np.isnan(correlation) or n_models < 3:
        return float("nan")
    if abs(correlation) >= 1.0:
        return 0.0
    t = abs(correlation) * sqrt((n_models - 2) / (1.0 - correlation**2))
    return float(2.0 * stdtr(n_models - 2, -t))


def spearman_exact_p(a: Floats, b: Floats) -> float:
    """Two-sided p from all orders of the models, as many as n!; NaN where that is too many, or nothing to compare."""
    if not 1 < len(a) <= MAX_PERMUTED or np.isnan(spearman(a, b)):
        return float("nan")
    first, second = (ranks - ranks.mean() for ranks in (mid_ranks(a), mid_ranks(b)))
    by_chance = np.abs(second[_permutations(len(b))] @ first)
    return float(np.mean(by_chance >= abs(float(first @ second)) - 1e-9))


@cache
def _permutations(n: int) -> Ints:
    return np.array(list(permutations(range(n))))


def few_models_note(n_models: int) -> str | None:
    """What to say beside a rank correlation over very few models; None where there are enough."""
    if not 1 < n_models < MIN_MODELS:
        return None
    return (
        f"{n_models} models are too few for a rank correlation to say much: "
        f"chance alone gives the same order once in {factorial(n_models)} times."
    )


def kendall(a: Floats, b: Floats) -> float:
    """Kendall's tau-b."""
    return float(kendall_by_column(a[:, None], b[:, None])[0])


def kendall_by_column(a: Floats, b: Floats) -> Floats:
    """The same for every column of two tables (models x resamples)."""
    one, other = np.triu_indices(len(a), k=1)
    return _correlations(np.sign(a[one] - a[other]), np.sign(b[one] - b[other]))


def mid_ranks(values: Floats) -> Floats:
    """Ranks down each column, ties at the middle; a column with a NaN has none."""
    above = (values[:, None] > values[None]).sum(axis=1)
    ranks = above + (values[:, None] == values[None]).sum(axis=1) / 2.0
    return np.where(np.isnan(values).any(axis=0), np.nan, ranks)


def _correlations(a: Floats, b: Floats) -> Floats:
    """Of each column, NaN where there is a NaN or nothing varies."""
    length = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    defined = length > 0
    found = np.clip((a * b).sum(axis=0) / np.where(defined, length, 1.0), -1.0, 1.0)
    return np.where(defined, found, np.nan)
