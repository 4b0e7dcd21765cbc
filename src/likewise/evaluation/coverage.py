"""How much of today's catalog the labels still cover, and how far a number may be off because of what they do not.

P@k is a mean over the first k places of every query's list. A place that nobody could have labelled yet may hold either
answer, so the share of such places is how far P@k may be off, at most. Where labels were drawn with known chances,
places of images that the draw ranged over are estimated for; only those of newer images are not.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.catalog import items_of, read_catalog, select
from likewise.discovery.pool import pairs_to_label
from likewise.discovery.step import Pool, pool_part, read_pool
from likewise.encoders.storage.reading import common_images, read_vectors, vectors_parts
from likewise.labeling.state import labels_part, read_votes_or_reason
from likewise.labeling.step import current_labels
from likewise.neighbours import NO_INDEX, top_k
from likewise.workspace import WorkspaceFolder

DEPTH = 5
PAIR = ["query", "candidate"]


@dataclass(frozen=True)
class CatalogCoverage:
    """`off_by`: for each model the share of its first `k` places that the labels cannot speak for."""

    n_images: int
    n_covered_images: int
    n_pairs: int
    n_labelled_pairs: int
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
    if not pool_part(workspace).usable:
        return None
    labelled = labels_part(workspace, read_votes_or_reason(workspace))
    if not (labelled.usable or labelled.automatic):
        return None
    pool, labels, catalog = read_pool(workspace), current_labels(workspace), read_catalog(workspace)
    asked = pairs_to_label(pool.rows)
    n_labelled = len(asked.join(labels, on=PAIR, how="semi"))
    usable = [part.name.partition("/")[2] for part in vectors_parts(workspace) if part.usable]
    return CatalogCoverage(
        len(select(catalog, pool.settings.gallery)),
        len(pool.query_gallery.gallery),
        len(asked),
        n_labelled,
        DEPTH,
        {name: _share_unknown(workspace, name, pool, labels, catalog) for name in usable if name},
    )


def _share_unknown(
    workspace: WorkspaceFolder, encoder: str, pool: Pool, labels: pl.DataFrame, catalog: pl.DataFrame
) -> float:
    item = dict(zip(catalog["image"], items_of(catalog).tolist(), strict=True))
    queries = common_images(workspace, [encoder], pool.query_gallery.queries)
    gallery = common_images(workspace, [encoder], select(catalog, pool.settings.gallery)["image"].to_list())
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
        unknown = places.join(labels, on=PAIR, how="anti")
    else:
        unknown = places.filter(~pl.col("candidate").is_in(pool.query_gallery.gallery))
    return len(unknown) / max(1, len(places))
