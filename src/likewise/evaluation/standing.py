"""Where a query's classmates stand among everybody: the first R neighbours, and who is ahead of the first classmate.

Fed with tiles of scores, gallery rows ascending. Of each query only what may still be among its first R is kept, so
memory grows with the number of classmates, not with the gallery. Scores may err by `tolerance`: whoever is that
close to a limit is kept, or scored exactly; a query with too many of those is `crowded` and must be done again
with exact scores (tolerance 0), whose limits need no slack.
"""

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints
from likewise.evaluation.classmates import Classmates
from likewise.search import pair_scores
from likewise.search.scores import Floats as Vectors

Tile = NDArray[np.floating]
Mask = NDArray[np.bool_]
Rows = NDArray[np.int32]
Columns = list[tuple[Rows, Rows, Tile]]

SETTLE_AFTER = 2_000_000  # hits waiting
SPARE = 256  # near-ties a query may have beyond 4 R
DOWN, ACROSS = (slice(None), None), (None, slice(None))  # one limit for a line of the tile, or for a column
LANE, FULL = 8, 255  # a byte of eight counts to 255


class Standing:
    """The state of some queries while the gallery passes by; without `count_ahead` only the first R are known."""

    def __init__(
        self, queries: Vectors, gallery: Vectors, mates: Classmates, tolerance: float, *, count_ahead: bool = True
    ) -> None:
        self.queries, self.gallery, self.mates, self.tolerance = queries, gallery, mates, tolerance
        self.count_ahead = count_ahead
        kind = np.float32 if tolerance else np.float64
        below = mates.last_score - 2 * tolerance if tolerance else np.nextafter(mates.last_score, -np.inf)
        self.limit: Tile = below.astype(kind)  # a neighbour must score above it to be kept
        self.surely: Tile = (mates.first_score + tolerance).astype(kind)  # above: ahead of the first classmate
        self.perhaps: Tile = (
            (mates.first_score - tolerance) if tolerance else np.nextafter(mates.first_score, -np.inf)
        ).astype(kind)
        self.ahead = np.zeros(len(queries), np.int64)
        self.crowded = np.zeros(len(queries), np.bool_)
        self._n_doubts = np.zeros(len(queries), np.int64)
        self._hits: Columns = []
        self._doubts: Columns = []
        self._waiting = self._kept = 0
        self._lock = Lock()

    def see(self, tile: Tile, first_query: int, first_row: int, *, queries_across: bool = False) -> None:
        """Scores of consecutive queries (down, or across) with consecutive gallery rows; several threads may call."""
        here = slice(first_query, first_query + tile.shape[1 if queries_across else 0])
        if not np.isfinite(self.limit[here]).any():
            return
        along = ACROSS if queries_across else DOWN
        mask = _mask(tile, self.limit[here][along])
        line, column = np.divmod(np.flatnonzero(mask), mask.shape[1])
        query, row = (column, line) if queries_across else (line, column)
        hits = (query + first_query).astype(np.int32), (row + first_row).astype(np.int32), tile[line, column]
        with self._lock:
            self._hits.append(hits)
            self._waiting += len(line)
        if self.count_ahead:
            self._see_ahead(tile, mask, here, first_row, queries_across)
        with self._lock:
            if self._waiting > max(SETTLE_AFTER, self._kept):
                self.settle()

    def _see_ahead(self, tile: Tile, mask: Mask, here: slice, first_row: int, queries_across: bool) -> None:
        """Count who is ahead of the first classmate; note whose float32 score is too close to it to tell."""
        axis, along = (0, ACROSS) if queries_across else (1, DOWN)
        surely, perhaps = (
            _count(_mask(tile, limit[here][along], mask), axis)[: here.stop - here.start]
            for limit in (self.surely, self.perhaps)
        )
        unsure = np.flatnonzero(perhaps > surely)
        part = tile[:, unsure].T if queries_across else tile[unsure]
        asking = unsure + here.start
        near = (part > self.perhaps[asking][:, None]) & (part <= self.surely[asking][:, None])
        if self.tolerance:
            which, row = np.nonzero(near)
            doubts = asking[which].astype(np.int32), (row + first_row).astype(np.int32), part[near]
        else:  # equal, so the row decides
            near &= np.arange(first_row, first_row + part.shape[1]) < self.mates.first_row[asking][:, None]
            surely[unsure] += near.sum(axis=1)
            doubts = _nothing(tile)
        with self._lock:
            self.ahead[here] += surely
            self._doubts.append(doubts)
            self._waiting += len(doubts[0])

    def settle(self) -> None:
        """Keep of each query the first R by (score, row), and whoever is too close to the last of them to tell."""
        self._settle_doubts()
        query, row, score = _columns(self._hits, self.limit)
        order = _by_query_and_score(query, score)
        query, row, score = query[order], row[order], score[order]
        wanted = self.mates.count
        listed = np.bincount(query, minlength=len(wanted))
        start = np.cumsum(listed) - listed
        complete = (listed >= wanted) & (wanted > 0) & ~self.crowded
        cut = np.full(len(wanted), -np.inf, self.limit.dtype)
        cut[complete] = score[(start + wanted - 1)[complete]] - 4 * self.tolerance
        np.maximum(self.limit, cut, out=self.limit)
        keep = (np.arange(len(query)) - start[query] < wanted[query]) | (score > cut[query])
        if self.tolerance:
            self._drop(np.flatnonzero(np.bincount(query[keep], minlength=len(wanted)) > 4 * wanted + SPARE))
        keep &= ~self.crowded[query]
        self._hits = [(query[keep], row[keep], score[keep])]
        self._waiting, self._kept = 0, int(keep.sum())

    def _settle_doubts(self) -> None:
        """Count those near the first classmate by exact score, then by row, as search orders them."""
        query, row, _ = _columns(self._doubts, self.limit)
        self._doubts = []
        self._n_doubts += np.bincount(query, minlength=len(self._n_doubts))
        self._drop(np.flatnonzero(self._n_doubts > SPARE))
        still = ~self.crowded[query]
        query, row = query[still], row[still]
        exact, first = self._exact(query, row), self.mates.first_score[query]
        before = (exact > first) | ((exact == first) & (row < self.mates.first_row[query]))
        self.ahead += np.bincount(query[before], minlength=len(self.ahead))

    def neighbours(self) -> tuple[Ints, Ints, Ints]:
        """Query, gallery row and place (0 .. R-1) of the first R neighbours of every query that is not crowded."""
        self.settle()
        query, row, _ = _columns(self._hits, self.limit)
        if self.tolerance:
            order = np.lexsort((row, -self._exact(query, row), query))
            query, row = query[order], row[order]
        listed = np.bincount(query, minlength=len(self.queries))
        place = np.arange(len(query)) - (np.cumsum(listed) - listed)[query]
        keep = place < self.mates.count[query]
        return query[keep].astype(np.int64), row[keep].astype(np.int64), place[keep]

    def _exact(self, query: Rows, row: Rows) -> Floats:
        return pair_scores(self.queries, self.gallery, query.astype(np.int64), row.astype(np.int64))

    def _drop(self, crowded: Ints) -> None:
        self.crowded[crowded] = True
        for limit in (self.limit, self.surely, self.perhaps):
            limit[crowded] = np.inf


def _columns(parts: Columns, like: Tile) -> tuple[Rows, Rows, Tile]:
    query, row, score = zip(*parts, _nothing(like), strict=True)
    return np.concatenate(query), np.concatenate(row), np.concatenate(score)


def _nothing(like: Tile) -> tuple[Rows, Rows, Tile]:
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
