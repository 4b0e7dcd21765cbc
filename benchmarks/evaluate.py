"""The whole discovery protocol for one encoder against the bare search it needs, and the bootstrap on top.

2,000 queries, 54,170 labels, a gallery of 52,712 x 768: the size of the published benchmark.
"""

import time
from statistics import median

import faiss
import numpy as np

from benchmarks.search import DIM, GALLERY, QUERIES, data
from benchmarks.timing import medians, print_beside
from likewise.evaluation.discovery import (
    DEFAULT_MEASURES,
    EncoderScores,
    estimate_measures,
    ranked_results,
    results_table,
    score_encoder,
)
from likewise.evaluation.gallery_negatives import draw_gallery_negatives
from likewise.evaluation.item_pairs import item_scores
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.sampled_negatives import DEFAULT_SAMPLING, sample_negatives
from likewise.neighbours import pair_scores
from likewise.neighbours.scores import Floats

LABELS, K, TOP, ROUNDS = 54_170, 9, 100, 5


def judged(query_items: np.ndarray, items: np.ndarray) -> JudgedPairs:
    """Labels spread over the queries as in the published run, 85 % of them positive."""
    rng = np.random.default_rng(1)
    query = np.sort(np.concatenate([np.arange(QUERIES), rng.integers(0, QUERIES, LABELS - QUERIES)]))
    candidate = rng.integers(0, GALLERY, LABELS)
    label = (rng.random(LABELS) < 0.848).astype(np.int8)
    queries, gallery = ([f"{kind}{row:06}" for row in range(n)] for kind, n in (("q", QUERIES), ("c", GALLERY)))
    return JudgedPairs(queries, gallery, query_items, items, query, candidate, label)


def protocol(pairs: JudgedPairs, queries: Floats, gallery: Floats) -> tuple[EncoderScores, JudgedPairs, JudgedPairs]:
    """Search, sampled negatives, candidates of the gallery, every measure's value."""
    one = score_encoder("m", pairs, queries, gallery, K, DEFAULT_SAMPLING.band)
    assert one.band is not None
    sampled = sample_negatives(pairs, [one.band], seed=0)
    assert sampled is not None
    from_gallery = draw_gallery_negatives(pairs, seed=0)
    further = pair_scores(queries, gallery, sampled.query, sampled.candidate)
    best = (item_scores(queries, gallery, each) for each in (pairs, from_gallery))
    one = EncoderScores("m", one.scores, one.lists, None, further, *best)
    values(one, pairs, sampled, from_gallery)
    return one, sampled, from_gallery


def values(one: EncoderScores, pairs: JudgedPairs, sampled: JudgedPairs, from_gallery: JudgedPairs) -> list[float]:
    results = ranked_results(one, pairs, sampled, from_gallery)
    return [measure.estimate(results).value() for measure in DEFAULT_MEASURES]


def main() -> None:
    queries, gallery, query_items, items = data()
    pairs = judged(query_items, items)
    seconds = medians(
        {
            f"faiss.knn, top {TOP}, bare": lambda: faiss.knn(queries, gallery, TOP, metric=faiss.METRIC_INNER_PRODUCT),
            "likewise, discovery protocol, every measure": lambda: protocol(pairs, queries, gallery),
        },
        ROUNDS,
    )
    print_beside(
        f"evaluation: {QUERIES:,} queries, {LABELS:,} labels, {GALLERY:,} x {DIM} (medians of {ROUNDS})",
        seconds,
        f"faiss.knn, top {TOP}, bare",
    )
    one, sampled, from_gallery = protocol(pairs, queries, gallery)
    plain, with_intervals = [], []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        values(one, pairs, sampled, from_gallery)
        plain.append(time.perf_counter() - started)
        started = time.perf_counter()
        results_table([estimate_measures("m", ranked_results(one, pairs, sampled, from_gallery), DEFAULT_MEASURES)])
        with_intervals.append(time.perf_counter() - started)
    print(f"  intervals of all measures on top: {median(with_intervals) - median(plain):.2f} s")


if __name__ == "__main__":
    main()
