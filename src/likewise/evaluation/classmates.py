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
    """In pieces of bounded size; `own_row` is the query's place in the gallery, or -1."""
    n_queries = len(queries)
    found = Classmates(
        np.zeros(n_queries, np.int64),
        np.full(n_queries, NOBODY, np.int64),
        np.full(n_queries, np.inf),
        np.full(n_queries, np.inf),
    )
    query_order, gallery_order = np.argsort(query_labels, kind="stable"), np.argsort(gallery_labels, kind="stable")
    classes = np.unique(query_labels)
    sorted_queries, sorted_gallery = query_labels[query_order], gallery_labels[gallery_order]
    query_start, gallery_start = (np.searchsorted(labels, classes) for labels in (sorted_queries, sorted_gallery))
    n_asking = np.searchsorted(sorted_queries, classes, "right") - query_start
    n_members = np.searchsorted(sorted_gallery, classes, "right") - gallery_start
    shapes = np.stack([n_asking, n_members], axis=1)
    for shape in np.unique(shapes[n_members > 0], axis=0).tolist():  # classes of one size are done together
        alike = np.flatnonzero((shapes == shape).all(axis=1))
        asking = query_order[query_start[alike][:, None] + np.arange(shape[0])]
        members = gallery_order[gallery_start[alike][:, None] + np.arange(shape[1])]
        rows = max(1, MOST_SCORES_AT_ONCE // max(shape[1], gallery.shape[1]))
        lines = max(1, min(shape[0], rows))
        step = max(1, rows // max(shape))
        for start in range(0, len(alike), step):
            part = slice(start, start + step)
            right = on_grid(gallery[members[part]])
            for line in range(0, shape[0], lines):
                _measure(found, asking[part, line : line + lines], members[part], queries, right, own_row)
    return found


def _measure(found: Classmates, asking: Ints, members: Ints, queries: Vectors, right: Floats, own_row: Ints) -> None:
    """Of some classes of one size (rows): the queries, the gallery rows, and these rows' vectors."""
    own = members[:, None, :] == own_row[asking][:, :, None]
    scores = np.where(own, -np.inf, on_grid(queries[asking]) @ right.transpose(0, 2, 1))
    count = members.shape[1] - own.sum(axis=2)
    first = scores.argmax(axis=2)  # the lowest row among equals: members are in order
    mated = count > 0
    chosen = asking[mated]
    found.count[chosen] = count[mated]
    found.first_row[chosen] = np.take_along_axis(members, first, 1)[mated]
    found.first_score[chosen] = np.take_along_axis(scores, first[:, :, None], 2)[:, :, 0][mated]
    scores[own] = np.inf
    found.last_score[chosen] = scores.min(axis=2)[mated]
