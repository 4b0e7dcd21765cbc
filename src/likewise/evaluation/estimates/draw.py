"""Which labels of a workspace belong to its design, and with which inclusion probability.

A drawn pair without a label (not asked yet, or nobody could tell) is taken as left out by chance: experts meet pairs in
random order, so the probability of the labelled ones is multiplied by the share of the query's pairs that are labelled.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.discovery.designs.units import CatalogUnits
from likewise.errors import LikewiseError
from likewise.evaluation.estimates.chances import Floats, Ints


@dataclass(frozen=True)
class LabelledDraw:
    """Pairs of a design that are labelled: rows of queries, units, inclusion probabilities and labels.

    Sorted by query and unit, each pair once. `queries` are the rows of the catalog's queries that have a label at all,
    and `query` counts among them.
    """

    queries: Ints
    query: Ints
    unit: Ints
    probability: Floats
    label: Floats

    @property
    def n_queries(self) -> int:
        return len(self.queries)


def labelled_draw(
    pool: pl.DataFrame, labels: pl.DataFrame, queries: list[str], gallery: list[str], units: CatalogUnits
) -> LabelledDraw:
    """The labelled pairs of a drawn pool; labels of other pairs are left aside."""
    wrong = pool.filter(~pl.col("probability").fill_null(0.0).is_between(0.0, 1.0, closed="right"))
    if len(wrong):
        query, candidate, probability = wrong.select("query", "candidate", "probability").row(0)
        raise LikewiseError(
            f"inclusion probabilities are above 0 and at most 1, but {len(wrong)} of the pool's are not (first: "
            f"{query} and {candidate}, {probability}): draw the pairs again with `likewise discover --replace`."
        )
    rows = (
        pool.select("query", "candidate", "probability")
        .join(pl.DataFrame({"query": queries, "row": np.arange(len(queries))}), on="query")
        .join(pl.DataFrame({"candidate": gallery, "unit": units.unit_of_image}), on="candidate")
        .join(labels.select("query", "candidate", "label"), on=["query", "candidate"], how="left")
        .with_columns(share=pl.col("label").count().over("row") / pl.len().over("row"))
        .filter(pl.col("label").is_not_null())
        .sort("row", "unit")
    )
    kept, place = np.unique(rows["row"].to_numpy(), return_inverse=True)
    return LabelledDraw(
        kept.astype(np.int64),
        place.astype(np.int64),
        rows["unit"].to_numpy().astype(np.int64),
        (rows["probability"] * rows["share"]).to_numpy(),
        rows["label"].to_numpy().astype(np.float64),
    )
