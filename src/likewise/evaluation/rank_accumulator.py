"""Ranks of a query's same-class images: the first R neighbours, and how many are ahead of the first same-class one.

Fed with tiles of scores, gallery rows ascending. Of each query only what may still be among its first R is kept, so
memory grows with the size of the classes, not with the gallery. Scores may err by `tolerance`: whoever is that
close to a limit is kept, or scored exactly; a query with too many of those is `undecided` and must be done again
with exact scores (tolerance 0), whose limits need no slack.
"""

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints
from likewise.evaluation.same_class import SameClass
from likewise.neighbours import pair_scores
from likewise.neighbours.scores import Floats as Vectors

Tile = NDArray[np.floating]
Mask = NDArray[np.bool_]
Rows = NDArray[np.int32]
Columns = list[tuple[Rows, Rows, Tile]]

COMPACT_AFTER = 2_000_000  # hits waiting
MAX_NEAR_TIES = 256  # near-ties a query may have beyond 4 R
BY_ROW, BY_COLUMN = (slice(None), None), (None, slice(None))  # one limit for a line of the tile, or for a column
LANE, FULL = 8, 255  # a byte of eight counts to 255


class RankAccumulator:
    """The state of some queries while the gallery passes by; without `count_ahead` only the first R are known."""

    def __init__(
        self, queries: Vectors, gallery: Vectors, same_class: SameClass, tolerance: float, *, count_ahead: bool = True
    ) -> None:
        self.queries, self.gallery, self.same_class, self.tolerance = queries, gallery, same_class, tolerance
        self.count_ahead = count_ahead
        kind = np.float32 if tolerance else np.float64
        below = same_class.last_score - 2 * tolerance if tolerance else np.nextafter(same_class.last_score, -np.inf)
        self.limit: Tile = below.astype(kind)  # a neighbour must score above it to be kept
        # above `certain_limit` a candidate is ahead of the first same-class image
        self.certain_limit: Tile = (same_class.first_score + tolerance).astype(kind)
        self.possible_limit: Tile = (
            (same_class.first_score - tolerance) if tolerance else np.nextafter(same_class.first_score, -np.inf)
        ).astype(kind)
        self.ahead = np.zeros(len(queries), np.int64)
        self.undecided = np.zeros(len(queries), np.bool_)
        self._n_near_ties = np.zeros(len(queries), np.int64)
        self._hits: Columns = []
        self._near_ties: Columns = []
        self._waiting = self._kept = 0
        self._lock = Lock()

    def update(self, tile: Tile, first_query: int, first_row: int, *, queries_across: bool = False) -> None:
        """Scores of consecutive queries (down, or across) with consecutive gallery rows; several threads may call."""
        here = slice(first_query, first_query + tile.shape[1 if queries_across else 0])
        if not np.isfinite(self.limit[here]).any():
            return
        along = BY_COLUMN if queries_across else BY_ROW
        mask = _mask(tile, self.limit[here][along])
        line, column = np.divmod(np.flatnonzero(mask), mask.shape[1])
        query, row = (column, line) if queries_across else (line, column)
        hits = (query + first_query).astype(np.int32), (row + first_row).astype(np.int32), tile[line, column]
        with self._lock:
            self._hits.append(hits)
            self._waiting += len(line)
        if self.count_ahead:
            self._count_those_ahead(tile, mask, here, first_row, queries_across)
        with self._lock:
            if self._waiting > max(COMPACT_AFTER, self._kept):
                self.compact()

    def _count_those_ahead(self, tile: Tile, mask: Mask, here: slice, first_row: int, queries_across: bool) -> None:
        """Count who is ahead of the first same-class image; note whose float32 score is too close to it to tell."""
        axis, along = (0, BY_COLUMN) if queries_across else (1, BY_ROW)
        n_certain, n_possible = (
            _count(_mask(tile, limit[here][along], mask), axis)[: here.stop - here.start]
            for limit in (self.certain_limit, self.possible_limit)
        )
        unsure = np.flatnonzero(n_possible > n_certain)
        part = tile[:, unsure].T if queries_across else tile[unsure]
        query_rows = unsure + here.start
        near = (part > self.possible_limit[query_rows][:, None]) & (part <= self.certain_limit[query_rows][:, None])
        if self.tolerance:
            which, row = np.nonzero(near)
            near_ties = query_rows[which].astype(np.int32), (row + first_row).astype(np.int32), part[near]
        else:  # equal, so the row decides
            near &= np.arange(first_row, first_row + part.shape[1]) < self.same_class.first_row[query_rows][:, None]
            n_certain[unsure] += near.sum(axis=1)
            near_ties = _empty_columns(tile)
        with self._lock:
            self.ahead[here] += n_certain
            self._near_ties.append(near_ties)
            self._waiting += len(near_ties[0])

    def compact(self) -> None:
        """Keep of each query the first R by (score, row), and whoever is too close to the last of them to tell."""
        self._resolve_near_ties()
        query, row, score = _columns(self._hits, self.limit)
        order = _by_query_and_score(query, score)
        query, row, score = query[order], row[order], score[order]
        wanted = self.same_class.count
        listed = np.bincount(query, minlength=len(wanted))
        start = np.cumsum(listed) - listed
        complete = (listed >= wanted) & (wanted > 0) & ~self.undecided
        cut = np.full(len(wanted), -np.inf, self.limit.dtype)
        cut[complete] = score[(start + wanted - 1)[complete]] - 4 * self.tolerance
        np.maximum(self.limit, cut, out=self.limit)
        keep = (np.arange(len(query)) - start[query] < wanted[query]) | (score > cut[query])
        if self.tolerance:
            self._mark_undecided(
                np.flatnonzero(np.bincount(query[keep], minlength=len(wanted)) > 4 * wanted + MAX_NEAR_TIES)
            )
        keep &= ~self.undecided[query]
        self._hits = [(query[keep], row[keep], score[keep])]
        self._waiting, self._kept = 0, int(keep.sum())

    def _resolve_near_ties(self) -> None:
        """Count those near the first same-class image by exact score, then by row, as search orders them."""
        query, row, _ = _columns(self._near_ties, self.limit)
        self._near_ties = []
        self._n_near_ties += np.bincount(query, minlength=len(self._n_near_ties))
        self._mark_undecided(np.flatnonzero(self._n_near_ties > MAX_NEAR_TIES))
        still = ~self.undecided[query]
        query, row = query[still], row[still]
        exact, first = self._exact_scores(query, row), self.same_class.first_score[query]
        before = (exact > first) | ((exact == first) & (row < self.same_class.first_row[query]))
        self.ahead += np.bincount(query[before], minlength=len(self.ahead))

    def neighbours(self) -> tuple[Ints, Ints, Ints]:
        """Query, gallery row and place (0 .. R-1) of the first R neighbours of every query that is not undecided."""
        self.compact()
        query, row, _ = _columns(self._hits, self.limit)
        if self.tolerance:
            order = np.lexsort((row, -self._exact_scores(query, row), query))
            query, row = query[order], row[order]
        listed = np.bincount(query, minlength=len(self.queries))
        place = np.arange(len(query)) - (np.cumsum(listed) - listed)[query]
        keep = place < self.same_class.count[query]
        return query[keep].astype(np.int64), row[keep].astype(np.int64), place[keep]

    def _exact_scores(self, query: Rows, row: Rows) -> Floats:
        return pair_scores(self.queries, self.gallery, query.astype(np.int64), row.astype(np.int64))

    def _mark_undecided(self, undecided: Ints) -> None:
        self.undecided[undecided] = True
        for limit in (self.limit, self.certain_limit, self.possible_limit):
            limit[undecided] = np.inf


