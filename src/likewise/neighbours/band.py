"""The candidates between two ranks, for negatives drawn from further down the lists (VSD, sec. 6.4).

Within the band the order does not matter, so only the candidates near its two ends are scored exactly; the top k come
from the same fetch.
"""

import numpy as np

from likewise.neighbours.exact import (
    BLOCK_ENTRIES,
    BLOCK_QUERIES,
    NO_INDEX,
    Mask,
    Neighbours,
    float32_error,
    knn_float32,
    list_length,
    rerank_exactly,
    top_k,
)
from likewise.neighbours.scores import Floats, Rows, as_unit, pair_scores

BELOW_EVERY_COSINE = -2.0  # below every cosine
WINDOW = 20  # candidates on either side of a band's end that are scored exactly


def top_k_and_band(
    queries: Floats,
    gallery: Floats,
    k: int,
    band: tuple[int, int],
    *,
    query_groups: Rows,
    gallery_groups: Rows,
    one_per_group: bool = True,
) -> tuple[Neighbours, Rows]:
    """`top_k`, and the gallery rows of zero-based ranks `band` (images, never of the query's own group).

    The band's rows are in ascending order, -1 where the gallery ends before.
    """
    queries, gallery = as_unit(queries, "query vectors"), as_unit(gallery, "gallery vectors")
    first, last = band
    top_length = min(list_length(k, gallery_groups, one_per_group), len(gallery))
    fetch = min(max(top_length, list_length(last + WINDOW, gallery_groups, False)), len(gallery))
    rows = np.full((len(queries), k), NO_INDEX, dtype=np.int64)
    scores = np.full((len(queries), k), np.nan)
    between = np.full((len(queries), last - first), NO_INDEX, dtype=np.int64)
    step = min(BLOCK_QUERIES, max(1, BLOCK_ENTRIES // fetch))
    for start in range(0, len(queries), step):
        part = np.arange(start, min(start + step, len(queries)))
        some, own = queries[part], query_groups[part]
        approx, listed = knn_float32(some, gallery, fetch)
        top = (approx[:, :top_length], listed[:, :top_length])
        rows[part], scores[part], certain = rerank_exactly(some, gallery, k, *top, own, gallery_groups, one_per_group)
        for unsure in _nonempty(part[~certain]):
            again = top_k(
                queries[unsure],
                gallery,
                k,
                query_groups=query_groups[unsure],
                gallery_groups=gallery_groups,
                one_per_group=one_per_group,
            )
            rows[unsure], scores[unsure] = again.indices, again.scores
        between[part], certain = _band(some, gallery, approx, listed, gallery_groups[listed] != own[:, None], band)
        for unsure in _nonempty(part[~certain]):
            whole = top_k(
                queries[unsure], gallery, last, query_groups=query_groups[unsure], gallery_groups=gallery_groups
            )
            between[unsure] = _sorted_indices(whole.indices[:, first:])
    return Neighbours(rows, scores), between


def _band(
    queries: Floats, gallery: Floats, approx: Floats, listed: Rows, allowed: Mask, band: tuple[int, int]
) -> tuple[Rows, Mask]:
    """Rows of the band from approximate lists, and whether each query's band is certain."""
    order = np.argsort(~allowed, axis=1, kind="stable")
    listed, approx = np.take_along_axis(listed, order, 1), np.take_along_axis(approx, order, 1)
    n_allowed = allowed.sum(axis=1)
    complete = listed.shape[1] >= len(gallery)
    narrow = band[1] - band[0] < 2 * WINDOW  # the two ends would disturb each other
    certain = np.full(len(queries), not narrow)
    for end in () if narrow else band:
        if end <= 0 or end >= listed.shape[1]:
            certain &= complete | (end <= 0)
            continue
        certain &= _rerank_band_end(queries, gallery, approx, listed, n_allowed, end)
        certain &= complete | (n_allowed > end)
    first, last = band
    rows = np.where(np.arange(listed.shape[1])[None, :] < n_allowed[:, None], listed, NO_INDEX)[:, first:last]
    padded = np.full((len(queries), last - first), NO_INDEX, dtype=np.int64)
    padded[:, : rows.shape[1]] = rows
    return _sorted_indices(padded), certain


def _rerank_band_end(queries: Floats, gallery: Floats, approx: Floats, listed: Rows, n_allowed: Rows, end: int) -> Mask:
    """Put the candidates around rank `end` in their exact order (in place); whether each query's end is now certain.

    Only those whose approximate score is too near the other side's are scored exactly; whoever is further
    away than float32 can err is on the right side already.
    """
    gap = 2.0 * float32_error(gallery.shape[1])
    left, right = max(0, end - WINDOW), min(listed.shape[1], end + WINDOW)
    near, inside = approx[:, left:right], np.arange(left, right)[None, :] < end
    within = np.arange(left, right)[None, :] < n_allowed[:, None]
    best_outside = np.where(n_allowed > end, approx[:, end], -np.inf)[:, None]
    worst_inside = approx[:, end - 1][:, None]
    unsure = within & np.where(inside, near <= best_outside + gap, near >= worst_inside - gap)
    exact = np.where(within, np.where(inside, np.inf, BELOW_EVERY_COSINE), -np.inf)  # own group behind everybody else
    query, place = np.nonzero(unsure)
    exact[query, place] = pair_scores(queries, gallery, query, listed[:, left:right][query, place])
    window = listed[:, left:right]
    touched = np.flatnonzero(unsure.any(axis=1))
    order = np.lexsort((window[touched], -exact[touched]))
    listed[touched, left:right] = np.take_along_axis(window[touched], order, 1)
    complete = np.bool_(listed.shape[1] >= len(gallery))
    reaches_left = unsure[:, 0] & (left > 0)
    reaches_right = unsure[:, -1] & (~complete | (n_allowed > right))
    too_short = ~complete & (n_allowed < right)  # somebody who was not fetched could stand here
    return np.asarray(~(reaches_left | reaches_right | too_short))


def _sorted_indices(rows: Rows) -> Rows:
    """Rows in ascending order, -1 last: as unsigned numbers it is the largest."""
    return np.sort(rows.view(np.uint64), axis=1).view(np.int64)


def _nonempty(rows: Rows) -> list[Rows]:
    return [rows] if len(rows) else []
