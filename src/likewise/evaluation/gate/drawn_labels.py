"""The difference of two models over the whole catalog, where the labels were drawn with known probabilities.

Unlabelled results need no bounds then: the estimates of `evaluation/estimates` stand for every pair of the catalog.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.discovery.designs.units import CatalogUnits, catalog_units
from likewise.discovery.pool import QueryGallery
from likewise.discovery.step import Pool
from likewise.discovery.unit import ITEMS
from likewise.evaluation.estimates.arrival import not_at_random
from likewise.evaluation.estimates.draw import LabelledDraw, labelled_draw
from likewise.evaluation.estimates.estimate import estimate_catalog
from likewise.evaluation.estimates.scores import ranked_blocks
from likewise.evaluation.gate.decision import EstimatedDifference
from likewise.evaluation.measurements import EncoderVectors
from likewise.evaluation.measures import CutoffMeasure
from likewise.evaluation.pairs import JudgedPairs

MIN_QUERIES = 10  # a category with fewer has no estimate worth a test


@dataclass(frozen=True)
class DrawnDifferences:
    """The difference overall and by category, and both models' values by group ("" is overall).

    `untested` are the categories without an estimate, with how many of their queries have labels.
    """

    overall: EstimatedDifference
    categories: dict[str, EstimatedDifference]
    values: dict[str, tuple[float, float]]
    untested: dict[str, int]

    def notes(self) -> list[str]:
        """Which categories have no verdict of their own; nothing where all have one."""
        if not self.untested:
            return []
        listed = ", ".join(f"{name} ({n})" for name, n in self.untested.items())
        return [
            f"Not tested as categories of their own, for want of queries with drawn labels (at least {MIN_QUERIES}, "
            f"some of their pairs similar): {listed}."
        ]


def drawn_differences(
    pool: Pool,
    labels: pl.DataFrame,
    pairs: JudgedPairs,
    vectors: Mapping[str, EncoderVectors],
    measure: CutoffMeasure,
    category: NDArray[np.str_],
    seed: int,
) -> DrawnDifferences | None:
    """New minus old, `vectors` being those of the old and of the new model; None where there is no estimate."""
    if pool.settings.design == "eds" or not_at_random(pool.rows, labels, pool.update_rounds):
        return None
    asked = QueryGallery(pairs.queries, pairs.gallery, pairs.query_items, pairs.gallery_items)
    units = catalog_units(asked, one_per_item=pool.settings.unit == ITEMS)
    names = np.unique(category).tolist() if len(np.unique(category)) > 1 else []
    found, n_queries = {}, {}
    for name in ("", *names):
        mine = pl.Series([query for query, of in zip(asked.queries, category, strict=True) if name in ("", of)])
        rows = pool.rows.filter(pl.col("query").is_in(mine.implode()))
        drawn = labelled_draw(
            rows,
            labels,
            asked.queries,
            asked.gallery,
            units,
            update_rounds=pool.update_rounds,
            purpose=pool.settings.purpose,
        )
        n_queries[name] = drawn.n_queries
        if drawn.n_queries >= MIN_QUERIES:
            found[name] = _estimate(drawn, units, vectors, measure, seed)
    known = {name: one for name, one in found.items() if one is not None}
    if "" not in known:
        return None
    differences = {name: one[0] for name, one in known.items()}
    values = {name: one[1] for name, one in known.items()}
    untested = {name: n_queries[name] for name in names if name not in known}
    return DrawnDifferences(differences.pop(""), differences, values, untested)


def _estimate(
    drawn: LabelledDraw,
    units: CatalogUnits,
    vectors: Mapping[str, EncoderVectors],
    measure: CutoffMeasure,
    seed: int,
) -> tuple[EstimatedDifference, tuple[float, float]] | None:
    """The difference, and the values of both; None for measures without an estimate, or labels of one kind only."""
    if drawn.label.min() == drawn.label.max():
        return None
    kept = replace(units, query_items=units.query_items[drawn.queries])
    of_queries = {name: (each[0][drawn.queries], each[1]) for name, each in vectors.items()}
    names = list(of_queries)
    found = estimate_catalog(partial(ranked_blocks, of_queries, names, kept), names, drawn, (measure.cutoff,), seed)
    if str(measure) not in found.by_encoder[0]:
        return None
    old, new = (each[str(measure)] for each in found.by_encoder)
    difference = new.minus(old)
    estimated = EstimatedDifference.of(difference.value, difference.standard_error, difference.influence)
    return estimated, (old.value, new.value)
