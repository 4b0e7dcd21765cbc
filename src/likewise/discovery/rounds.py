"""The next round of a pool that is drawn in rounds: what was drawn and labelled so far in, a longer pool out.

Pairs that somebody picked by looking at models belong to no design, and their labels judge nobody. The next round takes
them in with certainty (probability 1): what is drawn beside them is drawn after they were picked, among all pairs left,
so the round's estimate stays unbiased however they were chosen.
"""

from dataclasses import replace

import numpy as np
import polars as pl

from likewise.discovery.designs.adaptive import RoundsSoFar, draw_round, list_depth
from likewise.discovery.designs.drawing import Ints
from likewise.discovery.designs.drawn_pool import drawn_rows, lists_of_units
from likewise.discovery.designs.frame import PairFrame
from likewise.discovery.designs.pair_features import LabelledPairs, VectorView
from likewise.discovery.designs.units import CatalogUnits, catalog_units
from likewise.discovery.pool import PICKED, POOL_SCHEMA, QueryGallery, sort_pool
from likewise.discovery.proposals import picked_pairs
from likewise.discovery.step import Pool, round_sizes, search_generators
from likewise.discovery.unit import ITEMS
from likewise.discovery.versions import pair_frame
from likewise.encoders.storage.reading import common_images, read_vectors
from likewise.errors import LikewiseError
from likewise.neighbours import as_unit
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder


def last_round(pool: Pool) -> int:
    """The number of the last round that was drawn, whether by the design or after an update."""
    return max(int(pool.rows["round"].max()), *pool.update_rounds, 0)  # type: ignore[arg-type]


def rounds_done(pool: Pool) -> int:
    """How many rounds of the design were drawn; those after an update do not count."""
    return last_round(pool) - len(pool.update_rounds)


def extend_by_round(
    workspace: WorkspaceFolder, pool: Pool, labels: pl.DataFrame, on_progress: ProgressCallback | None = None
) -> Pool:
    """The pool with one round more, drawn in the light of these labels; nothing is written.

    Every encoder that has vectors of all images helps to predict, one trained on the votes as well. In a catalog that
    was updated the rounds of the design go on among the pairs they began with.
    """
    settings, query_gallery = pool.settings, pool.query_gallery
    if settings.design != "adaptive" or settings.purpose is None:
        raise LikewiseError(
            f"the pairs of this pool were chosen by the design {settings.design}, which has no rounds: make one that "
            "has with `likewise discover --design adaptive --replace`."
        )
    done = rounds_done(pool)
    if done >= settings.n_rounds:
        raise LikewiseError(f"all {settings.n_rounds} rounds of this design are drawn: start another with --replace.")
    frame = (
        pair_frame(workspace, pool.versions, query_gallery, settings.unit).first_version()
        if pool.update_rounds
        else None
    )
    return draw_adaptive_round(workspace, pool, labels, round_sizes(settings)[done], frame, on_progress)


def draw_adaptive_round(
    workspace: WorkspaceFolder,
    pool: Pool,
    labels: pl.DataFrame,
    n_labels: int,
    frame: PairFrame | None,
    on_progress: ProgressCallback | None = None,
) -> Pool:
    """The pool with a round of so many pairs more, among those of the frame."""
    settings, query_gallery = pool.settings, pool.query_gallery
    assert settings.purpose is not None
    number = last_round(pool) + 1
    units = catalog_units(query_gallery, settings.unit == ITEMS)
    images = sorted({*query_gallery.queries, *query_gallery.gallery})
    encoders = [name for name in workspace.encoders() if len(common_images(workspace, [name], images)) == len(images)]
    depth = list_depth(len(query_gallery.queries), len(encoders), units.n_units)
    found = search_generators(workspace, settings, encoders, query_gallery, depth, on_progress)
    lists = [found[name].neighbours.indices for name in encoders]
    views = [vector_view(workspace, name, query_gallery, units) for name in encoders]
    rng = np.random.default_rng([settings.seed, number])
    taken_in = rows_of_next_round(pool, picked_pairs(workspace), frame)
    so_far = rounds_so_far(pl.concat([pool.rows, taken_in]), labels, query_gallery, units)
    drawn = draw_round(views, units, lists_of_units(lists, units), so_far, n_labels, settings.purpose, rng, frame)
    rows = drawn_rows(drawn, query_gallery, lists, units, number, rng)
    return replace(pool, rows=sort_pool(pl.concat([pool.rows, taken_in, rows])))


