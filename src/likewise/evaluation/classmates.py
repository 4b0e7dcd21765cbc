"""Who shares a query's class in the gallery: how many they are, and how similar the first and the last of them is.

These few scores, exact as in `likewise.search.scores`, are all that class-based metrics ask about: everybody
else matters only by standing before or behind them.
"""

from dataclasses import dataclass

import numpy as np

from likewise.evaluation.auc import Floats, Ints
from likewise.search.scores import GRID
from likewise.search.scores import Floats as Vectors

NOBODY = -1
MOST_SCORES_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Classmates:
    """Per query: R = the gallery rows of its class without itself; the first by (score, row), and the lowest score."""

    count: Ints
    first_row: Ints
    first_score: Floats
    last_score: Floats


def on_grid(vectors: Vectors) -> Floats:
    """Components as multiples of 2^-26 in float64, so that every product and sum of unit vectors is exact."""
    return np.rint(vectors.astype(np.float64) * GRID) / GRID


def find_classmates(
    queries: Vectors, gallery: Vectors, query_labels: Ints, gallery_labels: Ints, own_row: Ints
) -> Classmates:
    """Class by class, in pieces of bounded size; `own_row` is the query's place in the gallery, or -1."""
    n_queries = len(queries)
    found = Classmates(
        np.zeros(n_queries, np.int64),
        np.full(n_queries, NOBODY, np.int64),
        np.full(n_queries, np.inf),
        np.full(n_queries, np.inf),
    )
    query_order, gallery_order = np.argsort(query_labels, kind="stable"), np.argsort(gallery_labels, kind="stable")
    classes = np.unique(query_labels)
    edges = [
        np.searchsorted(labels[order], classes, side)
        for labels, order in ((query_labels, query_order), (gallery_labels, gallery_order))
        for side in ("left", "right")
    ]
    for piece in zip(*edges, strict=True):
        asking, members = query_order[piece[0] : piece[1]], gallery_order[piece[2] : piece[3]]
        if not len(members):
            continue
        right = on_grid(gallery[members])
        step = max(1, MOST_SCORES_AT_ONCE // len(members))
        for start in range(0, len(asking), step):
            _measure(found, asking[start : start + step], members, queries, right, own_row)
    return found


def _measure(found: Classmates, asking: Ints, members: Ints, queries: Vectors, right: Floats, own_row: Ints) -> None:
    own = members[None, :] == own_row[asking][:, None]
    scores = np.where(own, -np.inf, on_grid(queries[asking]) @ right.T)
    count = len(members) - own.sum(axis=1)
    first = scores.argmax(axis=1)  # the lowest row among equals: members are in order
    mated = count > 0
    chosen = asking[mated]
    found.count[chosen] = count[mated]
    found.first_row[chosen] = members[first[mated]]
    found.first_score[chosen] = scores[mated, first[mated]]
    scores[own] = np.inf
    found.last_score[chosen] = scores[mated].min(axis=1)
