"""Recall@k that is fair to ties: the expected share of right answers if equal scores are put in random order.

With b wrong candidates better than the best right one, t wrong and r right ones equal to it, m = k - b places are
left among the t + r equal ones, and

    P(a right one in the first k) = 1 - C(t, m) / C(t + r, m),      for r = 1 this is m / (t + 1), within 0 and 1.

`official` counts a tie as a hit (the published code puts the target first), which gives a constant score 100 %.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.conditional.protocol import Floats

SCORE_TOLERANCE = 1e-6
"""Scores closer than this are equal: cosines in float32 are no more exact."""

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TargetRanks:
    """Where the best right candidate of each question stands; `defined` is False where a method has no answer."""

    better: Ints
    tied_wrong: Ints
    tied_right: Ints
    right: Ints
    candidates: Ints
    defined: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.better)


def rank_targets(scores: Floats, right: NDArray[np.bool_], present: NDArray[np.bool_] | None = None) -> TargetRanks:
    """Of (n, g) scores; `right` marks right candidates, `present` those that may be answered at all."""
    shown = np.ones_like(right) if present is None else present
    answered = ~np.isnan(np.where(shown, scores, 0.0)).any(axis=1)
    defined: NDArray[np.bool_] = np.asarray(answered & (right & shown).any(axis=1), bool)
    held = np.where(shown & ~np.isnan(scores), scores, -np.inf)
    best = np.where(right & shown, held, -np.inf).max(axis=1, initial=-np.inf, keepdims=True)
    best = np.where(np.isfinite(best), best, 0.0)
    above, near = held > best + SCORE_TOLERANCE, np.abs(held - best) <= SCORE_TOLERANCE
    return TargetRanks(
        (above & ~right).sum(axis=1),
        (near & ~right).sum(axis=1),
        (near & right).sum(axis=1),
        (right & shown).sum(axis=1),
        shown.sum(axis=1),
        defined,
    )


def recall_at_k(ranks: TargetRanks, k: int, *, official: bool = False) -> Floats:
    """Recall@k of each question, between 0 and 1; NaN where undefined."""
    if official:
        value = (ranks.better < k).astype(np.float64)
    else:
        value = _at_least_one(ranks.tied_right, ranks.tied_wrong + ranks.tied_right, k - ranks.better)
    return np.where(ranks.defined, value, np.nan)


def chance_recall(ranks: TargetRanks, k: int) -> Floats:
    """Recall@k of answers drawn at random, for each question."""
    return _at_least_one(ranks.right, ranks.candidates, np.full(len(ranks), k))


def _at_least_one(right: Ints, among: Ints, places: Ints) -> Floats:
    """The probability that `places` drawn from `among` without replacement hold one of `right`."""
    wrong = among - right
    none = np.ones(len(right))
    for place in range(int(places.max(initial=0))):
        left = np.maximum(among - place, 1)
        none *= np.where(place < places, np.clip((wrong - place) / left, 0.0, 1.0), 1.0)
    return 1.0 - none


def concatenate_ranks(parts: list[TargetRanks]) -> TargetRanks:
    """Several blocks as one."""
    names = ("better", "tied_wrong", "tied_right", "right", "candidates", "defined")
    return TargetRanks(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
