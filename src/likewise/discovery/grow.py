"""A pool after its catalog was updated: the same design over the images of today, and only pairs that are new to it.

Queries that are still there stay, and so do those that come back; every image that was never seen before becomes one
with the chance that the first ones had. A pair is new if its images were never there together when the pool was made or
grown: EDS lists today's candidates of every query, and what it listed before keeps its round; designs that draw do so
among the new pairs alone, the sampled one with the probabilities that it gives them today, the adaptive one by what it
learned from the labels so far. Together with the earlier draws every pair of the catalog has had a known chance.
"""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from likewise.catalog import read_catalog, select_catalog_rows
from likewise.catalog.versions import read_history, read_versions, rows_at
from likewise.discovery.designs.drawing import (
    Ints,
    PairWeights,
    Probabilities,
    draw_pairs,
    inclusion_probabilities,
)
from likewise.discovery.designs.drawn_pool import drawn_rows, lists_of_units
from likewise.discovery.designs.frame import PairFrame, UnlistedInFrame
from likewise.discovery.designs.sampled import LIST_DEPTH, sampled_weights
from likewise.discovery.designs.units import CatalogUnits, catalog_units
from likewise.discovery.engines import SearchEngine
from likewise.discovery.pool import PAIR, POOL_SCHEMA, RANDOM, QueryGallery, apply_budget, candidate_rows, sort_pool
from likewise.discovery.queries import sample_queries
from likewise.discovery.rounds import draw_adaptive_round
from likewise.discovery.step import LABELS_PER_QUERY, Pool, PoolSettings, search_generators
from likewise.discovery.stored_pool import StoredPool, read_stored_pool
from likewise.discovery.unit import ITEMS
from likewise.discovery.versions import every_pool_row, image_versions, pair_frame
from likewise.encoders.storage.reading import common_images
from likewise.errors import LikewiseError
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

SHARE_OF_DESIGN = 0.9  # of the labels that new pairs would get in a pool made anew (docs/living.md)


@dataclass(frozen=True)
class GrownPool:
    """The pool of today, and how many pairs and queries it asks about that it did not before."""

    pool: Pool
    round: int
    n_new_pairs: int
    n_new_queries: int

    def n_labelled(self, labels: pl.DataFrame | None) -> int:
        """How many of the new pairs have a label already: from a gate, or as candidates that had left a list."""
        new = self.pool.rows.filter(pl.col("round") == self.round).select(PAIR).unique()
        return 0 if labels is None else len(new.join(labels, on=PAIR, how="semi"))


def grow_pool(
    workspace: WorkspaceFolder,
    n_labels: int | None = None,
    on_progress: ProgressCallback | None = None,
    engine: SearchEngine | None = None,
    labels: pl.DataFrame | None = None,
) -> GrownPool:
    """The stored pool for the catalog of now; nothing is written. `n_labels`: pairs to draw, by designs that draw.

    `labels` are what the adaptive design learns from; before there are any it draws as the sampled one does.
    """
    note = read_stored_pool(workspace)
    if note is None:
        raise LikewiseError(f"there is no pool in {workspace.path} yet: run `likewise discover {workspace.quoted}`.")
    settings, versions = note.settings, note.versions
    latest = read_versions(workspace)[-1].version
    seen = _usable_images(workspace, note)
    queries, pictures = _queries(workspace, note, seen)
    query_gallery = QueryGallery.from_catalog(seen, queries, select_catalog_rows(seen, settings.gallery)["image"])
    every = every_pool_row(workspace)
    number = max(int(every["round"].max() or 0), *note.update_rounds, 0) + 1  # type: ignore[arg-type]
    rng = np.random.default_rng([settings.seed, latest])
    units = catalog_units(query_gallery, settings.unit == ITEMS)
    frame = pair_frame(workspace, versions, query_gallery, settings.unit)
    pool = Pool(every, settings, query_gallery, {}, (*versions, latest), tuple(pictures), note.update_rounds)
    if settings.design == "eds":
        rows = _propose(workspace, settings, query_gallery, every, number, on_progress, engine)
        rows = pl.concat([rows, _random_pairs(query_gallery, units, frame, every, number, rng)])
    else:
        kept = every.filter(
            pl.col("query").is_in(query_gallery.queries) & pl.col("candidate").is_in(query_gallery.gallery)
        )
        pool = replace(pool, rows=kept)
        n_first = _n_first_queries(workspace, note)
        per_query = SHARE_OF_DESIGN * (settings.n_labels or LABELS_PER_QUERY * n_first) / n_first
        new = _NewPairs.find(workspace, settings, query_gallery, units, frame, per_query, n_labels, on_progress, engine)
        if settings.design == "adaptive" and labels is not None and labels["label"].n_unique() > 1:
            longer = draw_adaptive_round(workspace, pool, labels, round(new.n_expected), frame, on_progress)
            rows = longer.rows
        else:
            rows = pl.concat([kept, new.draw(query_gallery, units, number, rng)])
    n_new = rows.filter(pl.col("round") == number).select(PAIR).n_unique()
    n_queries = len(set(pictures) - set(note.query_pictures))
    pool = replace(pool, rows=sort_pool(rows), update_rounds=(*note.update_rounds, number))
    return GrownPool(pool, number, n_new, n_queries)


