"""Tiles of scores, each computed once and never all at once: the ranks of every query's same-class images.

If the queries are the gallery, a tile serves its rows and its columns, which halves the multiplications. Tiles
are float32; the few queries that float32 cannot decide (many equal or nearly equal vectors) are done again with
exact float64 scores.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from likewise.evaluation.auc import Floats, Ints
from likewise.evaluation.rank_accumulator import RankAccumulator
from likewise.evaluation.same_class import SameClass, find_same_class, round_to_grid
from likewise.machine import one_blas_thread
from likewise.neighbours.exact import FLOAT32_ROUNDOFF
from likewise.neighbours.scores import Floats as Vectors
from likewise.progress import ProgressCallback

TILE = 1024
THREADS = 2
FIRST_TILE = 64  # tiles grow, so that good limits are known before many scores have been seen
MAX_NEIGHBOURS_KEPT = 4_000_000  # neighbours held at once
RESCORING_COST = 200  # scoring a neighbour once more costs as much as computing so many scores exactly at once


@dataclass(frozen=True)
class SameClassRanks:
    """Per query: same-class images R, the rank of the first of them (1 is best, 0 where R = 0), hits in the first R.

    Where only the first R were looked at, the rank of one beyond them is given as R + 1.
    """

    n_same_class: Ints
    first_rank: Ints
    hits: Ints
    precision_sum: Floats  # sum over the hits of the precision there


def rank_same_class(
    queries: Vectors,
    gallery: Vectors,
    query_labels: Ints,
    gallery_labels: Ints,
    own_row: Ints,
    on_progress: ProgressCallback | None = None,
    *,
    whole_rank: bool = True,
) -> SameClassRanks:
    """Unit vectors and whole-number labels; `own_row` is a query's own place in the gallery, or -1.

    Without `whole_rank` only the first R neighbours are looked at, which is faster.
    """
    same_class = find_same_class(queries, gallery, query_labels, gallery_labels, own_row)
    ranks = SameClassRanks(
        same_class.count,
        np.zeros(len(queries), np.int64),
        np.zeros(len(queries), np.int64),
        np.zeros(len(queries)),
    )
    query_rows = np.flatnonzero(same_class.count)
    if same_class.count.sum() * RESCORING_COST <= len(queries) * len(gallery):
        query_rows = _rank_in_float32(
            ranks, same_class, queries, gallery, query_labels, gallery_labels, own_row, on_progress, whole_rank
        )
    if len(query_rows):
        exact = round_to_grid(gallery)
        for block in _blocks(query_rows, same_class.count):
            accumulator = RankAccumulator(
                queries[block], gallery, same_class.subset(block), 0.0, count_ahead=whole_rank
            )
            _rank_against(accumulator, round_to_grid(queries[block]), exact, own_row[block])
            _record(ranks, accumulator, block, query_labels, gallery_labels)
    return ranks


def _rank_in_float32(
    ranks: SameClassRanks,
    same_class: SameClass,
    queries: Vectors,
    gallery: Vectors,
    query_labels: Ints,
    gallery_labels: Ints,
    own_row: Ints,
    on_progress: ProgressCallback | None,
    whole_rank: bool,
) -> Ints:
    """Fill in the places of most queries; the rows of those that float32 cannot decide."""
    tolerance = 2.0 * gallery.shape[1] * FLOAT32_ROUNDOFF
    same = queries is gallery and np.array_equal(own_row, np.arange(len(gallery)))
    if same and same_class.count.sum() <= MAX_NEIGHBOURS_KEPT:
        accumulator = RankAccumulator(queries, gallery, same_class, tolerance, count_ahead=whole_rank)
        _rank_symmetric(accumulator, gallery, on_progress)
        _record(ranks, accumulator, np.arange(len(queries)), query_labels, gallery_labels)
        return np.flatnonzero(accumulator.undecided)
    undecided = [np.empty(0, np.int64)]
    for block in _blocks(np.flatnonzero(same_class.count), same_class.count):
        accumulator = RankAccumulator(
            queries[block], gallery, same_class.subset(block), tolerance, count_ahead=whole_rank
        )
        _rank_against(accumulator, queries[block], gallery, own_row[block])
        _record(ranks, accumulator, block, query_labels, gallery_labels)
        undecided.append(block[accumulator.undecided])
        if on_progress:
            on_progress("ranking", int(block[-1]) + 1, len(queries))
    return np.concatenate(undecided)


def _rank_symmetric(accumulator: RankAccumulator, vectors: Vectors, on_progress: ProgressCallback | None) -> None:
    edges = _tile_edges(len(vectors))

    def score_tile(pair: tuple[tuple[int, int], tuple[int, int]]) -> None:
        above, beside = pair
        tile = vectors[slice(*above)] @ vectors[slice(*beside)].T
        if above == beside:
            np.fill_diagonal(tile, -np.inf)
        else:
            accumulator.update(tile, beside[0], above[0], queries_across=True)
        accumulator.update(tile, above[0], beside[0])

    with ThreadPoolExecutor(THREADS) as pool, one_blas_thread():
        tiles = [(edge, other) for number, edge in enumerate(edges) for other in edges[number:]]
        for (above, beside), _ in zip(tiles, pool.map(score_tile, tiles), strict=True):
            if on_progress and beside == edges[-1]:
                on_progress("ranking", above[1], len(vectors))


def _rank_against(
    accumulator: RankAccumulator, queries: Vectors | Floats, gallery: Vectors | Floats, own_row: Ints
) -> None:
    def score_tile(start: int) -> None:
        own = own_row[start : start + TILE]
        for row, end in _tile_edges(len(gallery)):
            tile = queries[start : start + TILE] @ gallery[row:end].T
            itself = np.flatnonzero((own >= row) & (own < end))
            tile[itself, own[itself] - row] = -np.inf
            accumulator.update(tile, start, row)

    with ThreadPoolExecutor(THREADS) as pool, one_blas_thread():
        list(pool.map(score_tile, range(0, len(queries), TILE)))


def _tile_edges(n_rows: int) -> list[tuple[int, int]]:
    edges, start, width = [], 0, FIRST_TILE
    while start < n_rows:
        edges.append((start, min(start + width, n_rows)))
        start, width = start + width, min(2 * width, TILE)
    return edges


def _blocks(query_rows: Ints, n_same_class: Ints) -> list[Ints]:
    """Cut so that a block's neighbours fit in memory; a block ends where the running total passes another limit."""
    total = np.cumsum(np.maximum(n_same_class[query_rows], MAX_NEIGHBOURS_KEPT // (16 * TILE)))
    cuts = np.flatnonzero(np.diff(total // (MAX_NEIGHBOURS_KEPT // 2))) + 1
    return [block for block in np.split(query_rows, cuts) if len(block)]


def _record(
    ranks: SameClassRanks, accumulator: RankAccumulator, block: Ints, query_labels: Ints, gallery_labels: Ints
) -> None:
    """Turn the neighbours of a block into counts, except for undecided queries and those with R = 0."""
    query, row, place = accumulator.neighbours()
    hit = (gallery_labels[row] == query_labels[block[query]]).astype(np.float64)
    found = np.bincount(query, hit, len(block))
    so_far = np.cumsum(hit) - (np.cumsum(found) - found)[query]
    summed = np.bincount(query, hit * so_far / (place + 1), len(block))
    done = ~accumulator.undecided & (accumulator.same_class.count > 0)
    first = accumulator.ahead + 1
    if not accumulator.count_ahead:
        first = accumulator.same_class.count + 1
        np.minimum.at(first, query[hit > 0], place[hit > 0] + 1)
    ranks.first_rank[block[done]] = first[done]
    ranks.hits[block[done]] = found[done].astype(np.int64)
    ranks.precision_sum[block[done]] = summed[done]
