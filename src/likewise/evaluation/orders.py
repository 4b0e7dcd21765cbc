"""How far two orders of the same models agree."""

from math import sqrt

import numpy as np

from likewise.evaluation.auc import Floats


def spearman(a: Floats, b: Floats) -> float:
    """Spearman's rank correlation, ties at mid-rank; NaN if an order is missing or does not vary."""
    return _correlation(mid_ranks(a), mid_ranks(b))


def spearman_p(correlation: float, n_models: int) -> float:
    """Two-sided p against no correlation, by the t approximation that the paper's Table 3 uses."""
    from scipy.special import stdtr

    if np.isnan(correlation) or n_models < 3:
        return float("nan")
    if abs(correlation) >= 1.0:
        return 0.0
    t = abs(correlation) * sqrt((n_models - 2) / (1.0 - correlation**2))
    return float(2.0 * stdtr(n_models - 2, -t))


def kendall(a: Floats, b: Floats) -> float:
    """Kendall's tau-b."""
    upper = np.triu_indices(len(a), k=1)
    first, second = np.sign(a[:, None] - a[None, :])[upper], np.sign(b[:, None] - b[None, :])[upper]
    return _correlation(first, second, centred=False)


def mid_ranks(values: Floats) -> Floats:
    if np.isnan(values).any():
        return np.full(len(values), np.nan)
    return np.asarray((values[:, None] > values).sum(axis=1) + (values[:, None] == values).sum(axis=1) / 2.0)


def _correlation(a: Floats, b: Floats, centred: bool = True) -> float:
    if np.isnan(a).any() or np.isnan(b).any():
        return float("nan")
    if centred:
        a, b = a - a.mean(), b - b.mean()
    length = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float(np.clip((a * b).sum() / length, -1.0, 1.0)) if length > 0 else float("nan")
