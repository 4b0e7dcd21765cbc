"""A pool after its catalog was updated: the same design over the images of today, and only pairs that are new to it.

Queries that are still there stay, and so do those that come back; every image that was never seen before becomes one
with the chance that the first ones had. A pair is covered if both images were there when the pool was made or added to:
EDS lists today's candidates of every query, and what it listed before keeps its round; pairs that are drawn are drawn
among those not covered, with the probabilities that the design gives them today, so that together with the earlier
draws every pair of the catalog has had a known chance.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog import read_catalog, select
from likewise.catalog.versions import read_history, read_versions, rows_at
from likewise.discovery.designs.drawing import (
    Ints,
    PairWeights,
    Probabilities,
    UnlistedPairs,
    draw_pairs,
    inclusion_probabilities,
)
from likewise.discovery.designs.drawn_pool import drawn_rows, lists_of_units
from likewise.discovery.designs.sampled import LIST_DEPTH, sampled_weights
from likewise.discovery.designs.units import CatalogUnits, catalog_units
from likewise.discovery.engines import SearchEngine
from likewise.discovery.pool import POOL_SCHEMA, RANDOM, QueryGallery, apply_budget, candidate_rows, sort_pool
from likewise.discovery.queries import sample_queries
from likewise.discovery.step import LABELS_PER_QUERY, Pool, PoolSettings, read_pool_note, search_generators
from likewise.discovery.unit import ITEMS
from likewise.discovery.versions import PAIR, every_pool_row
from likewise.encoders.storage.reading import common_images
from likewise.errors import LikewiseError
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

Masks = NDArray[np.uint64]
MOST_VERSIONS = 63  # bits of a mask; earlier versions share the first


@dataclass(frozen=True)
class GrownPool:
    """The pool of today, and how many pairs and queries it asks about that it did not before."""

    pool: Pool
    round: int
    n_new_pairs: int
    n_new_queries: int


@dataclass(frozen=True)
class CoveredPairs:
    """Which pairs the pool ranged over before: a bit for each version of the catalog it was made for."""

    of_query: Masks
    of_unit: Masks

    def uncovered(self, query: Ints, unit: Ints) -> NDArray[np.bool_]:
        return np.asarray((self.of_query[query] & self.of_unit[unit]) == 0)

    def uncovered_units(self, query: int) -> NDArray[np.bool_]:
        return np.asarray((self.of_query[query] & self.of_unit) == 0)


@dataclass(frozen=True)
class UncoveredPairs(UnlistedPairs):
    """Admissible pairs that a design does not list and that were not covered before."""

    covered: CoveredPairs

    def free(self, query: int) -> NDArray[np.bool_]:
        first, last = np.searchsorted(self.listed_query, [query, query + 1])
        free = (self.gallery_items != self.query_items[query]) & self.covered.uncovered_units(query)
        free[self.listed_candidate[first:last]] = False
        return np.asarray(free)

    def sizes(self) -> Ints:
        return np.array([int(self.free(row).sum()) for row in range(len(self.query_items))], dtype=np.int64)

    def pick(self, query: int, n_pairs: int, rng: np.random.Generator) -> Ints:
        return rng.choice(np.flatnonzero(self.free(query)), n_pairs, replace=False)


def grow_pool(
    workspace: WorkspaceFolder,
    n_labels: int | None = None,
    on_progress: ProgressCallback | None = None,
    engine: SearchEngine | None = None,
) -> GrownPool:
    """The stored pool for the catalog of now; nothing is written. `n_labels`: pairs to draw, by the sampled design."""
    settings, versions, query_pictures = read_pool_note(workspace)
    if settings.design == "adaptive":
        raise LikewiseError(
            f"the rounds of an adaptive design belong to one version of the catalog: draw anew with `likewise discover "
            f"{workspace.path} --design adaptive --replace` (votes are kept, and count where their pairs are drawn)."
        )
    latest = read_versions(workspace)[-1].version
    seen = _with_masks(workspace, settings, versions)
    queries, pictures = _queries(workspace, settings, versions, query_pictures, seen)
    over = QueryGallery.from_catalog(seen, queries, select(seen, settings.gallery)["image"])
    every = every_pool_row(workspace)
    number = int(every["round"].max() or 0) + 1  # type: ignore[arg-type]
    rng = np.random.default_rng([settings.seed, latest])
    units = catalog_units(over, settings.unit == ITEMS)
    covered = _covered(over, units, dict(seen.select("image", "mask").iter_rows()))
    if settings.design == "eds":
        rows = _propose(workspace, settings, over, every, number, on_progress, engine)
        rows = pl.concat([rows, _random_pairs(over, units, covered, every, number, rng)])
    else:
        kept = every.filter(pl.col("query").is_in(over.queries) & pl.col("candidate").is_in(over.gallery))
        n_first = _n_first_queries(workspace, versions, query_pictures)
        per_query = (settings.n_labels or LABELS_PER_QUERY * n_first) / n_first
        drawn = _draw(workspace, settings, over, units, covered, per_query, n_labels, number, rng, on_progress, engine)
        rows = pl.concat([kept, drawn])
    pool = Pool(sort_pool(rows), settings, over, {}, (*versions, latest), tuple(pictures))
    n_new = rows.filter(pl.col("round") == number).select(PAIR).n_unique()
    return GrownPool(pool, number, n_new, len(set(pictures) - set(query_pictures)))


def _with_masks(workspace: WorkspaceFolder, settings: PoolSettings, versions: tuple[int, ...]) -> pl.DataFrame:
    """Today's images that every generator has a vector of, with `picture` and `mask`."""
    history = read_history(workspace)
    now = rows_at(history, read_versions(workspace)[-1].version)
    catalog = read_catalog(workspace)
    usable = common_images(workspace, settings.generators, catalog["image"].to_list())
    mask = np.zeros(len(now), dtype=np.uint64)
    for place, version in enumerate(versions):
        there = now["picture"].is_in(rows_at(history, version)["picture"].implode()).to_numpy()
        mask[there] |= np.uint64(1 << min(place, MOST_VERSIONS))
    return now.with_columns(mask=pl.Series(mask)).filter(pl.col("image").is_in(usable))


