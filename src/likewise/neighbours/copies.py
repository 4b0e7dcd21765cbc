"""Copies: pictures that are the same file, nearly the same vector, or nearly the same perceptual hash.

Every pair is compared once, in blocks of a matrix product (cosine) or of exclusive-ors (hash). When more pairs pass
than anyone would look at, the floor rises so that the nearest ones stay; it is part of the answer.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from likewise.catalog.perceptual_hash import BITS, Hashes
from likewise.machine import usable_cores
from likewise.neighbours.scores import Floats, Rows, Scores
from likewise.progress import ProgressCallback

BLOCK = 2048
MAX_PAIRS = 200_000
Similarity = Callable[[slice, slice], Floats]


@dataclass(frozen=True)
class SimilarPairs:
    """Pairs of rows (first < second) and how alike they are; nothing below `floor` was kept."""

    first: Rows
    second: Rows
    similarity: Scores
    floor: float


def cosine_pairs(
    vectors: Floats, floor: float, *, max_pairs: int = MAX_PAIRS, on_progress: ProgressCallback | None = None
) -> SimilarPairs:
    """Pairs of unit vectors whose cosine is at least `floor`."""
    return _similar_pairs(len(vectors), lambda a, b: vectors[a] @ vectors[b].T, floor, max_pairs, on_progress)


def hash_pairs(
    hashes: Hashes, max_bits: int, *, max_pairs: int = MAX_PAIRS, on_progress: ProgressCallback | None = None
) -> SimilarPairs:
    """Pairs that differ in at most `max_bits` bits, mirrored or not; `similarity` is minus the number of bits."""
    there = np.flatnonzero(hashes.any(axis=1))
    signs = _signs(hashes[there])
    plain, mirrored = np.ascontiguousarray(signs[:, :BITS]), np.ascontiguousarray(signs[:, BITS:])

    def similarity(a: slice, b: slice) -> Floats:
        equal: Floats = np.maximum(plain[a] @ plain[b].T, plain[a] @ mirrored[b].T)
        return equal

    found = _similar_pairs(len(there), similarity, BITS - 2 * max_bits, max_pairs, on_progress)
    bits = (BITS - found.similarity) / 2.0
    return SimilarPairs(there[found.first], there[found.second], -bits, (found.floor - BITS) / 2.0)


def _signs(hashes: Hashes) -> Floats:
    """Bits as +1 and -1: the product of two rows is the number of equal bits minus that of different ones."""
    bits = np.unpackbits(hashes.astype(">u8").view(np.uint8), axis=1)
    return np.where(bits, np.float32(1.0), np.float32(-1.0))


def _similar_pairs(
    n_rows: int, similarity: Similarity, floor: float, max_pairs: int, on_progress: ProgressCallback | None
) -> SimilarPairs:
    blocks = list(_upper_blocks(n_rows))
    found: list[tuple[Rows, Rows, Scores]] = []
    n_found, lowest = 0, floor

    def search(block: tuple[int, int]) -> tuple[Rows, Rows, Scores]:
        a, b = block
        scores = similarity(slice(a, a + BLOCK), slice(b, b + BLOCK))
        rows, columns = np.nonzero(scores >= lowest)
        first, second = rows + a, columns + b
        once = first < second
        return first[once], second[once], scores[rows[once], columns[once]].astype(np.float64)

    with ThreadPoolExecutor(usable_cores()) as pool:
        for done, part in enumerate(pool.map(search, blocks), 1):
            found.append(part)
            n_found += len(part[0])
            if n_found > 2 * max_pairs:
                found = [_nearest(found, max_pairs)]
                n_found, lowest = max_pairs, float(found[0][2].min())
            if on_progress:
                on_progress("comparing", done, len(blocks))
    first, second, scores = _nearest(found, max_pairs)
    cut = len(scores) == max_pairs
    order = np.lexsort((second, first, -scores))
    return SimilarPairs(first[order], second[order], scores[order], max(lowest, float(scores.min())) if cut else lowest)


def _nearest(found: list[tuple[Rows, Rows, Scores]], max_pairs: int) -> tuple[Rows, Rows, Scores]:
    empty = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    first, second, scores = (np.concatenate(parts) for parts in zip(empty, *found, strict=True))
    if len(scores) <= max_pairs:
        return first, second, scores
    kept = np.argpartition(-scores, max_pairs - 1)[:max_pairs]
    return first[kept], second[kept], scores[kept]


def _upper_blocks(n_rows: int) -> Iterator[tuple[int, int]]:
    for a in range(0, n_rows, BLOCK):
        for b in range(a, n_rows, BLOCK):
            yield a, b


def group_rows(n_rows: int, first: Rows, second: Rows) -> Rows:
    """For each row the smallest row that it is connected with by pairs; a row without a pair is its own group."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(len(first), np.bool_), (first, second)), shape=(n_rows, n_rows))
    _, component = connected_components(joined, directed=False)
    smallest = np.full(int(component.max(initial=-1)) + 1, n_rows, dtype=np.int64)
    np.minimum.at(smallest, component, np.arange(n_rows))
    return np.asarray(smallest[component], np.int64)
