"""The pool (VSD, Eq. 1): for each query and generator the k best candidates; the union is what experts label.

One row per (query, candidate, generator) with its zero-based rank and score: a pair that two generators
propose keeps both. Rows of the generator `random` are pairs drawn uniformly from all admissible ones (of a query and an
item, or of a query and an image), for the prevalence estimate; those of `drawn` were drawn by a design with unequal
probabilities. Every row has the inclusion probability of its pair, 1 for a generator's own candidates, and the round in
which it was drawn.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from likewise.catalog import items_of
from likewise.discovery.unit import IMAGES, ITEMS, PairCounter, Unit
from likewise.errors import LikewiseError
from likewise.files import locked
from likewise.neighbours import NO_INDEX, Neighbours, top_k
from likewise.neighbours.scores import Floats, Rows
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_note

RANDOM = "random"
DRAWN = "drawn"
PICKED = "picked"  # by somebody who looked at models
IMPORTED = "imported"  # a label of elsewhere that names no generator
FIRST_ROUND = 1
PAIR = ("query", "candidate")
POOL_SCHEMA = pl.Schema(
    {
        "query": pl.String,
        "candidate": pl.String,
        "generator": pl.String,
        "rank": pl.Int32,
        "score": pl.Float64,
        "probability": pl.Float64,
        "round": pl.Int32,
    }
)

POOL_NOTE = {"settings": {"generators": [str]}, "rests_on": {"catalog": str, "items": str}, "queries": [str]}


def read_pool_note(workspace: WorkspaceFolder) -> dict[str, Any]:
    """How the stored pool was made, and what it rests on."""
    return read_note(workspace.pool_settings_file, POOL_NOTE)


@dataclass(frozen=True)
class QueryGallery:
    """The queries and the gallery of a pool (sorted by key), with a number per item; A is all pairs between them
    that show different items."""

    queries: list[str]
    gallery: list[str]
    query_items: Rows
    gallery_items: Rows

    @staticmethod
    def from_catalog(catalog: pl.DataFrame, queries: Iterable[str], gallery: Iterable[str]) -> "QueryGallery":
        item = dict(zip(catalog["image"], items_of(catalog).tolist(), strict=True))
        queries, gallery = sorted(queries), sorted(gallery)
        if not queries or not gallery:
            raise LikewiseError(
                "a pool needs at least one query and one gallery image: choose a wider --queries or --gallery."
            )
        return QueryGallery(
            queries,
            gallery,
            np.array([item[image] for image in queries], dtype=np.int64),
            np.array([item[image] for image in gallery], dtype=np.int64),
        )

    @property
    def n_pairs(self) -> int:
        """|A|: all (query, gallery image) pairs of different items."""
        return len(self.queries) * len(self.gallery) - int(self._own_images().sum())

    @property
    def n_item_pairs(self) -> int:
        """All (query, gallery item) pairs of different items: the brute-force cost when one image per item is shown."""
        items = np.unique(self.gallery_items)
        return len(self.queries) * len(items) - int(np.isin(self.query_items, items).sum())

    def counter(self, unit: Unit) -> PairCounter:
        """How pairs are counted in this unit."""
        if unit == IMAGES:
            return PairCounter(unit, self.n_pairs)
        item_of = pl.DataFrame({"image": self.gallery, "item": self.gallery_items})
        return PairCounter(unit, self.n_item_pairs, item_of)

    def _own_images(self) -> Rows:
        """For each query, how many gallery images show its own item."""
        sizes = np.bincount(self.gallery_items, minlength=int(self.query_items.max()) + 1)
        return np.asarray(sizes[self.query_items], dtype=np.int64)


def propose_pairs(
    generator: str,
    query_gallery: QueryGallery,
    query_vectors: Floats,
    gallery_vectors: Floats,
    k: int,
    *,
    one_per_item: bool = True,
    on_progress: ProgressCallback | None = None,
) -> pl.DataFrame:
    """One generator's candidates: its k best for every query (S_k^m)."""
    neighbours = top_k(
        query_vectors,
        gallery_vectors,
        k,
        query_groups=query_gallery.query_items,
        gallery_groups=query_gallery.gallery_items,
        one_per_group=one_per_item,
        on_progress=on_progress,
    )
    return candidate_rows(generator, query_gallery, neighbours)


