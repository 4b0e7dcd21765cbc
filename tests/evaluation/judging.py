"""Small judged sets for the tests of the protocols."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from likewise.evaluation.discovery import (
    DEFAULT_MEASURES,
    EncoderScores,
    estimate_measures,
    ranked_results,
    results_table,
)
from likewise.evaluation.gallery_negatives import draw_gallery_negatives
from likewise.evaluation.measures import Measure
from likewise.evaluation.pairs import JudgedPairs


def random_pairs(
    rng: np.random.Generator, n_queries: int = 12, n_gallery: int = 40, per_query: int = 10, positive_share: float = 0.4
) -> JudgedPairs:
    """Every query with `per_query` judged candidates; queries and gallery show different items."""
    candidate = np.concatenate([rng.choice(n_gallery, per_query, replace=False) for _ in range(n_queries)])
    return JudgedPairs(
        [f"q{row:02}" for row in range(n_queries)],
        [f"c{row:03}" for row in range(n_gallery)],
        np.arange(n_queries) + 1000,
        np.arange(n_gallery),
        np.repeat(np.arange(n_queries), per_query),
        candidate.astype(np.int64),
        (rng.random(n_queries * per_query) < positive_share).astype(np.int8),
    )


def model(
    name: str, pairs: JudgedPairs, rng: np.random.Generator, skill: float, levels: int | None = None
) -> EncoderScores:
    """A model whose scores of judged pairs follow the labels with some skill, and whose lists follow its scores."""
    everything = rng.random((len(pairs.queries), len(pairs.gallery)))
    everything[pairs.query, pairs.candidate] += skill * pairs.label
    if levels:
        everything = np.round(everything * levels) / levels
    lists = np.argsort(-everything, axis=1, kind="stable")[:, :9]
    gallery = gallery_of(pairs)
    scores, from_gallery = everything[pairs.query, pairs.candidate], everything[gallery.query, gallery.candidate]
    return EncoderScores(name, scores, lists, item_scores=scores, gallery_scores=from_gallery)


def gallery_of(pairs: JudgedPairs) -> JudgedPairs:
    """The positives against the rest of the gallery."""
    return draw_gallery_negatives(pairs, seed=0)


def result_table(
    scored: Sequence[EncoderScores],
    pairs: JudgedPairs,
    generators: Sequence[str] = (),
    *,
    measures: Sequence[Measure] = DEFAULT_MEASURES,
) -> pl.DataFrame:
    """The long table of models whose scores and lists are given."""
    return results_table(
        [
            estimate_measures(one.encoder, ranked_results(one, pairs, gallery=gallery_of(pairs)), measures)
            for one in scored
        ],
        generators,
    )


def pool_of(pairs: JudgedPairs, measured: list[EncoderScores], k: int = 6) -> pl.DataFrame:
    """The pool these models would have made."""
    rows = [
        (pairs.queries[query], pairs.gallery[candidate], one.encoder, rank, 0.0)
        for one in measured
        for query, listed in enumerate(one.lists)
        for rank, candidate in enumerate(listed[:k])
    ]
    return pl.DataFrame(rows, schema=["query", "candidate", "generator", "rank", "score"], orient="row")
