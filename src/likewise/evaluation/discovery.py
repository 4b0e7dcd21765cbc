"""The discovery protocol (VSD, sec. 6.3): any model against the experts' labels, with intervals.

For each encoder: its top-k lists (best image of each item, the query's own item dropped) and its scores of the
judged pairs; from them HR@k, MRR@k, NDCG@k, judged@k, and ROC-AUC and PR-AUC, micro and macro, against labelled and
against sampled negatives. The result is one long table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from likewise.evaluation.auc import Floats, Ints, average_precision, roc_auc, sort_pairs
from likewise.evaluation.bootstrap import RESAMPLES, Interval, interval_from, query_weights
from likewise.evaluation.hits import discounted_gain, hit_rate, judged, look_up_labels, reciprocal_rank
from likewise.evaluation.micro_auc import MAX_INTERVAL_BINS, micro_auc, unweighted_micro_auc
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.query_sums import QuerySums
from likewise.search import as_unit, pair_scores, top_k, top_k_and_band
from likewise.search.scores import Floats as Vectors

KS = (5, 9)
ANNOTATED, SAMPLED = "annotated", "sampled"
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
    band: Ints | None = None  # candidates further down, for sampled negatives
    sampled_scores: Floats | None = None


@dataclass(frozen=True)
class Row:
    """One metric of one encoder before it becomes a line of the table: its value under any query weights."""

    metric: str
    average: str
    negatives: str
    pairs: JudgedPairs
    sums: QuerySums | None = None  # None for micro averages, which are no ratio of sums over queries
    scores: Floats = field(default_factory=lambda: np.empty(0))
    whole: float = float("nan")  # a micro average of all queries

    @property
    def key(self) -> tuple[str, str, str]:
        return self.metric, self.average, self.negatives

    @property
    def n_queries(self) -> int:
        return len(np.unique(self.pairs.query)) if self.sums is None else self.sums.n_defined

    def value(self) -> float:
        if self.sums is None:
            return self.whole
        return float(self.sums.resampled(np.ones((1, len(self.pairs.queries))))[0])

    def resampled(self, weights: Floats, max_bins: int | None = MAX_INTERVAL_BINS) -> Floats:
        if self.sums is not None:
            return self.sums.resampled(weights)
        areas = micro_auc(self.pairs.query, self.scores, self.pairs.label, weights, max_bins=max_bins)
        return areas[0] if self.metric == "ROC-AUC" else areas[1]


def measure(
    encoder: str,
    pairs: JudgedPairs,
    query_vectors: Vectors,
    gallery_vectors: Vectors,
    k: int,
    band: tuple[int, int] | None = None,
) -> Measured:
    """Search and score with one encoder's vectors (rows in the order of `pairs.queries` and `pairs.gallery`)."""
    query_vectors = as_unit(query_vectors, f"{encoder} vectors")
    gallery_vectors = as_unit(gallery_vectors, f"{encoder} vectors")
    own, groups = pairs.query_items, pairs.gallery_items
    scores = pair_scores(query_vectors, gallery_vectors, pairs.query, pairs.candidate)
    if band is None:
        found = top_k(query_vectors, gallery_vectors, k, query_groups=own, gallery_groups=groups, one_per_group=True)
        return Measured(encoder, scores, found.indices)
    found, between = top_k_and_band(query_vectors, gallery_vectors, k, band, query_groups=own, gallery_groups=groups)
    return Measured(encoder, scores, found.indices, between)


