"""Copies: pictures that are the same file, nearly the same vector, or nearly the same perceptual hash.

Every pair is compared once, in blocks: by a matrix product (cosine), or by counting different bits (hash, in faiss).
When more pairs pass than anyone would look at, the floor rises so that the nearest ones stay; it is part of the answer.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.catalog.perceptual_hash import BITS, Hashes
from likewise.machine import one_blas_thread, usable_cores
from likewise.neighbours.scores import Floats, Rows, Scores
from likewise.progress import ProgressCallback

BLOCK = 2048
HASH_BLOCK = 256
MAX_PAIRS = 200_000
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class SimilarPairs:
    """Pairs of rows (first < second) and how alike they are; nothing below `floor` was kept."""

    first: Rows
    second: Rows
    similarity: Scores
    floor: float


@dataclass
class _NearestPairs:
    """The nearest of all pairs that were added; `floor` rises when they become too many."""

    floor: float
    max_pairs: int
    _parts: list[tuple[Rows, Rows, Scores]] = field(default_factory=list)
    _n: int = 0

    def add(self, first: Rows, second: Rows, similarity: Scores) -> None:
        self._parts.append((first, second, similarity))
        self._n += len(first)
        if self._n > 2 * self.max_pairs:
            self._parts = [self._nearest()]
            self._n, self.floor = self.max_pairs, float(self._parts[0][2].min())

    def result(self) -> SimilarPairs:
        """Sorted, nearest first."""
        first, second, similarity = self._nearest()
        cut = len(similarity) == self.max_pairs
        floor = max(self.floor, float(similarity.min())) if cut else self.floor
        order = np.lexsort((second, first, -similarity))
        return SimilarPairs(first[order], second[order], similarity[order], floor)

    def _nearest(self) -> tuple[Rows, Rows, Scores]:
        empty = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        first, second, similarity = (np.concatenate(parts) for parts in zip(empty, *self._parts, strict=True))
        if len(similarity) <= self.max_pairs:
            return first, second, similarity
        kept = np.argpartition(-similarity, self.max_pairs - 1)[: self.max_pairs]
        return first[kept], second[kept], similarity[kept]


def cosine_pairs(
    vectors: Floats, floor: float, *, max_pairs: int = MAX_PAIRS, on_progress: ProgressCallback | None = None
) -> SimilarPairs:
    """Pairs of unit vectors whose cosine is at least `floor`."""
    found, blocks = _NearestPairs(floor, max_pairs), list(_upper_blocks(len(vectors)))

    def search(block: tuple[int, int]) -> tuple[Rows, Rows, Scores]:
        a, b = block
        scores = vectors[a : a + BLOCK] @ vectors[b : b + BLOCK].T
        rows, columns = np.nonzero(scores >= found.floor)
        first, second = rows + a, columns + b
        once = first < second
        return first[once], second[once], scores[rows[once], columns[once]].astype(np.float64)

    with ThreadPoolExecutor(usable_cores()) as pool, one_blas_thread():
        for done, part in enumerate(pool.map(search, blocks), 1):
            found.add(*part)
            if on_progress:
                on_progress("comparing vectors", done, len(blocks))
    return found.result()


def hash_pairs(
    hashes: Hashes,
    max_bits: int,
    *,
    new_from: int = 0,
    max_pairs: int = MAX_PAIRS,
    on_progress: ProgressCallback | None = None,
) -> SimilarPairs:
    """Pairs that differ in at most `max_bits` bits, mirrored or not; `similarity` is minus the number of bits.

    Only pairs with one of the rows from `new_from` on.
    """
    import faiss

    there = np.flatnonzero(hashes.any(axis=1))
    content = np.ascontiguousarray(hashes[there]).view(np.uint8)
    plain, mirrored = (np.ascontiguousarray(side) for side in np.split(content, 2, axis=1))
    index = faiss.IndexBinaryFlat(BITS)
    index.add(plain)
    found = _NearestPairs(-float(max_bits), max_pairs)
    for start in range(int(np.searchsorted(there, new_from)), len(there), HASH_BLOCK):
        rows = slice(start, start + HASH_BLOCK)
        found.add(*_within(index, (plain[rows], mirrored[rows]), start, -found.floor))
        if on_progress:
            on_progress("comparing hashes", min(start + HASH_BLOCK, len(there)), len(there))
    nearest = found.result()
    return SimilarPairs(there[nearest.first], there[nearest.second], nearest.similarity, nearest.floor)


def _within(index: Any, sides: tuple[Bytes, Bytes], start: int, bits: float) -> tuple[Rows, Rows, Scores]:
    """Each pair once, with the fewer of its bits: as it is, or with the second picture mirrored."""
    parts = []
    for side in sides:
        limits, distances, first = index.range_search(side, int(bits) + 1)  # faiss: less than the radius
        second = start + np.repeat(np.arange(len(side)), np.diff(limits.astype(np.int64)))
        once = first < second
        parts.append((first[once].astype(np.int64), second[once], distances[once].astype(np.float64)))
    first, second, distances = (np.concatenate(some) for some in zip(*parts, strict=True))
    order = np.lexsort((distances, second, first))
    first, second, distances = first[order], second[order], distances[order]
    new = np.ones(len(first), np.bool_)
    new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    return first[new], second[new], -distances[new]


def _upper_blocks(n_rows: int) -> Iterator[tuple[int, int]]:
    for a in range(0, n_rows, BLOCK):
        for b in range(a, n_rows, BLOCK):
            yield a, b


def connected_groups(n_rows: int, first: Rows, second: Rows) -> Rows:
    """For each row the smallest row that it is connected with by pairs; a row without a pair is its own group."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(len(first), np.bool_), (first, second)), shape=(n_rows, n_rows))
    _, component = connected_components(joined, directed=False)
    smallest = np.full(int(component.max(initial=-1)) + 1, n_rows, dtype=np.int64)
    np.minimum.at(smallest, component, np.arange(n_rows))
    return np.asarray(smallest[component], np.int64)