def _columns(parts: Columns, like: Tile) -> tuple[Rows, Rows, Tile]:
    query, row, score = zip(*parts, _empty_columns(like), strict=True)
    return np.concatenate(query), np.concatenate(row), np.concatenate(score)


def _empty_columns(like: Tile) -> tuple[Rows, Rows, Tile]:
    return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, like.dtype)


def _by_query_and_score(query: Rows, score: Tile) -> Ints:
    """Order by query, then falling score; exact scores keep the order they came in, which is by row."""
    if score.dtype == np.float64:
        return np.lexsort((-score, query))
    bits = (-score).view(np.int32)
    rising = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))  # whole numbers in the order of the scores
    return np.argsort((query.astype(np.int64) << 32) + rising)


def _mask(tile: Tile, limit: Tile, buffer: Mask | None = None) -> Mask:
    """tile > limit, its width padded with False to whole lanes."""
    height, width = tile.shape
    if buffer is None:
        buffer = np.zeros((height, -(-width // LANE) * LANE), np.bool_)
    np.greater(tile, limit, out=buffer[:, :width])
    return buffer


def _count(mask: Mask, axis: int) -> Ints:
    """How many are True along an axis, eight bytes at a time (several times faster than summing booleans)."""
    lanes = mask.view(np.uint64)
    total = np.zeros(mask.shape[1 - axis], np.int64)
    for start in range(0, lanes.shape[axis], FULL):
        if axis:
            part = (
                np.add.reduce(lanes[:, start : start + FULL], axis=1)
                .view(np.uint8)
                .reshape(-1, LANE)
                .sum(axis=1, dtype=np.int64)
            )
        else:
            part = np.add.reduce(lanes[start : start + FULL], axis=0).view(np.uint8)
        total += part
    return total
