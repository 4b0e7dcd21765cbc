"""How much of today's catalog the labels still cover, and how far a number may be off because of what they do not.

P@k is a mean over the first k places of every query's list. A place that nobody has labelled may hold either answer,
and so may every place of an image that could be a query today, but came after the queries were chosen. The share of
such places is how far P@k may be off, at most. Where labels were drawn with known chances, places of pairs that a
labelled draw ranged over are estimated for, with an interval of their own; only those of newer pairs are unknown.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.catalog import items_of, read_catalog, select_catalog_rows
from likewise.discovery.pool import FIRST_ROUND, pairs_to_label
from likewise.discovery.step import Pool, lacks_queries, pool_part, read_pool
from likewise.discovery.versions import image_versions
from likewise.encoders.storage.reading import common_images, read_vectors, vectors_parts
from likewise.labeling.state import labels_part, read_votes_or_reason
from likewise.labeling.step import current_labels
from likewise.labeling.votes import PAIR
from likewise.neighbours import NO_INDEX, top_k
from likewise.workspace import WorkspaceFolder

DEPTH = 5


@dataclass(frozen=True)
class CatalogCoverage:
    """`off_by`: for each model the share of its first `k` places that the labels cannot speak for."""

    n_images: int
    n_covered_images: int
    n_pairs: int
    n_labelled_pairs: int
    n_open_pairs: int  # that updates brought, and that have no label yet
    k: int
    off_by: dict[str, float]

    @property
    def share_of_images(self) -> float:
        return self.n_covered_images / self.n_images

    @property
    def share_of_pairs(self) -> float:
        return self.n_labelled_pairs / self.n_pairs


def catalog_coverage(workspace: WorkspaceFolder) -> CatalogCoverage | None:
    """None before there are a pool and labels."""
    if not pool_part(workspace).usable or lacks_queries(workspace):
        return None
    labelled = labels_part(workspace, read_votes_or_reason(workspace))
    if not (labelled.usable or labelled.automatic):
        return None
    pool, labels, catalog = read_pool(workspace), current_labels(workspace), read_catalog(workspace)
    asked = pairs_to_label(pool.rows)
    n_labelled = len(asked.join(labels, on=PAIR, how="semi"))
    brought = pairs_to_label(pool.rows.filter(pl.col("round") > FIRST_ROUND))
    usable = [part.name.partition("/")[2] for part in vectors_parts(workspace) if part.usable]
    new_queries = _share_of_new_queries(workspace, pool, catalog)
    off_by = {
        name: new_queries + (1.0 - new_queries) * _share_unknown(workspace, name, pool, labels, catalog)
        for name in usable
        if name
    }
    return CatalogCoverage(
        len(select_catalog_rows(catalog, pool.settings.gallery)),
        len(pool.query_gallery.gallery),
        len(asked),
        n_labelled,
        len(brought.join(labels, on=PAIR, how="anti")),
        DEPTH,
        off_by,
    )


def _share_of_new_queries(workspace: WorkspaceFolder, pool: Pool, catalog: pl.DataFrame) -> float:
    """Of the items that could be asked about today, how many came after the queries were chosen."""
    if workspace.as_of is not None:
        return 0.0
    may_be = select_catalog_rows(catalog, pool.settings.queries or pool.settings.gallery)
    known = image_versions(workspace, pool.versions, may_be["image"].to_list()).any(axis=1)
    n_known = may_be.filter(pl.Series(known))["item"].n_unique()
    return 1.0 - n_known / max(1, may_be["item"].n_unique())


def _share_unknown(
    workspace: WorkspaceFolder, encoder: str, pool: Pool, labels: pl.DataFrame, catalog: pl.DataFrame
) -> float:
    """Of the first places of today's lists of the pool's queries."""
    item = dict(zip(catalog["image"], items_of(catalog).tolist(), strict=True))
    queries = common_images(workspace, [encoder], pool.query_gallery.queries)
    gallery = common_images(
        workspace, [encoder], select_catalog_rows(catalog, pool.settings.gallery)["image"].to_list()
    )
    found = top_k(
        read_vectors(workspace, encoder, queries),
        read_vectors(workspace, encoder, gallery),
        min(DEPTH, len(gallery)),
        query_groups=np.array([item[image] for image in queries]),
        gallery_groups=np.array([item[image] for image in gallery]),
        one_per_group=True,
    ).indices
    row, rank = np.nonzero(found != NO_INDEX)
    images = np.array(gallery, dtype=object)[found[row, rank]]
    places = pl.DataFrame({"query": np.array(queries, dtype=object)[row], "candidate": images})
    if pool.settings.design == "eds":
        return len(places.join(labels, on=PAIR, how="anti")) / max(1, len(places))
    new = places.filter(~pl.col("candidate").is_in(pool.query_gallery.gallery))
    return (len(new) + _n_undrawn(workspace, places.join(new, on=PAIR, how="anti"), pool, labels)) / max(1, len(places))


def _n_undrawn(workspace: WorkspaceFolder, places: pl.DataFrame, pool: Pool, labels: pl.DataFrame) -> int:
    """Places whose pair an update brought into play, and whose query has no label of that update's round yet."""
    if not pool.update_rounds or workspace.as_of is not None:
        return 0
    sides = (image_versions(workspace, pool.versions, places[name].to_list()) for name in PAIR)
    together = np.bitwise_and(*sides)
    bits = np.unpackbits(together.view(np.uint8), axis=1, bitorder="little")
    first = np.argmax(bits, axis=1)
    rounds = np.array([0, *pool.update_rounds])[np.minimum(first, len(pool.update_rounds))]
    answered = pool.rows.join(labels, on=PAIR, how="semi").select("query", "round").unique()
    asked = places.with_columns(round=pl.Series(rounds, dtype=pl.Int32)).filter(pl.col("round") > 0)
    return len(asked.join(answered, on=["query", "round"], how="anti"))
