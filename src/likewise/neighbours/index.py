"""Approximate search for large galleries: a FAISS index proposes the lists, exact scores order them.

What an index cannot promise is that nothing is missed, so every search with one comes with its recall: the share of the
true nearest neighbours (by exact search) that it found, for queries that were not used to set how hard it looks.
Scores are the exact ones.  A query whose list comes back too short is searched exactly.
"""

from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import LikewiseError
from likewise.intervals import wilson_interval
from likewise.neighbours.exact import BLOCK_ENTRIES, NO_INDEX, Neighbours, list_length, rerank_exactly, top_k
from likewise.neighbours.scores import Floats, Rows, Scores, as_unit
from likewise.workspace import write_atomically

KINDS = ("ivf", "hnsw")
TARGET_RECALL = 0.98
TUNING_QUERIES, MEASURED_QUERIES = 64, 200
INITIAL_EFFORT = {"ivf": 4, "hnsw": 32}
MAX_EFFORT = 4096  # length of hnsw's search list; ivf may visit all its cells
HNSW_M = 16
MIN_RECALL_GAIN = 0.001  # of recall: looking still harder is given up
KMEANS_ITERATIONS, TRAINING_ROWS_PER_CELL = 10, 64
MIN_GALLERY = 1000


@dataclass(frozen=True)
class IndexRecall:
    """How much of the truth an index found: the mean share of the k true neighbours, with its 95 % interval."""

    kind: str
    k: int
    value: float
    low: float
    high: float
    n_queries: int
    effort: int
    """Cells visited (ivf) or length of the search list (hnsw)."""

    def __str__(self) -> str:
        value, low, high = (f"{100 * number:.1f}" for number in (self.value, self.low, self.high))
        return f"{self.kind} index, recall@{self.k} {value} % ({low}–{high}, n={self.n_queries})"


@dataclass(frozen=True)
class KnnProblem:
    """What is searched: queries among a gallery, their groups, and how many are wanted."""

    queries: Floats
    gallery: Floats
    k: int
    query_groups: Rows
    gallery_groups: Rows
    one_per_group: bool

    def subset(self, rows: Rows) -> "KnnProblem":
        return replace(self, queries=self.queries[rows], query_groups=self.query_groups[rows])

    def exact_top_k(self) -> Neighbours:
        return top_k(
            self.queries,
            self.gallery,
            self.k,
            query_groups=self.query_groups,
            gallery_groups=self.gallery_groups,
            one_per_group=self.one_per_group,
        )


def index_top_k(
    queries: Floats,
    gallery: Floats,
    k: int,
    kind: str,
    *,
    query_groups: Rows | None = None,
    gallery_groups: Rows | None = None,
    one_per_group: bool = False,
    seed: int = 0,
    file: Path | None = None,
) -> tuple[Neighbours, IndexRecall]:
    """As `top_k`, through an index, and how much of the truth it found; `file` keeps the index for the next time."""
    gallery = as_unit(gallery, "gallery vectors")
    problem = KnnProblem(
        as_unit(queries, "query vectors"),
        gallery,
        k,
        np.full(len(queries), NO_INDEX) if query_groups is None else query_groups,
        np.arange(len(gallery)) if gallery_groups is None else gallery_groups,
        one_per_group,
    )
    index = load_or_build_index(file, gallery, kind, seed) if file else build_index(gallery, kind, seed)
    shuffled = np.random.default_rng(seed).permutation(len(queries))
    tuning, measured = shuffled[:TUNING_QUERIES], shuffled[TUNING_QUERIES : TUNING_QUERIES + MEASURED_QUERIES]
    if len(measured) < TUNING_QUERIES // 2:  # too few to keep apart
        tuning = measured = shuffled
    effort = tune_effort(index, kind, problem.subset(tuning))
    measure = problem.subset(measured)
    shares = recall_per_query(search_index(index, measure).indices, measure.exact_top_k().indices)
    value = float(shares.mean())
    return search_index(index, problem), IndexRecall(
        kind, k, value, *wilson_interval(value, len(shares)), len(shares), effort
    )


