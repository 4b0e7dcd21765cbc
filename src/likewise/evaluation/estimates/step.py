"""Whole-catalog estimates of a workspace: its pool's design, its labels and its vectors in, a table and facts out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import polars as pl

from likewise.discovery.designs.units import CatalogUnits, catalog_units
from likewise.discovery.pool import QueryGallery
from likewise.evaluation.estimates.chances import Ints
from likewise.evaluation.estimates.draw import labelled_draw
from likewise.evaluation.estimates.estimate import CatalogEstimates, estimate_catalog
from likewise.evaluation.estimates.scores import ranked_blocks
from likewise.evaluation.measurements import EncoderVectors

CATALOG_SCHEMA = pl.Schema(
    {
        "encoder": pl.String,
        "measure": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "standard_error": pl.Float64,
        "n_queries": pl.Int64,
        "n_pairs": pl.Int64,
    }
)
DIFFERENCE_SCHEMA = pl.Schema(
    {
        "measure": pl.String,
        "encoder_a": pl.String,
        "encoder_b": pl.String,
        "difference": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
    }
)


@dataclass(frozen=True)
class CatalogFacts:
    """How many pairs of the whole catalog are similar, and what share of them was found; for these queries.

    `unit` is what candidates are counted by. Intervals are of 95 %, over draws.
    """

    design: str
    unit: str
    n_queries: int
    n_pairs: int
    n_labelled: int
    n_found: int
    n_similar: float
    n_similar_low: float
    n_similar_high: float
    prevalence: float
    recall: float | None
    recall_low: float | None
    recall_high: float | None


@dataclass(frozen=True)
class WholeCatalog:
    """Values of every encoder and measure, differences between encoders, and facts about the pairs."""

    values: pl.DataFrame
    differences: pl.DataFrame
    facts: CatalogFacts


def estimate_whole_catalog(
    pool: pl.DataFrame,
    labels: pl.DataFrame,
    query_gallery: QueryGallery,
    vectors: Mapping[str, EncoderVectors],
    encoders: Sequence[str],
    *,
    design: str,
    ks: tuple[int, ...],
    one_per_item: bool = True,
    seed: int = 0,
) -> WholeCatalog | None:
    """From a pool whose pairs were drawn; None before there are labels of both kinds for two queries."""
    units = catalog_units(query_gallery, one_per_item)
    drawn = labelled_draw(pool, labels, query_gallery.queries, query_gallery.gallery, units)
    if drawn.n_queries < 2 or drawn.label.min() == drawn.label.max():
        return None
    kept = replace(units, query_items=units.query_items[drawn.queries])
    chosen = {name: _of_queries(vectors[name], drawn.queries) for name in encoders}
    found = estimate_catalog(partial(ranked_blocks, chosen, encoders, kept), encoders, drawn, ks, seed)
    facts = _facts(found, kept, design, "item" if one_per_item else "image")
    return WholeCatalog(_values(found), _differences(found), facts)


def _of_queries(vectors: EncoderVectors, rows: Ints) -> EncoderVectors:
    return vectors[0][rows], vectors[1]


def _values(found: CatalogEstimates) -> pl.DataFrame:
    rows = [
        (encoder, measure, one.value, *one.share_interval(), one.standard_error, len(one.influence), found.n_labelled)
        for encoder, by_measure in zip(found.encoders, found.by_encoder, strict=True)
        for measure, one in by_measure.items()
    ]
    return pl.DataFrame(rows, schema=CATALOG_SCHEMA, orient="row")


def _differences(found: CatalogEstimates) -> pl.DataFrame:
    rows = []
    for (a, of_a), (b, of_b) in combinations(zip(found.encoders, found.by_encoder, strict=True), 2):
        for measure, one in of_a.items():
            apart = one.minus(of_b[measure])
            rows.append((measure, a, b, apart.value, *apart.interval()))
    return pl.DataFrame(rows, schema=DIFFERENCE_SCHEMA, orient="row")


def _facts(found: CatalogEstimates, units: CatalogUnits, design: str, unit: str) -> CatalogFacts:
    n_queries = units.n_queries
    low, high = found.positives.interval(these_queries=True)
    similar = max(found.positives.value * n_queries, float(found.n_found))
    low, high = max(low * n_queries, float(found.n_found)), max(high * n_queries, float(found.n_found))
    return CatalogFacts(
        design,
        unit,
        n_queries,
        units.n_pairs,
        found.n_labelled,
        found.n_found,
        similar,
        low,
        high,
        similar / units.n_pairs,
        found.n_found / similar if similar else None,
        found.n_found / high if high else None,
        found.n_found / low if low else None,
    )