def _usable_images(workspace: WorkspaceFolder, note: StoredPool) -> pl.DataFrame:
    """Today's images that every generator has a vector of, with `picture`, and `known` where the pool has seen them."""
    now = rows_at(read_history(workspace), read_versions(workspace)[-1].version)
    images = read_catalog(workspace)["image"].to_list()
    usable = now.filter(pl.col("image").is_in(common_images(workspace, note.settings.generators, images)))
    masks = image_versions(workspace, note.versions, usable["image"].to_list())
    return usable.with_columns(known=pl.Series(masks.any(axis=1)))


def _n_first_queries(workspace: WorkspaceFolder, note: StoredPool) -> int:
    first = rows_at(read_history(workspace), note.versions[0])["picture"]
    return max(1, int(first.is_in(list(note.query_pictures)).sum()))


def _queries(workspace: WorkspaceFolder, note: StoredPool, seen: pl.DataFrame) -> tuple[list[str], list[str]]:
    """Keys of today's queries, and the pictures of all that ever were queries."""
    settings, versions = note.settings, note.versions
    rule = settings.queries or settings.gallery
    old = seen.filter(pl.col("picture").is_in(list(note.query_pictures)))["image"].to_list()
    known_items = seen.filter("known")["item"].implode()
    may_be = select_catalog_rows(seen, rule)
    fresh = may_be.filter(~pl.col("known") & ~pl.col("item").is_in(known_items))
    first = select_catalog_rows(rows_at(read_history(workspace), versions[0]), rule)["item"].n_unique()
    expected = fresh["item"].n_unique() * _n_first_queries(workspace, note) / first
    rng = np.random.default_rng([settings.seed, versions[-1], len(fresh)])
    n_new = int(expected + rng.random())  # to the next whole number, up or down, so that it is right on average
    if not old and not n_new:
        fresh, n_new = may_be, min(settings.n_queries, may_be["item"].n_unique())
    seed = settings.seed + read_versions(workspace)[-1].version
    new = sample_queries(fresh, n_new, seed, by_category=settings.by_category) if n_new and len(fresh) else []
    drawn = seen.filter(pl.col("image").is_in(new))["picture"].to_list()
    return sorted({*old, *new}), sorted({*note.query_pictures, *drawn})


def _propose(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    query_gallery: QueryGallery,
    every: pl.DataFrame,
    number: int,
    on_progress: ProgressCallback | None,
    engine: SearchEngine | None,
) -> pl.DataFrame:
    """Today's candidates of every generator; a pair that was listed before keeps the round in which it came."""
    found = search_generators(workspace, settings, settings.generators, query_gallery, settings.k, on_progress, engine)
    proposed = pl.concat([candidate_rows(name, query_gallery, one.neighbours) for name, one in found.items()])
    proposed = apply_budget(proposed, settings.seed, settings.per_query_budget, settings.total_budget)
    before = every.group_by(PAIR).agg(before=pl.col("round").min())
    joined = proposed.join(before, on=PAIR, how="left", maintain_order="left")
    return joined.with_columns(round=pl.coalesce("before", pl.lit(number, pl.Int32))).select(POOL_SCHEMA.names())


