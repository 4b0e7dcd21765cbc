"""Tiles of scores, each computed once and never all at once: where every query's classmates stand.

If the queries are the gallery, a tile serves its rows and its columns, which halves the multiplications. Tiles
are float32; the few queries that float32 cannot decide (many equal or nearly equal vectors) are done again with
exact float64 scores.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from likewise.evaluation.auc import Floats, Ints
from likewise.evaluation.classmates import Classmates, find_classmates, on_grid
from likewise.evaluation.standing import Standing
from likewise.search.exact import FLOAT32_ROUNDOFF
from likewise.search.scores import Floats as Vectors

TILE = 1024
THREADS = 2
FIRST_TILE = 64  # tiles grow, so that good limits are known before many scores have been seen
MOST_KEPT = 4_000_000  # neighbours held at once
PAIRS_PER_NEIGHBOUR = 200  # scoring a neighbour once more costs as much as computing so many scores exactly at once
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Places:
    """Per query: classmates R, the rank of the first of them (1 is best, 0 where R = 0), and hits in the first R.

    Where only the first R were looked at, the rank of a classmate beyond them is given as R + 1.
    """

    n_classmates: Ints
    first_rank: Ints
    hits: Ints
    precision_sum: Floats  # sum over the hits of the precision there


def walk(
    queries: Vectors,
    gallery: Vectors,
    query_labels: Ints,
    gallery_labels: Ints,
    own_row: Ints,
    on_progress: Progress | None = None,
    *,
    whole_rank: bool = True,
) -> Places:
    """Unit vectors and whole-number labels; `own_row` is a query's own place in the gallery, or -1.

    Without `whole_rank` only the first R neighbours are looked at, which is faster.
    """
    mates = find_classmates(queries, gallery, query_labels, gallery_labels, own_row)
    places = Places(
        mates.count,
        np.zeros(len(queries), np.int64),
        np.zeros(len(queries), np.int64),
        np.zeros(len(queries)),
    )
    asking = np.flatnonzero(mates.count)
    if mates.count.sum() * PAIRS_PER_NEIGHBOUR <= len(queries) * len(gallery):
        asking = _in_float32(
            places, mates, queries, gallery, query_labels, gallery_labels, own_row, on_progress, whole_rank
        )
    if len(asking):
        exact = on_grid(gallery)
        for block in _blocks(asking, mates.count):
            standing = Standing(queries[block], gallery, _of(mates, block), 0.0, count_ahead=whole_rank)
            _one_way(standing, on_grid(queries[block]), exact, own_row[block])
            _note(places, standing, block, query_labels, gallery_labels)
    return places


def _in_float32(
    places: Places,
    mates: Classmates,
    queries: Vectors,
    gallery: Vectors,
    query_labels: Ints,
    gallery_labels: Ints,
    own_row: Ints,
    on_progress: Progress | None,
    whole_rank: bool,
) -> Ints:
    """Fill in the places of most queries; the rows of those that float32 cannot decide."""
    tolerance = 2.0 * gallery.shape[1] * FLOAT32_ROUNDOFF
    same = queries is gallery and np.array_equal(own_row, np.arange(len(gallery)))
    if same and mates.count.sum() <= MOST_KEPT:
        standing = Standing(queries, gallery, mates, tolerance, count_ahead=whole_rank)
        _both_ways(standing, gallery, on_progress)
        _note(places, standing, np.arange(len(queries)), query_labels, gallery_labels)
        return np.flatnonzero(standing.crowded)
    crowded = [np.empty(0, np.int64)]
    for block in _blocks(np.flatnonzero(mates.count), mates.count):
        standing = Standing(queries[block], gallery, _of(mates, block), tolerance, count_ahead=whole_rank)
        _one_way(standing, queries[block], gallery, own_row[block])
        _note(places, standing, block, query_labels, gallery_labels)
        crowded.append(block[standing.crowded])
        if on_progress:
            on_progress(int(block[-1]) + 1, len(queries))
    return np.concatenate(crowded)


def _both_ways(standing: Standing, vectors: Vectors, on_progress: Progress | None) -> None:
    edges = _edges(len(vectors))

    def look(pair: tuple[tuple[int, int], tuple[int, int]]) -> None:
        above, beside = pair
        tile = vectors[slice(*above)] @ vectors[slice(*beside)].T
        if above == beside:
            np.fill_diagonal(tile, -np.inf)
        else:
            standing.see(tile, beside[0], above[0], queries_across=True)
        standing.see(tile, above[0], beside[0])

    with ThreadPoolExecutor(THREADS) as pool, _one_blas_thread():
        tiles = [(edge, other) for number, edge in enumerate(edges) for other in edges[number:]]
        for (above, beside), _ in zip(tiles, pool.map(look, tiles), strict=True):
            if on_progress and beside == edges[-1]:
                on_progress(above[1], len(vectors))


def _one_blas_thread() -> AbstractContextManager[object]:
    """Small products are faster on one thread each: the tiles already keep every core busy."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits


def _one_way(standing: Standing, queries: Vectors | Floats, gallery: Vectors | Floats, own_row: Ints) -> None:
    def look(start: int) -> None:
        own = own_row[start : start + TILE]
        for row, end in _edges(len(gallery)):
            tile = queries[start : start + TILE] @ gallery[row:end].T
            itself = np.flatnonzero((own >= row) & (own < end))
            tile[itself, own[itself] - row] = -np.inf
            standing.see(tile, start, row)

    with ThreadPoolExecutor(THREADS) as pool, _one_blas_thread():
        list(pool.map(look, range(0, len(queries), TILE)))


def _edges(n_rows: int) -> list[tuple[int, int]]:
    edges, start, width = [], 0, FIRST_TILE
    while start < n_rows:
        edges.append((start, min(start + width, n_rows)))
        start, width = start + width, min(2 * width, TILE)
    return edges


def _blocks(asking: Ints, n_classmates: Ints) -> list[Ints]:
    """Cut so that a block's neighbours fit in memory; a block ends where the running total passes another limit."""
    total = np.cumsum(np.maximum(n_classmates[asking], MOST_KEPT // (16 * TILE)))
    cuts = np.flatnonzero(np.diff(total // (MOST_KEPT // 2))) + 1
    return [block for block in np.split(asking, cuts) if len(block)]


def _of(mates: Classmates, block: Ints) -> Classmates:
    return Classmates(mates.count[block], mates.first_row[block], mates.first_score[block], mates.last_score[block])


def _note(places: Places, standing: Standing, block: Ints, query_labels: Ints, gallery_labels: Ints) -> None:
    """Turn the neighbours of a block into counts, except for crowded queries and those without a classmate."""
    query, row, place = standing.neighbours()
    hit = (gallery_labels[row] == query_labels[block[query]]).astype(np.float64)
    found = np.bincount(query, hit, len(block))
    so_far = np.cumsum(hit) - (np.cumsum(found) - found)[query]
    summed = np.bincount(query, hit * so_far / (place + 1), len(block))
    done = ~standing.crowded & (standing.mates.count > 0)
    first = standing.ahead + 1
    if not standing.count_ahead:
        first = standing.mates.count + 1
        np.minimum.at(first, query[hit > 0], place[hit > 0] + 1)
    places.first_rank[block[done]] = first[done]
    places.hits[block[done]] = found[done].astype(np.int64)
    places.precision_sum[block[done]] = summed[done]
