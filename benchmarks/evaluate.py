"""The whole discovery protocol for one encoder against the bare search it needs, and the bootstrap on top.

2,000 queries, 54,170 labels, a gallery of 52,712 x 768: the size of the published benchmark.
"""

import time
from statistics import median

import faiss
import numpy as np

from benchmarks.search import DIM, GALLERY, QUERIES, data
from benchmarks.timing import medians, print_beside
from likewise.evaluation.bootstrap import RESAMPLES, query_weights
from likewise.evaluation.discovery import Measured, measure, rows_of, score
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.sampled_negatives import NEGATIVE_RANKS, sample_negatives, sampled_scores
from likewise.search.scores import Floats

LABELS, K, TOP, ROUNDS = 54_170, 9, 100, 5


def judged(query_items: np.ndarray, items: np.ndarray) -> JudgedPairs:
    """Labels spread over the queries as in the published run, 85 % of them positive."""
    rng = np.random.default_rng(1)
    query = np.sort(np.concatenate([np.arange(QUERIES), rng.integers(0, QUERIES, LABELS - QUERIES)]))
    candidate = rng.integers(0, GALLERY, LABELS)
    label = (rng.random(LABELS) < 0.848).astype(np.int8)
    queries, gallery = ([f"{kind}{row:06}" for row in range(n)] for kind, n in (("q", QUERIES), ("c", GALLERY)))
    return JudgedPairs(queries, gallery, query_items, items, query, candidate, label)


def protocol(pairs: JudgedPairs, queries: Floats, gallery: Floats) -> tuple[Measured, JudgedPairs]:
    """Search, sampled negatives, every metric's value."""
    one = measure("m", pairs, queries, gallery, K, NEGATIVE_RANKS)
    assert one.band is not None
    sampled = sample_negatives(pairs, [one.band], seed=0)
    assert sampled is not None
    scores = sampled_scores(one.scores, pairs, sampled, queries, gallery)
    one = Measured("m", one.scores, one.lists, None, scores)
    for row in rows_of(one, pairs, sampled, (5, 9)):
        row.value()
    return one, sampled


def main() -> None:
    queries, gallery, query_items, items = data()
    pairs = judged(query_items, items)
    seconds = medians(
        {
            f"faiss.knn, top {TOP}, bare": lambda: faiss.knn(queries, gallery, TOP, metric=faiss.METRIC_INNER_PRODUCT),
            "likewise, discovery protocol, every metric": lambda: protocol(pairs, queries, gallery),
        },
        ROUNDS,
    )
    print_beside(
        f"evaluation: {QUERIES:,} queries, {LABELS:,} labels, {GALLERY:,} x {DIM} (medians of {ROUNDS})",
        seconds,
        f"faiss.knn, top {TOP}, bare",
    )
    one, sampled = protocol(pairs, queries, gallery)
    weights = query_weights(QUERIES, RESAMPLES, 0)
    plain, with_bootstrap = [], []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for row in rows_of(one, pairs, sampled, (5, 9)):
            row.value()
        plain.append(time.perf_counter() - started)
        started = time.perf_counter()
        score(one, pairs, sampled, ks=(5, 9), weights=weights)
        with_bootstrap.append(time.perf_counter() - started)
    print(f"  {RESAMPLES:,} resamples of all metrics on top: {median(with_bootstrap) - median(plain):.2f} s")


if __name__ == "__main__":
    main()
