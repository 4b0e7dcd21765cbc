"""Cosine similarity that is the same number wherever it is computed.

A float32 matrix product depends on block sizes and threads in its last bits, so identical vectors get unequal
scores. Here every component of a unit vector is first put on a grid of 2^-26. A product of two grid points is
a multiple of 2^-52 and, by Cauchy-Schwarz, no partial sum exceeds 1, so float64 holds every step exactly:
the result does not depend on the order of summation, the batch, or the BLAS, and equals the float64 cosine
to about 1e-8.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError

Floats = NDArray[np.float32]
Scores = NDArray[np.float64]
Rows = NDArray[np.int64]

GRID = float(2**26)
UNIT_TOLERANCE = 1e-5
CHUNK_BYTES = 3_000_000
LIST_BYTES = 6_000_000
RESCORING_THREADS = 2


def as_unit(vectors: NDArray[np.floating[Any]], what: str = "vectors") -> Floats:
    """The rows at unit length as contiguous float32; returned as they are (no copy) when they already are."""
    if vectors.ndim != 2:
        raise LikewiseError(f"{what} must be a table of rows and columns, but have shape {vectors.shape}.")
    squared = np.concatenate([np.einsum("nd,nd->n", part, part) for part in _chunks(vectors)] or [np.empty(0)])
    if not np.isfinite(squared).all():
        row = int(np.flatnonzero(~np.isfinite(squared))[0])
        raise LikewiseError(f"{what}: row {row} holds NaN or infinite numbers; encode that image again.")
    if vectors.dtype == np.float32 and vectors.flags.c_contiguous and np.allclose(squared, 1.0, atol=UNIT_TOLERANCE):
        return vectors
    lengths = np.sqrt(squared, dtype=np.float64)
    lengths[lengths == 0.0] = 1.0  # a zero vector is similar to nothing
    return np.ascontiguousarray(vectors / lengths[:, None], dtype=np.float32)


def pair_scores(queries: Floats, gallery: Floats, query_rows: Rows, gallery_rows: Rows) -> Scores:
    """Exact cosine of given pairs: one score per (query row, gallery row)."""
    order = np.argsort(query_rows, kind="stable")  # pairs of one query together: its vector is read once
    sorted_query, sorted_gallery = query_rows[order], gallery_rows[order]
    in_order = np.empty(len(query_rows))
    step = max(1, CHUNK_BYTES // (8 * max(1, queries.shape[1])))

    def fill(start: int) -> None:
        part = slice(start, start + step)
        candidates = _round_to_grid(gallery[sorted_gallery[part]])
        here, first = np.unique(sorted_query[part], return_index=True)
        wanted = _round_to_grid(queries[here])
        for row, begin, end in zip(wanted, first, [*first[1:], len(candidates)], strict=True):
            in_order[start + begin : start + end] = candidates[begin:end] @ row

    with ThreadPoolExecutor(RESCORING_THREADS) as pool:
        list(pool.map(fill, range(0, len(in_order), step)))
    scores = np.empty(len(query_rows))
    scores[order] = in_order
    return scores / GRID**2


def list_scores(queries: Floats, gallery: Floats, gallery_rows: Rows) -> Scores:
    """Exact cosine of each query with its own list of gallery rows, shape (queries, list length)."""
    n_queries, length = gallery_rows.shape
    dim = queries.shape[1]
    scores = np.empty((n_queries, length))
    step = max(1, LIST_BYTES // (8 * max(1, length) * dim))

    def fill(first: int) -> None:
        """Every other chunk, in two buffers that are used again and again."""
        gathered, exact = np.empty((step * length, dim), np.float32), np.empty((step * length, dim))
        for start in range(first * step, n_queries, RESCORING_THREADS * step):
            rows = gallery_rows[start : start + step]
            small, large = gathered[: rows.size], exact[: rows.size]
            np.take(gallery, rows.ravel(), axis=0, out=small, mode="clip")
            np.multiply(small, np.float32(GRID), out=small)
            np.copyto(large, np.rint(small, out=small))
            wanted = _round_to_grid(queries[start : start + step].copy())
            lists = large.reshape(*rows.shape, dim)
            scores[start : start + step] = np.matmul(lists, wanted[:, :, None])[:, :, 0]

    with ThreadPoolExecutor(RESCORING_THREADS) as pool:
        list(pool.map(fill, range(RESCORING_THREADS)))
    return scores / GRID**2


def _round_to_grid(gathered: Floats) -> Scores:
    """Components as whole multiples of the grid step, in float64; overwrites its argument, a gathered copy.

    Scaling by a power of two and rounding are exact in float32 too, at half the memory traffic.
    """
    np.multiply(gathered, np.float32(GRID), out=gathered)
    return np.rint(gathered, out=gathered).astype(np.float64)


def _chunks(vectors: NDArray[np.floating[Any]]) -> Iterator[NDArray[np.floating[Any]]]:
    step = max(1, CHUNK_BYTES // (4 * max(1, vectors.shape[1])))
    return (vectors[start : start + step] for start in range(0, len(vectors), step))
