"""A gallery searched in parts: the best of the best, in the same order as if it had been one.

Scores are exact (`scores.py`), so they do not depend on the part a candidate stands in; a candidate among the best k of
the whole is among the best k of its part, also where only the best image of each group counts.
"""

from collections.abc import Sequence

import numpy as np

from likewise.neighbours.exact import NO_INDEX, Neighbours, mark_repeated_groups
from likewise.neighbours.scores import Rows


def merge_neighbours(
    parts: Sequence[Neighbours], starts: Sequence[int], k: int, gallery_groups: Rows, *, one_per_group: bool = False
) -> Neighbours:
    """The best k over all parts; `starts` says at which row of the gallery each part begins."""
    offset = zip(parts, starts, strict=True)
    shifted = [np.where(part.indices == NO_INDEX, NO_INDEX, part.indices + start) for part, start in offset]
    rows = np.concatenate(shifted, axis=1)
    scores = np.concatenate([part.scores for part in parts], axis=1)
    scores = np.where(rows == NO_INDEX, -np.inf, scores)
    order = np.lexsort((rows, -scores))
    rows, scores = np.take_along_axis(rows, order, 1), np.take_along_axis(scores, order, 1)
    if one_per_group:
        scores = np.where(mark_repeated_groups(gallery_groups[rows]), -np.inf, scores)
        order = np.argsort(np.isneginf(scores), axis=1, kind="stable")
        rows, scores = np.take_along_axis(rows, order, 1), np.take_along_axis(scores, order, 1)
    rows, scores = rows[:, :k], scores[:, :k]
    missing = np.isneginf(scores)
    return Neighbours(np.where(missing, NO_INDEX, rows), np.where(missing, np.nan, scores))
