"""The gallery images of a query's class: how many there are, and how similar the first and the last of them are.

These few scores, exact as in `likewise.neighbours.scores`, are all that class-based measures ask about: everybody
else matters only by standing before or behind them.
"""

from dataclasses import dataclass

import numpy as np

from likewise.evaluation.auc import Floats, Ints
from likewise.neighbours import NO_INDEX
from likewise.neighbours.scores import GRID
from likewise.neighbours.scores import Floats as Vectors

MAX_SCORES_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class SameClass:
    """Per query: R = the gallery rows of its class without itself; the first by (score, row), and the lowest score."""

    count: Ints
    first_row: Ints
    first_score: Floats
    last_score: Floats

    def subset(self, rows: Ints) -> "SameClass":
        return SameClass(self.count[rows], self.first_row[rows], self.first_score[rows], self.last_score[rows])


def round_to_grid(vectors: Vectors) -> Floats:
    """Components as multiples of 2^-26 in float64, so that every product and sum of unit vectors is exact."""
    return np.rint(vectors.astype(np.float64) * GRID) / GRID


def find_same_class(
    queries: Vectors, gallery: Vectors, query_labels: Ints, gallery_labels: Ints, own_row: Ints
) -> SameClass:
    """In pieces of bounded size; `own_row` is the query's place in the gallery, or -1."""
    n_queries = len(queries)
    found = SameClass(
        np.zeros(n_queries, np.int64),
        np.full(n_queries, NO_INDEX, np.int64),
        np.full(n_queries, np.inf),
        np.full(n_queries, np.inf),
    )
    query_order, gallery_order = np.argsort(query_labels, kind="stable"), np.argsort(gallery_labels, kind="stable")
    classes = np.unique(query_labels)
    sorted_queries, sorted_gallery = query_labels[query_order], gallery_labels[gallery_order]
    query_start, gallery_start = (np.searchsorted(labels, classes) for labels in (sorted_queries, sorted_gallery))
    n_class_queries = np.searchsorted(sorted_queries, classes, "right") - query_start
    n_class_members = np.searchsorted(sorted_gallery, classes, "right") - gallery_start
    shapes = np.stack([n_class_queries, n_class_members], axis=1)
    for shape in np.unique(shapes[n_class_members > 0], axis=0).tolist():  # classes of one size are done together
        same_shape = np.flatnonzero((shapes == shape).all(axis=1))
        query_rows = query_order[query_start[same_shape][:, None] + np.arange(shape[0])]
        members = gallery_order[gallery_start[same_shape][:, None] + np.arange(shape[1])]
        rows = max(1, MAX_SCORES_AT_ONCE // max(shape[1], gallery.shape[1]))
        lines = max(1, min(shape[0], rows))
        step = max(1, rows // max(shape))
        for start in range(0, len(same_shape), step):
            part = slice(start, start + step)
            right = round_to_grid(gallery[members[part]])
            for line in range(0, shape[0], lines):
                _score_same_class(found, query_rows[part, line : line + lines], members[part], queries, right, own_row)
    return found


def _score_same_class(
    found: SameClass, query_rows: Ints, members: Ints, queries: Vectors, right: Floats, own_row: Ints
) -> None:
    """Of some classes of one size (rows): the queries, the gallery rows, and these rows' vectors."""
    own = members[:, None, :] == own_row[query_rows][:, :, None]
    scores = np.where(own, -np.inf, round_to_grid(queries[query_rows]) @ right.transpose(0, 2, 1))
    count = members.shape[1] - own.sum(axis=2)
    first = scores.argmax(axis=2)  # the lowest row among equals: members are in order
    has_same_class = count > 0
    chosen = query_rows[has_same_class]
    found.count[chosen] = count[has_same_class]
    found.first_row[chosen] = np.take_along_axis(members, first, 1)[has_same_class]
    found.first_score[chosen] = np.take_along_axis(scores, first[:, :, None], 2)[:, :, 0][has_same_class]
    scores[own] = np.inf
    found.last_score[chosen] = scores.min(axis=2)[has_same_class]