def candidate_rows(generator: str, query_gallery: QueryGallery, neighbours: Neighbours) -> pl.DataFrame:
    """Neighbours found for a generator as rows of the pool."""
    if generator in (RANDOM, DRAWN, PICKED, IMPORTED):
        raise LikewiseError(f"an encoder cannot be called {generator!r}: that name marks pairs of a pool.")
    query, rank = np.nonzero(neighbours.indices != NO_INDEX)
    candidate = neighbours.indices[query, rank]
    return pl.DataFrame(
        {
            "query": np.array(query_gallery.queries, dtype=object)[query],
            "candidate": np.array(query_gallery.gallery, dtype=object)[candidate],
            "generator": [generator] * len(query),
            "rank": rank,
            "score": neighbours.scores[query, rank],
            "probability": np.ones(len(query)),
            "round": np.full(len(query), FIRST_ROUND),
        },
        schema=POOL_SCHEMA,
        strict=False,
    )


def draw_random_pairs(query_gallery: QueryGallery, n_pairs: int, seed: int, unit: Unit = ITEMS) -> pl.DataFrame:
    """`n_pairs` different pairs, uniform over all admissible ones of the unit (all of them if there are no more).

    A pair of a query and an item is shown as one image of the item, drawn at random.
    """
    rng = np.random.default_rng(seed)
    by_target = np.argsort(query_gallery.gallery_items, kind="stable")  # the images of an item side by side
    if unit == IMAGES:
        target_items, first = query_gallery.gallery_items, np.arange(len(by_target))
        by_target = first
    else:
        target_items, first = np.unique(query_gallery.gallery_items[by_target], return_index=True)
    n_images = np.diff(np.append(first, len(by_target)))
    wanted = min(n_pairs, query_gallery.counter(unit).n_all_pairs)
    width = len(target_items)
    chosen: dict[int, None] = {}
    while len(chosen) < wanted:
        cells = rng.integers(0, len(query_gallery.queries) * width, size=2 * (wanted - len(chosen)) + 16)
        admissible = query_gallery.query_items[cells // width] != target_items[cells % width]
        chosen.update(dict.fromkeys(cells[admissible].tolist()))
    cells = np.sort(np.array(list(chosen)[:wanted], dtype=np.int64))
    target = cells % width
    shown = by_target[first[target] + (rng.random(wanted) * n_images[target]).astype(np.int64)]
    return pl.DataFrame(
        {
            "query": [query_gallery.queries[row] for row in cells // width],
            "candidate": [query_gallery.gallery[row] for row in shown],
            "generator": [RANDOM] * len(cells),
            "rank": [None] * len(cells),
            "score": [None] * len(cells),
            "probability": [wanted / query_gallery.counter(unit).n_all_pairs] * len(cells),
            "round": [FIRST_ROUND] * len(cells),
        },
        schema=POOL_SCHEMA,
    )


def pool_pairs(pool: pl.DataFrame) -> pl.DataFrame:
    """The candidates S_k: each distinct pair once, with its best rank and how many generators proposed it."""
    return (
        pool.filter(pl.col("generator") != RANDOM)
        .group_by("query", "candidate")
        .agg(best_rank=pl.col("rank").min(), n_generators=pl.col("generator").n_unique())
        .sort("query", "candidate")
    )


def pairs_to_label(pool: pl.DataFrame) -> pl.DataFrame:
    """Everything experts are asked: candidates and random pairs, each pair once."""
    return pool.select("query", "candidate").unique().sort("query", "candidate")


def apply_budget(pool: pl.DataFrame, seed: int, per_query: int | None, total: int | None) -> pl.DataFrame:
    """Keep whole pairs, best ranks first (then those proposed by more generators, then by lot), up to the budgets."""
    if per_query is None and total is None:
        return pool
    for name, budget in (("per query", per_query), ("in all", total)):
        if budget is not None and budget < 1:
            raise LikewiseError(f"a budget of {budget} pairs {name} leaves nothing to label: give at least 1.")
    pairs = pool_pairs(pool)
    draw = np.random.default_rng(seed).permutation(len(pairs))
    pairs = pairs.with_columns(draw=draw).sort("best_rank", "n_generators", "draw", descending=[False, True, False])
    if per_query is not None:
        pairs = pairs.filter(pl.int_range(pl.len()).over("query") < per_query)
    if total is not None:
        pairs = pairs.head(total)
    kept = pool.filter(pl.col("generator") != RANDOM).join(pairs, on=["query", "candidate"], how="semi")
    return pl.concat([kept, pool.filter(pl.col("generator") == RANDOM)])


def sort_pool(pool: pl.DataFrame) -> pl.DataFrame:
    """The order in which a pool is stored: by query, generator, rank; random pairs by candidate."""
    return pool.sort("query", "generator", "rank", "candidate", nulls_last=True)


@contextmanager
def choosing_pairs(workspace: WorkspaceFolder) -> Iterator[None]:
    """Keep a second process from making another pool at the same time."""
    busy = f"another process chooses pairs for {workspace.path}: wait until it is done."
    with locked(workspace.path / "discover", busy):
        yield
