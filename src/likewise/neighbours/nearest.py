"""The nearest rows of one vector, for a person who waits: one matrix-vector product, then exact scores.

`exact.top_k` is for many queries and looks through the whole gallery before it begins. Here the gallery was checked
when it was loaded, and a filter leaves rows out; the order is the same, by exact score and then by row.
"""

import numpy as np

from likewise.neighbours.exact import EXTRA_CANDIDATES, NO_INDEX, Mask, rerank_exactly
from likewise.neighbours.scores import Floats, Rows, Scores

FIRST_LIST = 4  # times k: usually enough after images of one item fell together


def nearest_rows(
    query: Floats,
    gallery: Floats,
    k: int,
    *,
    groups: Rows,
    own: int = NO_INDEX,
    allowed: Mask | None = None,
    one_per_group: bool = True,
) -> tuple[Rows, Scores]:
    """At most k rows of a gallery of unit vectors, best first, and their cosines.

    Rows of the group `own` and rows that are not `allowed` are left out; of every other group only the best row is
    listed, or every row without `one_per_group`.
    """
    approx = gallery @ query
    approx[groups == own] = -np.inf
    if allowed is not None:
        approx[~allowed] = -np.inf
    n_allowed = int(np.count_nonzero(approx != -np.inf))
    length = FIRST_LIST * k + EXTRA_CANDIDATES
    while n_allowed:
        length = min(length, n_allowed)
        listed = np.argpartition(-approx, length - 1)[:length]
        listed = listed[np.lexsort((listed, -approx[listed]))]
        rows, scores, certain = rerank_exactly(
            query[None], gallery, k, approx[None, listed], listed[None], np.array([own]), groups, one_per_group
        )
        if certain[0] or length == n_allowed:
            there = rows[0] != NO_INDEX
            return rows[0][there], scores[0][there]
        length *= 4
    return np.empty(0, np.int64), np.empty(0)