def build_index(gallery: Floats, kind: str, seed: int) -> Any:
    """An index over unit vectors, eight bits a component: exact scores are taken from the vectors themselves."""
    import faiss

    if kind not in KINDS:
        raise LikewiseError(f"there is no index {kind!r}: use {' or '.join(KINDS)}.")
    if len(gallery) < MIN_GALLERY:
        raise LikewiseError(
            f"an index over {len(gallery)} vectors gains nothing (it needs {MIN_GALLERY:,}): leave --index out."
        )
    dim, inner = gallery.shape[1], faiss.METRIC_INNER_PRODUCT
    index: Any
    if kind == "ivf":
        cells = int(2 * sqrt(len(gallery)))
        index = faiss.index_factory(dim, f"IVF{cells},SQ8", inner)
        index.cp.seed, index.cp.niter = seed + 1, KMEANS_ITERATIONS
        index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, TRAINING_ROWS_PER_CELL
        rows = np.sort(np.random.default_rng(seed).permutation(len(gallery))[: cells * TRAINING_ROWS_PER_CELL])
        index.train(np.ascontiguousarray(gallery[rows]))
    else:
        index = faiss.index_factory(dim, f"HNSW{HNSW_M},SQ8", inner)
        index.train(gallery[: 100 * HNSW_M])
    index.add(gallery)
    return index


def load_or_build_index(file: Path, gallery: Floats, kind: str, seed: int) -> Any:
    """The index kept in `file`, which is made when it is missing or damaged."""
    import faiss

    if file.exists():
        try:
            index = faiss.read_index(str(file))
            if index.ntotal == len(gallery) and index.d == gallery.shape[1]:
                return index
        except RuntimeError:  # faiss's word for a file it cannot read
            pass
    index = build_index(gallery, kind, seed)
    write_atomically(file, lambda out: faiss.write_index(index, faiss.PyCallbackIOWriter(out.write)))  # type: ignore[attr-defined]
    return index


def search_index(index: Any, problem: KnnProblem) -> Neighbours:
    """The best k among what the index proposes, in exact order; exact search where it proposes too few."""
    length = min(list_length(problem.k, problem.gallery_groups, problem.one_per_group), len(problem.gallery))
    rows = np.full((len(problem.queries), problem.k), NO_INDEX, dtype=np.int64)
    scores = np.full((len(problem.queries), problem.k), np.nan)
    step = max(1, BLOCK_ENTRIES // length)
    for start in range(0, len(problem.queries), step):
        part = problem.subset(np.arange(start, min(start + step, len(problem.queries))))
        approx, listed = index.search(part.queries, length)
        short = (listed == NO_INDEX).any(axis=1)
        listed[short] = 0
        found, exact, _ = rerank_exactly(
            part.queries,
            part.gallery,
            part.k,
            approx,
            listed,
            part.query_groups,
            part.gallery_groups,
            part.one_per_group,
        )
        again = np.flatnonzero(short | (found == NO_INDEX).any(axis=1))
        if len(again):
            whole = part.subset(again).exact_top_k()
            found[again], exact[again] = whole.indices, whole.scores
        rows[start : start + step], scores[start : start + step] = found, exact
    return Neighbours(rows, scores)


def tune_effort(index: Any, kind: str, problem: KnnProblem) -> int:
    """Look harder, twice as hard each time, until these queries find enough of their true neighbours, or no more."""
    truth = problem.exact_top_k().indices
    max_effort = index.nlist if kind == "ivf" else MAX_EFFORT
    effort, recall = min(INITIAL_EFFORT[kind], max_effort), -1.0
    while True:
        set_effort(index, kind, effort)
        before, recall = recall, float(recall_per_query(search_index(index, problem).indices, truth).mean())
        if effort >= max_effort or recall >= TARGET_RECALL:
            return int(effort)
        if recall < before + MIN_RECALL_GAIN:
            set_effort(index, kind, effort // 2)
            return int(effort // 2)
        effort = min(2 * effort, max_effort)


def set_effort(index: Any, kind: str, effort: int) -> None:
    if kind == "ivf":
        index.nprobe = effort
    else:
        index.hnsw.efSearch = effort


def recall_per_query(found: Rows, truth: Rows) -> Scores:
    """For each query that has neighbours, the share of them that was found."""
    hits = ((found[:, :, None] == truth[:, None, :]) & (truth != NO_INDEX)[:, None, :]).sum(axis=(1, 2))
    there = (truth != NO_INDEX).sum(axis=1)
    return np.asarray(hits[there > 0] / there[there > 0], np.float64)
