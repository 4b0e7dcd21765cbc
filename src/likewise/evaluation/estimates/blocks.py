"""Scores of several encoders for a block of queries, ranked: the whole catalog a few queries at a time.

Candidates are units: items (an item scores as its best image does) or single images.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.estimates.chances import Bools, Floats, Ints


@dataclass(frozen=True)
class RankedBlock:
    """Of some queries and every unit: admissible or not, and for each encoder scores, order (best first) and ranks.

    Units that are not admissible (the query's own item) stand behind all others. Equal scores are in the order of
    units; `below` counts the admissible units that score less, those that tie one half.
    """

    admissible: Bools  # (queries, units)
    scores: NDArray[np.float32]  # (encoders, queries, units)
    order: NDArray[np.int32]
    rank: NDArray[np.int32]
    below: NDArray[np.float32]

    @property
    def n_admissible(self) -> Floats:
        return np.asarray(self.admissible.sum(axis=1), dtype=np.float64)


def rank_block(scores: NDArray[np.float32], admissible: Bools) -> RankedBlock:
    """Rank every unit for every encoder and query."""
    n_units = admissible.shape[1]
    keyed = np.where(admissible[None], -scores, np.float32(np.inf))
    order = np.argsort(keyed, axis=2, kind="stable").astype(np.int32)
    rank = np.empty_like(order)
    places = np.broadcast_to(np.arange(n_units, dtype=np.int32), order.shape)
    np.put_along_axis(rank, order, places, 2)
    n_admissible = admissible.sum(axis=1).astype(np.float32)
    below = n_admissible[None, :, None] - np.float32(1) - rank
    sorted_scores = np.take_along_axis(keyed, order, 2)
    tied = np.any((sorted_scores[:, :, 1:] == sorted_scores[:, :, :-1]) & np.isfinite(sorted_scores[:, :, 1:]), axis=2)
    for encoder, query in zip(*np.nonzero(tied), strict=True):
        below[encoder, query] = _below_with_ties(-keyed[encoder, query], admissible[query])
    return RankedBlock(admissible, scores, order, rank, below)


def _below_with_ties(scores: NDArray[np.float32], admissible: NDArray[np.bool_]) -> NDArray[np.float32]:
    ordered = np.sort(scores[admissible])
    left, right = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
    return ((left + right - 1) / 2.0).astype(np.float32)


def best_per_unit(scores: NDArray[np.float32], unit_of_image: Ints, n_units: int) -> NDArray[np.float32]:
    """Scores of images (…, images) to scores of units (…, units): the best of each unit's images."""
    order = np.argsort(unit_of_image, kind="stable")
    start = np.searchsorted(unit_of_image[order], np.arange(n_units))
    return np.maximum.reduceat(scores[..., order], start, axis=-1)
