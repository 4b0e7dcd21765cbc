"""mAP@k for questions with several right answers, as CIRCO has it, and fair to ties.

    AP@k = sum over i <= k of P(i) rel(i) / min(k, R)       P(i): share of right ones among the first i; R: right ones

Equal scores count by their mean over all orders (McSherry and Najork 2008): in a group of n equal scores with r right
ones, after c candidates of which b are right, place i adds (r / n) (b + (i - 1)(r - 1)/(n - 1) + 1) / (c + i).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.conditional.protocol import Floats
from likewise.conditional.recall import SCORE_TOLERANCE


def average_precision(
    scores: Floats,
    positives: NDArray[np.bool_],
    present: NDArray[np.bool_],
    ks: Sequence[int],
    tolerance: float = SCORE_TOLERANCE,
) -> Floats:
    """(n, len(ks)): AP@k of each question, NaN where a method has no answer or nothing is right."""
    found = np.full((len(scores), len(ks)), np.nan)
    for row, (line, right, shown) in enumerate(zip(scores, positives, present, strict=True)):
        if np.isnan(line[shown]).any() or not (right & shown).any():
            continue
        values, labels = line[shown], right[shown]
        order = np.argsort(-values, kind="stable")
        found[row] = _expected(values[order], labels[order], ks, tolerance)
    return found


def chance_precision(n_positives: int, n_candidates: int, ks: Sequence[int]) -> Floats:
    """Expected AP@k of a random order."""
    labels = np.arange(n_candidates) < n_positives
    return _expected(np.zeros(n_candidates), labels, ks, 0.0)


def _expected(values: Floats, labels: NDArray[np.bool_], ks: Sequence[int], tolerance: float) -> Floats:
    """Of one question, its scores in descending order."""
    most = min(max(ks), len(values))
    cuts = np.flatnonzero(values[:-1] - values[1:] > tolerance) + 1
    starts, stops = np.r_[0, cuts], np.r_[cuts, len(values)]
    gains, before = np.zeros(most), 0
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        if start >= most:
            break
        n, right = stop - start, int(labels[start:stop].sum())
        if right:
            place = np.arange(min(stop, most) - start)
            more = place * (right - 1) / (n - 1) if n > 1 else 0.0
            gains[start : start + len(place)] = right / n * (before + more + 1) / (start + place + 1)
        before += right
    total = np.cumsum(gains)
    return np.array([total[min(k, most) - 1] / min(k, int(labels.sum())) for k in ks], np.float64)