def rows_of(one: Measured, pairs: JudgedPairs, sampled: JudgedPairs | None, ks: Sequence[int]) -> list[Row]:
    """Every metric of one encoder."""
    rows = []
    listed = look_up_labels(one.lists, pairs.query, pairs.candidate, pairs.label, len(pairs.gallery))
    rows += [Row(f"HR@{k}", "", "", pairs, hit_rate(listed, k, pairs.has_positive)) for k in ks]
    rows += [Row(f"MRR@{k}", "", "", pairs, reciprocal_rank(listed, k, pairs.has_positive)) for k in ks]
    rows += [Row(f"NDCG@{k}", "", "", pairs, discounted_gain(listed, k, pairs.n_positive)) for k in ks]
    rows += [Row(f"judged@{k}", "", "", pairs, judged(listed, one.lists, k)) for k in ks]
    kinds = [(ANNOTATED, pairs, one.scores)]
    if sampled is not None and one.sampled_scores is not None:
        kinds.append((SAMPLED, sampled, one.sampled_scores))
    for negatives, judged_pairs, scores in kinds:
        by_query = sort_pairs(judged_pairs.query, scores, judged_pairs.label, len(judged_pairs.queries))
        per_query = (roc_auc(by_query), average_precision(by_query))
        whole = unweighted_micro_auc(scores, judged_pairs.label)
        for metric, each, micro in zip(("ROC-AUC", "PR-AUC"), per_query, whole, strict=True):
            rows.append(Row(metric, "macro", negatives, judged_pairs, QuerySums.mean_of(each)))
            rows.append(Row(metric, "micro", negatives, judged_pairs, None, scores, micro))
    return rows


@dataclass(frozen=True)
class Scored:
    """One encoder's metrics with their resamples, for the table and for comparisons between encoders."""

    encoder: str
    rows: list[Row]
    values: list[float]
    resampled: list[Floats]
    jackknife: list[Floats] | None = None  # values with one query left out, for BCa intervals

    def left_out(self, place: int) -> Floats | None:
        return None if self.jackknife is None else self.jackknife[place]


def score(
    one: Measured,
    pairs: JudgedPairs,
    sampled: JudgedPairs | None = None,
    *,
    ks: Sequence[int] = KS,
    weights: Floats,
    kind: Interval = "percentile",
) -> Scored:
    """Values and resamples of every metric of one encoder."""
    rows = rows_of(one, pairs, sampled, ks)
    left_out = _resampled(rows, 1.0 - np.eye(len(pairs.queries))) if kind == "bca" else None
    return Scored(one.encoder, rows, [row.value() for row in rows], _resampled(rows, weights), left_out)


def _resampled(rows: Sequence[Row], weights: Floats) -> list[Floats]:
    micro: dict[str, tuple[Floats, Floats]] = {}
    resampled = []
    for row in rows:
        if row.sums is None:  # ROC-AUC and PR-AUC of one list share the work
            if row.negatives not in micro:
                micro[row.negatives] = micro_auc(
                    row.pairs.query, row.scores, row.pairs.label, weights, max_bins=MAX_INTERVAL_BINS
                )
            resampled.append(micro[row.negatives][0 if row.metric == "ROC-AUC" else 1])
        else:
            resampled.append(row.sums.resampled(weights))
    return resampled


def scored_table(scored: Sequence[Scored], generators: Sequence[str]) -> pl.DataFrame:
    """The long table: one row per encoder, metric, average and kind of negatives."""
    lines = []
    for one in scored:
        for place, (row, value) in enumerate(zip(one.rows, one.values, strict=True)):
            ends = interval_from(value, one.resampled[place], one.left_out(place))
            counted = (value, *ends, row.n_queries, len(row.pairs.queries), len(row.pairs))
            lines.append((one.encoder, one.encoder in generators, *row.key, *counted))
    table = pl.DataFrame(lines, schema=RESULT_SCHEMA, orient="row")
    return table.with_columns(pl.col("value", "low", "high").fill_nan(None))


def result_table(
    measured: Sequence[Measured],
    pairs: JudgedPairs,
    generators: Sequence[str],
    *,
    ks: Sequence[int] = KS,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> pl.DataFrame:
    """Measured encoders to the long table, against labelled negatives, in one step."""
    weights = query_weights(len(pairs.queries), n_resamples, seed)
    return scored_table([score(one, pairs, ks=ks, weights=weights) for one in measured], generators)
