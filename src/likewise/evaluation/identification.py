"""Identification (VSD, Table 4): does a model find the other images of the query's own item? And why that is another
question than similarity (RQ3).

The truth is the other images of the query's item, so only the query image itself is left out and lists keep every
image. HR@k and MRR@k are divided by what was possible, min(k, other images); Recall@k counts queries with any hit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.evaluation.auc import Ints
from likewise.evaluation.bootstrap import Interval, interval_from, interval_of
from likewise.evaluation.discovery import KS
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.query_sums import Floats, QuerySums
from likewise.evaluation.rank_correlation import kendall, spearman
from likewise.search import NO_INDEX, as_unit, top_k
from likewise.search.scores import Floats as Vectors

MAIN = "HR@5"


@dataclass(frozen=True)
class Identified:
    """One encoder's identification metrics, per query."""

    encoder: str
    sums: dict[str, QuerySums]


def identify(
    encoder: str, pairs: JudgedPairs, query_vectors: Vectors, gallery_vectors: Vectors, ks: Sequence[int] = KS
) -> Identified:
    """Find each query's other images; queries whose item has none in the gallery are undefined."""
    place = {image: row for row, image in enumerate(pairs.gallery)}
    itself = np.array([place.get(image, NO_INDEX - 1) for image in pairs.queries], dtype=np.int64)
    found = top_k(
        as_unit(query_vectors), as_unit(gallery_vectors), max(ks), query_groups=itself, gallery_groups=_rows(pairs)
    ).indices
    hit = (pairs.gallery_items[found] == pairs.query_items[:, None]) & (found != NO_INDEX)
    sizes = np.bincount(pairs.gallery_items, minlength=int(pairs.query_items.max()) + 1)[pairs.query_items]
    n_others = sizes - (itself >= 0)
    sums = {}
    for k in ks:
        gains = 1.0 / np.arange(1, k + 1)
        possible = np.minimum(k, n_others)
        best = np.concatenate([[0.0], np.cumsum(gains)])[possible]
        sums[f"HR@{k}"] = _mean(hit[:, :k].sum(axis=1), possible)
        sums[f"MRR@{k}"] = _mean(hit[:, :k] @ gains[: hit[:, :k].shape[1]], best)
        sums[f"Recall@{k}"] = _mean(hit[:, :k].any(axis=1), n_others > 0)
    return Identified(encoder, sums)


def _rows(pairs: JudgedPairs) -> Ints:
    return np.arange(len(pairs.gallery))


def _mean(
    numerator: np.ndarray[tuple[int], np.dtype[np.generic]], denominator: np.ndarray[tuple[int], np.dtype[np.generic]]
) -> QuerySums:
    possible = denominator.astype(np.float64)
    value = np.divide(numerator.astype(np.float64), possible, out=np.full(len(possible), np.nan), where=possible > 0)
    return QuerySums.mean_of(value)


def identification_table(
    identified: Sequence[Identified], weights: Floats, kind: Interval = "percentile"
) -> pl.DataFrame:
    """One row per encoder and metric, with intervals; `n_queries` of `n_queries_total` have another image."""
    lines = []
    for one in identified:
        for metric, sums in one.sums.items():
            low, high = interval_of(sums, weights, kind)
            lines.append((one.encoder, metric, sums.value(), low, high, sums.n_defined, len(sums.numerator)))
    return pl.DataFrame(
        lines,
        schema={
            "encoder": pl.String,
            "metric": pl.String,
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

    n_models: int
    spearman: float | None = None
    spearman_low: float | None = None
    spearman_high: float | None = None
    kendall: float | None = None
    kendall_low: float | None = None
    kendall_high: float | None = None


def compare_orders(
    identification: Mapping[str, QuerySums],
    discovery: Mapping[str, QuerySums],
    weights: Floats,
    kind: Interval = "percentile",
) -> TwoOrders:
    """Rank correlations between two metrics over the same models, the queries resampled for both together."""
    names = [name for name in identification if name in discovery]
    if len(names) < 2:
        return TwoOrders(len(names))
    both = [[metric[name] for name in names] for metric in (identification, discovery)]
    now = [np.array([[one.value()] for one in metric]) for metric in both]
    drawn = [np.array([one.resampled(weights) for one in metric]) for metric in both]
    without = [np.array([one.jackknife() for one in metric]) for metric in both] if kind == "bca" else None
    numbers: list[float | None] = []
    for correlation in (spearman, kendall):
        value = _each(correlation, now)[0]
        ends = interval_from(value, _each(correlation, drawn), None if without is None else _each(correlation, without))
        numbers += [None if np.isnan(number) else float(number) for number in (value, *ends)]
    return TwoOrders(len(names), *numbers)


def _each(correlation: Callable[[Floats, Floats], float], both: Sequence[Floats]) -> Floats:
    """The correlation of two metrics (models x resamples), one value per resample."""
    return np.array([correlation(a, b) for a, b in zip(both[0].T, both[1].T, strict=True)])
