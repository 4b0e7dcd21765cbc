"""Identification (VSD, Table 4): does a model find the other images of the query's own item? And why that is another
question than similarity (RQ3).

The truth is the other images of the query's item, so only the query image itself is left out and lists keep every
image. Recall_cap@k (the paper's HR@k) is divided by min(k, other images), VSD_MRR@k (its MRR@k) by H_k, whatever there
is to find: only so can Argus-ID find everything (HR 99.9 at 5 and 9) and fall from MRR@5 91.8 to MRR@9 83.2. Success@k
counts queries with any hit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.evaluation.auc import Ints
from likewise.evaluation.bootstrap import RESAMPLES, percentile_interval, query_weights
from likewise.evaluation.discovery import KS
from likewise.evaluation.measures import VSD_MRR, CutoffMeasure, Measure, Recall_cap, Success
from likewise.evaluation.measures.ranked import PADDING, RankedResults
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.query_items import over_items, shared_items
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.rank_correlation import kendall_by_column, spearman_by_column
from likewise.intervals import interval_of
from likewise.neighbours import NO_INDEX, as_unit, top_k
from likewise.neighbours.scores import Floats as Vectors

MAIN = Recall_cap @ 5


@dataclass(frozen=True)
class Identified:
    """One encoder's identification measures, per query."""

    encoder: str
    sums: dict[CutoffMeasure, QuerySums]


def identify(
    encoder: str, pairs: JudgedPairs, query_vectors: Vectors, gallery_vectors: Vectors, ks: Sequence[int] = KS
) -> Identified:
    """Find each query's other images; queries whose item has none in the gallery are undefined."""
    place = {image: row for row, image in enumerate(pairs.gallery)}
    itself = np.array([place.get(image, NO_INDEX - 1) for image in pairs.queries], dtype=np.int64)
    queries, gallery, own = as_unit(query_vectors), as_unit(gallery_vectors), np.arange(len(pairs.gallery))
    found = top_k(queries, gallery, max(ks), query_groups=itself, gallery_groups=own).indices
    hit = (pairs.gallery_items[found] == pairs.query_items[:, None]) & (found != NO_INDEX)
    sizes = np.bincount(pairs.gallery_items, minlength=int(pairs.query_items.max()) + 1)[pairs.query_items]
    n_others = sizes - (itself >= 0)
    listed = np.where(found == NO_INDEX, PADDING, hit.astype(np.int64))
    results = RankedResults(listed, n_others)
    measures = [measure @ k for k in ks for measure in (Recall_cap, VSD_MRR, Success)]
    return Identified(encoder, {measure: measure.estimate(results) for measure in measures})


def identification_table(identified: Sequence[Identified], query_items: Ints | None = None) -> pl.DataFrame:
    """One row per encoder and measure, with intervals; `n_queries` of `n_queries_total` have another image."""
    lines, items = [], shared_items(query_items)
    for one in identified:
        for measure, sums in one.sums.items():
            low, high = interval_of(over_items(sums, items))
            lines.append((one.encoder, str(measure), sums.value(), low, high, sums.n_defined, len(sums.numerator)))
    return pl.DataFrame(
        lines,
        schema={
            "encoder": pl.String,
            "measure": pl.String,
            "value": pl.Float64,
            "low": pl.Float64,
            "high": pl.Float64,
            "n_queries": pl.Int64,
            "n_queries_total": pl.Int64,
        },
        orient="row",
    ).with_columns(pl.col(pl.Float64).fill_nan(None))


@dataclass(frozen=True)
class TwoOrders:
    """How far the order of the models by identification agrees with their order by discovery."""

    identification: str  # the measure
    n_models: int
    spearman: float | None = None
    spearman_low: float | None = None
    spearman_high: float | None = None
    kendall: float | None = None
    kendall_low: float | None = None
    kendall_high: float | None = None


def compare_orders(
    measure: Measure,
    identification: Mapping[str, QuerySums],
    discovery: Mapping[str, QuerySums],
    seed: int = 0,
) -> TwoOrders:
    """Rank correlations of a measure of identification with discovery, the queries resampled for both together.

    A correlation of a few models' ranks has no standard error worth the name: its ends hold 95 % of the resamples.
    """
    names = [name for name in identification if name in discovery]
    if len(names) < 2:
        return TwoOrders(str(measure), len(names))
    both = [[sums[name] for name in names] for sums in (identification, discovery)]
    now = [np.array([[one.value()] for one in sums]) for sums in both]
    weights = query_weights(len(both[0][0].numerator), RESAMPLES, seed)
    drawn = [np.array([one.resampled(weights) for one in sums]) for sums in both]
    numbers: list[float | None] = []
    for correlations in (spearman_by_column, kendall_by_column):
        value = correlations(*now)[0]
        ends = percentile_interval(correlations(*drawn))
        numbers += [None if np.isnan(number) else float(number) for number in (value, *ends)]
    return TwoOrders(str(measure), len(names), *numbers)