def _n_first_queries(workspace: WorkspaceFolder, versions: tuple[int, ...], query_pictures: tuple[str, ...]) -> int:
    first = rows_at(read_history(workspace), versions[0])["picture"]
    return max(1, int(first.is_in(list(query_pictures)).sum()))


def _queries(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    versions: tuple[int, ...],
    query_pictures: tuple[str, ...],
    seen: pl.DataFrame,
) -> tuple[list[str], list[str]]:
    """Keys of today's queries, and the pictures of all that ever were queries."""
    rule = settings.queries or settings.gallery
    old = seen.filter(pl.col("picture").is_in(list(query_pictures)))["image"].to_list()
    known_items = seen.filter(pl.col("mask") > 0)["item"].implode()
    may_be = select(seen, rule)
    fresh = may_be.filter((pl.col("mask") == 0) & ~pl.col("item").is_in(known_items))
    first = select(rows_at(read_history(workspace), versions[0]), rule)["item"].n_unique()
    expected = fresh["item"].n_unique() * _n_first_queries(workspace, versions, query_pictures) / first
    rng = np.random.default_rng([settings.seed, versions[-1], len(fresh)])
    n_new = int(expected + rng.random())  # to the next whole number, up or down, so that it is right on average
    if not old and not n_new:
        fresh, n_new = may_be, min(settings.n_queries, may_be["item"].n_unique())
    seed = settings.seed + read_versions(workspace)[-1].version
    new = sample_queries(fresh, n_new, seed, by_category=settings.by_category) if n_new and len(fresh) else []
    drawn = seen.filter(pl.col("image").is_in(new))["picture"].to_list()
    return sorted({*old, *new}), sorted({*query_pictures, *drawn})