def rows_of_next_round(pool: Pool, picked: pl.DataFrame, frame: PairFrame | None = None) -> pl.DataFrame:
    """Picked pairs that the design ranges over and has not drawn, as certain pairs of the next round (if any).

    `frame`: the pairs that this round may draw, if not all.
    """
    query_gallery, number = pool.query_gallery, last_round(pool) + 1
    if pool.settings.design != "adaptive" or (frame is None and rounds_done(pool) >= pool.settings.n_rounds):
        return pl.DataFrame(schema=POOL_SCHEMA)
    units = catalog_units(query_gallery, pool.settings.unit == ITEMS)
    drawn = _pairs(pool.rows.select("query", "candidate"), query_gallery, units)
    there = _pairs(picked.sort("query", "candidate"), query_gallery, units).join(drawn, on=["row", "unit"], how="anti")
    there = there.unique(["row", "unit"], keep="first", maintain_order=True)
    others = units.query_items[_column(there, "row")] != units.unit_items[_column(there, "unit")]
    if frame is not None:
        others &= frame.holds(_column(there, "row"), _column(there, "unit"))
    certain = there.filter(pl.Series(others, dtype=pl.Boolean)).select("query", "candidate")
    values = {"generator": PICKED, "rank": None, "score": None, "probability": 1.0, "round": number}
    columns = [pl.lit(value, POOL_SCHEMA[name]).alias(name) for name, value in values.items()]
    return certain.with_columns(columns).select(list(POOL_SCHEMA))


def vector_view(
    workspace: WorkspaceFolder, encoder: str, query_gallery: QueryGallery, units: CatalogUnits
) -> VectorView:
    """How an encoder sees queries and units, from its stored vectors."""
    sides = (read_vectors(workspace, encoder, images) for images in (query_gallery.queries, query_gallery.gallery))
    queries, gallery = (as_unit(side, f"{encoder} vectors") for side in sides)
    return VectorView.of(queries, gallery, units)


def rounds_so_far(
    pool: pl.DataFrame, labels: pl.DataFrame, query_gallery: QueryGallery, units: CatalogUnits
) -> RoundsSoFar:
    """Drawn pairs and labels by rows of queries and units; labels of pairs that were not drawn help to predict."""
    drawn = _pairs(pool.select("query", "candidate"), query_gallery, units).unique(["row", "unit"]).sort("row", "unit")
    known = _pairs(labels.select("query", "candidate", "label"), query_gallery, units)
    known = known.group_by("row", "unit").agg(pl.col("label").max()).sort("row", "unit")
    if known["label"].n_unique() < 2:
        raise LikewiseError(
            f"all {len(known)} labels so far are alike: without similar and other pairs there is nothing to learn the "
            "next round from."
        )
    labelled = LabelledPairs(_column(known, "row"), _column(known, "unit"), _column(known, "label").astype(np.float64))
    return RoundsSoFar(_column(drawn, "row"), _column(drawn, "unit"), labelled)


def _pairs(table: pl.DataFrame, query_gallery: QueryGallery, units: CatalogUnits) -> pl.DataFrame:
    queries = pl.DataFrame({"query": query_gallery.queries, "row": np.arange(len(query_gallery.queries))})
    gallery = pl.DataFrame({"candidate": query_gallery.gallery, "unit": units.unit_of_image})
    return table.join(queries, on="query").join(gallery, on="candidate")


def _column(table: pl.DataFrame, name: str) -> Ints:
    return np.asarray(table[name].to_numpy(), dtype=np.int64)