def _random_pairs(
    query_gallery: QueryGallery,
    units: CatalogUnits,
    frame: PairFrame,
    every: pl.DataFrame,
    number: int,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Random pairs that are still there, and as large a share of the pairs that are new."""
    drawn = every.filter(pl.col("generator") == RANDOM)
    kept = drawn.filter(pl.col("query").is_in(query_gallery.queries) & pl.col("candidate").is_in(query_gallery.gallery))
    probability = float(drawn["probability"].max() or 0.0) if len(drawn) else 0.0  # type: ignore[arg-type]
    images = np.array(query_gallery.gallery, dtype=object)
    shown = {int(unit): place for place, unit in enumerate(units.unit_of_image)}
    rows = []
    for row, query in enumerate(query_gallery.queries):
        free = frame.units(row) & (units.unit_items != units.query_items[row])
        hits = np.flatnonzero(free & (rng.random(len(free)) < probability))
        rows += [(query, images[shown[int(unit)]], RANDOM, None, None, probability, number) for unit in hits]
    return pl.concat([kept, pl.DataFrame(rows, schema=POOL_SCHEMA, orient="row")])


@dataclass(frozen=True)
class _NewPairs:
    """Pairs that are new, with the probabilities that the whole design gives them today, or in proportion to them."""

    weights: PairWeights
    chances: Probabilities
    unlisted: UnlistedInFrame
    lists: list[Ints]

    @property
    def n_expected(self) -> float:
        """How many of them are drawn, on average."""
        return float(self.chances.listed.sum() + (self.weights.tail_size * self.chances.tail).sum())

    @staticmethod
    def find(
        workspace: WorkspaceFolder,
        settings: PoolSettings,
        query_gallery: QueryGallery,
        units: CatalogUnits,
        frame: PairFrame,
        per_query: float,
        n_labels: int | None,
        on_progress: ProgressCallback | None,
        engine: SearchEngine | None,
    ) -> "_NewPairs":
        depth = min(LIST_DEPTH, len(query_gallery.gallery))
        found = search_generators(workspace, settings, settings.generators, query_gallery, depth, on_progress, engine)
        lists = [one.neighbours.indices for one in found.values()]
        sizes = np.minimum(max(1, round(per_query)), units.n_admissible)
        weights, unlisted = sampled_weights(lists_of_units(lists, units), units.query_items, units.unit_items, sizes)
        chances = inclusion_probabilities(weights, sizes)
        new = frame.holds(weights.query, weights.candidate)
        places = unlisted.listed_query, unlisted.listed_candidate, unlisted.query_items, unlisted.gallery_items
        others = UnlistedInFrame(*places, frame)
        tail_size = others.sizes()
        pairs = PairWeights(
            weights.query[new], weights.candidate[new], weights.weight[new], tail_size, weights.tail_weight
        )
        tail = np.where(tail_size > 0, chances.tail, 0.0)
        made = _NewPairs(pairs, Probabilities(chances.listed[new], tail), others, lists)
        if n_labels is None or not made.n_expected:
            return made
        factor = n_labels / made.n_expected
        listed, tail = (np.minimum(1.0, factor * chance) for chance in (chances.listed[new], tail))
        return replace(made, chances=Probabilities(listed, tail))

    def draw(
        self, query_gallery: QueryGallery, units: CatalogUnits, number: int, rng: np.random.Generator
    ) -> pl.DataFrame:
        """As rows of the pool."""
        drawn = draw_pairs(self.weights, self.chances, self.unlisted, rng)
        return drawn_rows(drawn, query_gallery, self.lists, units, number, rng)