def _covered(over: QueryGallery, units: CatalogUnits, mask_of: dict[str, int]) -> CoveredPairs:
    of_query = np.array([mask_of[image] for image in over.queries], dtype=np.uint64)
    of_unit = np.zeros(units.n_units, dtype=np.uint64)
    np.bitwise_or.at(of_unit, units.unit_of_image, np.array([mask_of[image] for image in over.gallery], np.uint64))
    return CoveredPairs(of_query, of_unit)


def _propose(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    over: QueryGallery,
    every: pl.DataFrame,
    number: int,
    on_progress: ProgressCallback | None,
    engine: SearchEngine | None,
) -> pl.DataFrame:
    """Today's candidates of every generator; a pair that was listed before keeps the round in which it came."""
    found = search_generators(workspace, settings, settings.generators, over, settings.k, on_progress, engine)
    proposed = pl.concat([candidate_rows(name, over, one.neighbours) for name, one in found.items()])
    proposed = apply_budget(proposed, settings.seed, settings.per_query_budget, settings.total_budget)
    before = every.group_by(PAIR).agg(before=pl.col("round").min())
    joined = proposed.join(before, on=PAIR, how="left", maintain_order="left")
    return joined.with_columns(round=pl.coalesce("before", pl.lit(number, pl.Int32))).select(POOL_SCHEMA.names())


def _random_pairs(
    over: QueryGallery,
    units: CatalogUnits,
    covered: CoveredPairs,
    every: pl.DataFrame,
    number: int,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Random pairs that are still there, and as large a share of the pairs that were not covered before."""
    drawn = every.filter(pl.col("generator") == RANDOM)
    kept = drawn.filter(pl.col("query").is_in(over.queries) & pl.col("candidate").is_in(over.gallery))
    probability = float(drawn["probability"].max() or 0.0) if len(drawn) else 0.0  # type: ignore[arg-type]
    images = np.array(over.gallery, dtype=object)
    shown = {int(unit): place for place, unit in enumerate(units.unit_of_image)}
    rows = []
    for row, query in enumerate(over.queries):
        free = covered.uncovered_units(row) & (units.unit_items != units.query_items[row])
        hits = np.flatnonzero(free & (rng.random(len(free)) < probability))
        rows += [(query, images[shown[int(unit)]], RANDOM, None, None, probability, number) for unit in hits]
    return pl.concat([kept, pl.DataFrame(rows, schema=POOL_SCHEMA, orient="row")])


def _draw(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    over: QueryGallery,
    units: CatalogUnits,
    covered: CoveredPairs,
    per_query: float,
    n_labels: int | None,
    number: int,
    rng: np.random.Generator,
    on_progress: ProgressCallback | None,
    engine: SearchEngine | None,
) -> pl.DataFrame:
    """Pairs among those not covered, with the probabilities of the whole design today, or in proportion to them."""
    depth = min(LIST_DEPTH, len(over.gallery))
    found = search_generators(workspace, settings, settings.generators, over, depth, on_progress, engine)
    lists = [one.neighbours.indices for one in found.values()]
    sizes = np.minimum(max(1, round(per_query)), units.n_admissible)
    weights, unlisted = sampled_weights(lists_of_units(lists, units), units.query_items, units.unit_items, sizes)
    chances = inclusion_probabilities(weights, sizes)
    new = covered.uncovered(weights.query, weights.candidate)
    others = UncoveredPairs(
        unlisted.listed_query, unlisted.listed_candidate, unlisted.query_items, unlisted.gallery_items, covered
    )
    tail_size = others.sizes()
    expected = float(chances.listed[new].sum() + (tail_size * chances.tail).sum())
    factor = 1.0 if n_labels is None or not expected else n_labels / expected
    restricted = PairWeights(
        weights.query[new], weights.candidate[new], weights.weight[new], tail_size, weights.tail_weight
    )
    listed, tail = (np.minimum(1.0, factor * chance) for chance in (chances.listed[new], chances.tail))
    drawn = draw_pairs(restricted, Probabilities(listed, np.where(tail_size > 0, tail, 0.0)), others, rng)
    return drawn_rows(drawn, over, lists, units, number, rng)
