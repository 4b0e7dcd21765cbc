"""The discovery protocol (VSD, sec. 6.3): any encoder against the experts' labels, with intervals.

For each encoder: its top-k lists (best image of each item, the query's own item dropped) and its scores of the judged
pairs; from them every measure, with its interval. The result is one long table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from likewise.evaluation.auc import Ints
from likewise.evaluation.measures import AP, ROC_AUC, VSD_MRR, Judged, Measure, P, nDCG
from likewise.evaluation.measures.ranked import PairScores, RankedResults, look_up_grades, look_up_labels
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.query_items import over_items, shared_items
from likewise.evaluation.query_sums import Floats
from likewise.intervals import Estimate, interval_of
from likewise.neighbours import as_unit, pair_scores, top_k, top_k_and_band
from likewise.neighbours.scores import Floats as Vectors

KS = (5, 9)
RESULT_SCHEMA = pl.Schema(
    {
        "encoder": pl.String,
        "generator": pl.Boolean,
        "learned": pl.Boolean,
        "measure": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "n_queries": pl.Int64,
        "n_queries_total": pl.Int64,
        "n_pairs": pl.Int64,
    }
)


def default_measures(ks: Sequence[int] = KS) -> tuple[Measure, ...]:
    """Gallery ROC_AUC, the VSD paper's measures, nDCG and Judged at every k, areas against both its negatives."""
    lists = [measure @ k for measure in (P, VSD_MRR, nDCG, Judged) for k in ks]
    areas = [area(average=average) for area in (ROC_AUC, AP) for average in ("macro", "micro")]
    return (ROC_AUC(negatives="gallery"), *lists, *areas, *(area(negatives="sampled") for area in areas))


DEFAULT_MEASURES = default_measures()


@dataclass(frozen=True)
class EncoderScores:
    """What one encoder did: a score for every judged pair, and its first candidates for every query.

    `item_scores` and `gallery_scores`, of the judged pairs and of those with items drawn from the gallery, are the
    scores of the items' best images.
    """

    encoder: str
    scores: Floats
    lists: Ints
    band: Ints | None = None  # candidates further down, for sampled negatives
    sampled_scores: Floats | None = None
    item_scores: Floats | None = None
    gallery_scores: Floats | None = None


def score_encoder(
    encoder: str,
    pairs: JudgedPairs,
    query_vectors: Vectors,
    gallery_vectors: Vectors,
    k: int,
    band: tuple[int, int] | None = None,
) -> EncoderScores:
    """Search and score with one encoder's vectors (rows in the order of `pairs.queries` and `pairs.gallery`)."""
    query_vectors = as_unit(query_vectors, f"{encoder} vectors")
    gallery_vectors = as_unit(gallery_vectors, f"{encoder} vectors")
    own, groups = pairs.query_items, pairs.gallery_items
    scores = pair_scores(query_vectors, gallery_vectors, pairs.query, pairs.candidate)
    if band is None:
        found = top_k(query_vectors, gallery_vectors, k, query_groups=own, gallery_groups=groups, one_per_group=True)
        return EncoderScores(encoder, scores, found.indices)
    found, between = top_k_and_band(query_vectors, gallery_vectors, k, band, query_groups=own, gallery_groups=groups)
    return EncoderScores(encoder, scores, found.indices, between)


def ranked_results(
    one: EncoderScores,
    pairs: JudgedPairs,
    sampled: JudgedPairs | None = None,
    gallery: JudgedPairs | None = None,
) -> RankedResults:
    """One encoder's scores and lists, with the labels beside them."""
    where = one.lists, pairs.query, pairs.candidate
    listed, grades = look_up_labels(*where, pairs.label, len(pairs.gallery)), None
    if pairs.grade is not None:
        grades = look_up_grades(*where, pairs.grade, len(pairs.gallery), one.lists.shape[1])
    return RankedResults(
        listed,
        pairs.n_positive,
        _pair_scores(pairs, one.scores),
        _pair_scores(sampled, one.sampled_scores),
        _pair_scores(gallery, one.gallery_scores),
        grades,
    )


def _pair_scores(pairs: JudgedPairs | None, scores: Floats | None) -> PairScores | None:
    if pairs is None or scores is None:
        return None
    return PairScores(pairs.query, pairs.candidate, scores, pairs.label, len(pairs.queries))


@dataclass(frozen=True)
class MeasureEstimate:
    """A measure of one encoder, and how many judged pairs it rests on."""

    estimate: Estimate
    over_items: Estimate  # the same, where queries that show one item are one: for intervals and tests
    n_pairs: int  # labelled pairs: negatives that were drawn are not counted


@dataclass(frozen=True)
class EncoderEstimates:
    """One encoder's measures, for the table and for comparisons between encoders."""

    encoder: str
    n_queries: int
    by_measure: dict[Measure, MeasureEstimate]


def estimate_measures(
    encoder: str, results: RankedResults, measures: Sequence[Measure], query_items: Ints | None = None
) -> EncoderEstimates:
    """Every measure of one encoder; those that ask for pairs it has not are left out.

    `query_items` says which queries show one item.
    """
    found, items = {}, shared_items(query_items)
    for measure in measures:
        if (pairs := measure.pairs_of(results)) is not None:
            n_labelled = len(pairs.label) if pairs is results.annotated else int(pairs.n_positive.sum())
            estimate = measure.estimate(results)
            found[measure] = MeasureEstimate(estimate, over_items(estimate, items), n_labelled)
    return EncoderEstimates(encoder, len(results.n_positive), found)


def results_table(
    estimates: Sequence[EncoderEstimates], generators: Sequence[str] = (), learned: Sequence[str] = ()
) -> pl.DataFrame:
    """The long table: one row per encoder and measure; `learned` are encoders that know the answers."""
    rows = []
    for one in estimates:
        for measure, found in one.by_measure.items():
            ends = interval_of(found.over_items)
            counted = found.estimate.n_defined, one.n_queries, found.n_pairs
            marks = one.encoder in generators, one.encoder in learned
            rows.append((one.encoder, *marks, str(measure), found.estimate.value(), *ends, *counted))
    table = pl.DataFrame(rows, schema=RESULT_SCHEMA, orient="row")
    return table.with_columns(pl.col("value", "low", "high").fill_nan(None))
