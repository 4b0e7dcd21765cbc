"""Exact top-k by cosine in blocks: `faiss.knn` proposes a list a little longer than asked, exact scores order it.

Candidates of the query's own group (its item, or only the image itself) are excluded by id *before* the cut.
Equal scores are ordered by gallery row, so give the gallery sorted by key. A list is accepted only when its
last accepted score clears everything faiss left out by more than float32 can err; otherwise that query is
fetched again with a longer list, in the end the whole gallery. Memory is bounded by the block.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.neighbours.scores import Floats, Rows, Scores, as_unit, list_scores
from likewise.progress import ProgressCallback

BLOCK_QUERIES = 4096
BLOCK_ENTRIES = 2_000_000  # queries x list length held at once
EXTRA_CANDIDATES = 16
MAX_GROUP_FETCHED = 64
FLOAT32_ROUNDOFF = 2.0**-24
NO_INDEX = -1
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Neighbours:
    """For each query its candidates, best first: gallery rows and exact scores; -1 and NaN where there are fewer."""

    indices: Rows
    scores: Scores


def top_k(
    queries: Floats,
    gallery: Floats,
    k: int,
    *,
    query_groups: Rows | None = None,
    gallery_groups: Rows | None = None,
    one_per_group: bool = False,
    block_queries: int = BLOCK_QUERIES,
    on_progress: ProgressCallback | None = None,
) -> Neighbours:
    """The k most similar gallery rows of each query, never one of the query's own group.

    With `one_per_group` only the best row of each gallery group is listed.
    """
    if queries.shape[1] != gallery.shape[1]:
        raise LikewiseError(f"queries have {queries.shape[1]} dimensions, the gallery {gallery.shape[1]}.")
    if k < 1:
        raise LikewiseError(f"k must be at least 1, not {k}.")
    queries, gallery = as_unit(queries, "query vectors"), as_unit(gallery, "gallery vectors")
    if gallery_groups is None:
        gallery_groups = np.arange(len(gallery))
    if query_groups is None:
        query_groups = np.full(len(queries), NO_INDEX)
    length = list_length(k, gallery_groups, one_per_group)
    rows = np.full((len(queries), k), NO_INDEX, dtype=np.int64)
    scores = np.full((len(queries), k), np.nan)
    for start in range(0, len(queries), block_queries):
        waiting = np.arange(start, min(start + block_queries, len(queries)))
        fetch = length
        while len(waiting):
            fetch = min(fetch, len(gallery))
            step = max(1, BLOCK_ENTRIES // max(1, fetch))
            unsure = []
            for first in range(0, len(waiting), step):
                part = waiting[first : first + step]
                found = _search(queries[part], gallery, k, fetch, query_groups[part], gallery_groups, one_per_group)
                rows[part], scores[part] = found[0], found[1]
                unsure.append(part[~found[2]])
            waiting = np.concatenate(unsure)
            fetch *= 4
        if on_progress:
            on_progress("searching", min(start + block_queries, len(queries)), len(queries))
    return Neighbours(rows, scores)


def list_length(k: int, gallery_groups: Rows, one_per_group: bool) -> int:
    """How many candidates to fetch so that k usually remain: own group and repeats of a group fall away."""
    sizes = np.unique(gallery_groups, return_counts=True)[1] if len(gallery_groups) else np.zeros(1, np.int64)
    length = k * (int(np.ceil(sizes.mean())) if one_per_group else 1)
    return length + min(int(sizes.max()), MAX_GROUP_FETCHED) + EXTRA_CANDIDATES


def _search(
    queries: Floats, gallery: Floats, k: int, fetch: int, own: Rows, groups: Rows, one_per_group: bool
) -> tuple[Rows, Scores, Mask]:
    """One try with lists of length `fetch`: rows, scores, and whether each query's answer is certain."""
    approx, listed = knn_float32(queries, gallery, fetch)
    return rerank_exactly(queries, gallery, k, approx, listed, own, groups, one_per_group)


def knn_float32(queries: Floats, gallery: Floats, length: int) -> tuple[Floats, Rows]:
    """faiss's float32 scores and rows, best first; the last bits of the scores depend on the batch."""
    import faiss

    approx, listed = faiss.knn(queries, gallery, int(length), metric=faiss.METRIC_INNER_PRODUCT)
    return approx, listed


def float32_error(dim: int) -> float:
    """More than a float32 score of two unit vectors can be off: n u sum|x_i y_i|, in any order of summation."""
    return 1.01 * dim * FLOAT32_ROUNDOFF


def rerank_exactly(
    queries: Floats, gallery: Floats, k: int, approx: Floats, listed: Rows, own: Rows, groups: Rows, one_per_group: bool
) -> tuple[Rows, Scores, Mask]:
    """The exact best k of approximate lists: rows, scores, and whether nothing outside can be among them."""
    complete = listed.shape[1] >= len(gallery)
    tolerance = float32_error(gallery.shape[1])
    allowed = groups[listed] != own[:, None]
    repeated = mark_repeated_groups(groups[listed]) if one_per_group else np.zeros(listed.shape, dtype=np.bool_)
    listed, approx, allowed, left_out = _prune_lists(listed, approx, allowed, k, tolerance, repeated)
    exact = list_scores(queries, gallery, listed)
    exact[~allowed] = -np.inf
    order = np.lexsort((listed, -exact))
    listed, exact = np.take_along_axis(listed, order, 1), np.take_along_axis(exact, order, 1)
    if one_per_group:
        repeated = mark_repeated_groups(groups[listed])
        exact[repeated] = -np.inf
        order = np.argsort(np.isneginf(exact), axis=1, kind="stable")
        listed, exact = np.take_along_axis(listed, order, 1), np.take_along_axis(exact, order, 1)
    rows, scores = listed[:, :k], exact[:, :k]
    short = k - rows.shape[1]
    if short > 0:
        rows = np.pad(rows, ((0, 0), (0, short)), constant_values=NO_INDEX)
        scores = np.pad(scores, ((0, 0), (0, short)), constant_values=-np.inf)
    certain = np.full(len(queries), complete) | (scores[:, k - 1] > left_out + tolerance)
    missing = np.isneginf(scores)
    return np.where(missing, NO_INDEX, rows), np.where(missing, np.nan, scores), certain


def _prune_lists(
    listed: Rows, approx: Floats, allowed: Mask, k: int, tolerance: float, repeated: Mask
) -> tuple[Rows, Floats, Mask, Scores]:
    """Cut the lists to the columns that can still be among the best k; also the best approximate score left out.

    `repeated` marks candidates whose group stood further left; they use up no place among the k.
    """
    last = approx[:, -1].astype(np.float64)
    counted = np.cumsum(allowed & ~repeated, axis=1)
    enough = counted[:, -1] >= k
    kth = np.where(enough, np.argmax(counted >= k, axis=1), listed.shape[1] - 1)
    limit = np.take_along_axis(approx, kth[:, None], 1) - 2.0 * tolerance
    width = max(min(k, listed.shape[1]), int((approx >= limit).sum(axis=1).max()))
    return listed[:, :width], approx[:, :width], allowed[:, :width], last


def mark_repeated_groups(groups: Rows) -> Mask:
    """True where a row's group already stood further left."""
    order = np.argsort(groups, axis=1, kind="stable")
    in_order = np.take_along_axis(groups, order, 1)
    repeated = np.zeros(groups.shape, dtype=np.bool_)
    repeated[:, 1:] = in_order[:, 1:] == in_order[:, :-1]
    seen = np.zeros(groups.shape, dtype=np.bool_)
    np.put_along_axis(seen, order, repeated, 1)
    return seen
