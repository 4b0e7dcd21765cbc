"""Recall@k that is fair to ties: the expected share of right answers if equal scores are put in random order.

With b wrong candidates better than the best right one, t wrong and r right ones equal to it, m = k - b places are
left among the t + r equal ones, and

    P(a right one in the first k) = 1 - C(t, m) / C(t + r, m),      for r = 1 this is m / (t + 1), within 0 and 1.

`official` counts a tie as a hit (the published code puts the target first), which gives a constant score 100 %.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from likewise.conditional.protocol import Floats

SCORE_TOLERANCE = 1e-6
"""Scores closer than this are equal: cosines in float32 are no more exact."""

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TargetRanks:
    """Where the best right candidate of each query ranks; `defined` is False where a method has no answer."""

    n_better: Ints
    n_tied_negatives: Ints
    n_tied_positives: Ints
    n_positives: Ints
    n_candidates: Ints
    defined: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.n_better)


def rank_targets(
    scores: Floats,
    positives: NDArray[np.bool_],
    present: NDArray[np.bool_] | None = None,
    tolerance: float = SCORE_TOLERANCE,
) -> TargetRanks:
    """Of (n, g) scores; `positives` marks right candidates, `present` those that may be answered at all."""
    shown = np.ones_like(positives) if present is None else present
    answered = ~np.isnan(np.where(shown, scores, 0.0)).any(axis=1)
    defined: NDArray[np.bool_] = np.asarray(answered & (positives & shown).any(axis=1), bool)
    held = np.where(shown & ~np.isnan(scores), scores, -np.inf)
    best = np.where(positives & shown, held, -np.inf).max(axis=1, initial=-np.inf, keepdims=True)
    best = np.where(np.isfinite(best), best, 0.0)
    above, near = held > best + tolerance, np.abs(held - best) <= tolerance
    return TargetRanks(
        (above & ~positives).sum(axis=1),
        (near & ~positives).sum(axis=1),
        (near & positives).sum(axis=1),
        (positives & shown).sum(axis=1),
        shown.sum(axis=1),
        defined,
    )


def recall_at_k(ranks: TargetRanks, k: int, *, official: bool = False) -> Floats:
    """Recall@k of each query, between 0 and 1; NaN where undefined."""
    if official:
        value = (ranks.n_better < k).astype(np.float64)
    else:
        n_tied = ranks.n_tied_negatives + ranks.n_tied_positives
        value = _hit_probability(ranks.n_tied_positives, n_tied, k - ranks.n_better)
    return np.where(ranks.defined, value, np.nan)


def chance_recall(ranks: TargetRanks, k: int) -> Floats:
    """Recall@k of answers drawn at random, for each query."""
    return _hit_probability(ranks.n_positives, ranks.n_candidates, np.full(len(ranks), k))


def _hit_probability(n_positives: Ints, n_candidates: Ints, n_drawn: Ints) -> Floats:
    """That `n_drawn` of `n_candidates`, drawn without replacement, hold one of `n_positives`."""
    n_negatives = n_candidates - n_positives
    missed = np.ones(len(n_positives))
    for draw in range(int(n_drawn.max(initial=0))):
        left = np.maximum(n_candidates - draw, 1)
        missed *= np.where(draw < n_drawn, np.clip((n_negatives - draw) / left, 0.0, 1.0), 1.0)
    return 1.0 - missed


def concatenate_ranks(parts: list[TargetRanks]) -> TargetRanks:
    """Several batches as one."""
    return TargetRanks(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(TargetRanks)))
