"""The discovery protocol (VSD, sec. 6.3): any model against the experts' labels, with intervals.

For each encoder: its top-k lists (best image of each item, the query's own item dropped) and its scores of the
judged pairs; from them HR@k, MRR@k, judged@k, ROC-AUC and PR-AUC, micro and macro. The result is one long table.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.evaluation.auc import Floats, Ints, average_precision, roc_auc, sort_pairs
from likewise.evaluation.bootstrap import RESAMPLES, percentile_interval, query_weights
from likewise.evaluation.hits import hit_rate, judged, look_up_labels, reciprocal_rank
from likewise.evaluation.micro import micro_auc
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.sums import QuerySums
from likewise.search import as_unit, pair_scores, top_k
from likewise.search.scores import Floats as Vectors

KS = (5, 9)
ANNOTATED = "annotated"
RESULT_SCHEMA = pl.Schema(
    {
        "encoder": pl.String,
        "generator": pl.Boolean,
        "metric": pl.String,
        "average": pl.String,
        "negatives": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "n_queries": pl.Int64,
        "n_queries_total": pl.Int64,
        "n_pairs": pl.Int64,
    }
)


@dataclass(frozen=True)
class Measured:
    """What one encoder did: a score for every judged pair, and its first candidates for every query."""

    encoder: str
    scores: Floats
    lists: Ints


def measure(encoder: str, pairs: JudgedPairs, query_vectors: Vectors, gallery_vectors: Vectors, k: int) -> Measured:
    """Search and score with one encoder's vectors (rows in the order of `pairs.queries` and `pairs.gallery`)."""
    query_vectors = as_unit(query_vectors, f"{encoder} vectors")
    gallery_vectors = as_unit(gallery_vectors, f"{encoder} vectors")
    neighbours = top_k(
        query_vectors,
        gallery_vectors,
        k,
        query_groups=pairs.query_items,
        gallery_groups=pairs.gallery_items,
        one_per_group=True,
    )
    return Measured(encoder, pair_scores(query_vectors, gallery_vectors, pairs.query, pairs.candidate), neighbours.rows)


def result_table(
    measured: Iterable[Measured],
    pairs: JudgedPairs,
    generators: Sequence[str],
    *,
    ks: Sequence[int] = KS,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> pl.DataFrame:
    """The long table: one row per encoder, metric and average; the same resamples for every encoder."""
    weights = query_weights(len(pairs.queries), n_resamples, seed)
    rows = []
    for one in measured:
        for (metric, average, negatives), sums in _sums(one, pairs, ks).items():
            low, high = percentile_interval(sums.resampled(weights))
            counted = (sums.value(), low, high, sums.n_defined, len(pairs.queries), len(pairs))
            rows.append((one.encoder, one.encoder in generators, metric, average, negatives, *counted))
        for metric, (value, low, high) in _micro(one, pairs, weights).items():
            n_judged = len(np.unique(pairs.query))
            counted = (value, low, high, n_judged, len(pairs.queries), len(pairs))
            rows.append((one.encoder, one.encoder in generators, metric, "micro", ANNOTATED, *counted))
    table = pl.DataFrame(rows, schema=RESULT_SCHEMA, orient="row")
    return table.with_columns(pl.col("value", "low", "high").fill_nan(None))


def _sums(one: Measured, pairs: JudgedPairs, ks: Sequence[int]) -> Mapping[tuple[str, str, str], QuerySums]:
    """Every metric that is a ratio of sums over queries, keyed by (metric, average, negatives)."""
    sums: dict[tuple[str, str, str], QuerySums] = {}
    listed = look_up_labels(one.lists, pairs.query, pairs.candidate, pairs.label, len(pairs.gallery))
    for k in ks:
        sums[f"HR@{k}", "", ""] = hit_rate(listed, k, pairs.has_positive)
    for k in ks:
        sums[f"MRR@{k}", "", ""] = reciprocal_rank(listed, k, pairs.has_positive)
    for k in ks:
        sums[f"judged@{k}", "", ""] = judged(listed, one.lists, k)
    by_query = sort_pairs(pairs.query, one.scores, pairs.label, len(pairs.queries))
    sums["ROC-AUC", "macro", ANNOTATED] = QuerySums.mean_of(roc_auc(by_query))
    sums["PR-AUC", "macro", ANNOTATED] = QuerySums.mean_of(average_precision(by_query))
    return sums


def _micro(one: Measured, pairs: JudgedPairs, weights: Floats) -> Mapping[str, tuple[float, float, float]]:
    """Micro ROC-AUC and PR-AUC: value, low, high."""
    every = np.vstack([np.ones((1, len(pairs.queries))), weights])
    areas = micro_auc(pairs.query, one.scores, pairs.label, every)
    return {
        metric: (float(area[0]), *percentile_interval(area[1:]))
        for metric, area in zip(("ROC-AUC", "PR-AUC"), areas, strict=True)
    }
