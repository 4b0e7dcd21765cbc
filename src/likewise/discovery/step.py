"""The discover step of a workspace: choose queries and gallery, let every generator propose, write the pool."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from likewise.catalog import catalog_fingerprint, items_fingerprint, read_catalog, select
from likewise.chain import ChainPart, changed, digest_of, table_digest
from likewise.discovery.designs.sampled import LIST_DEPTH
from likewise.discovery.designs.sampled_pool import sampled_pool
from likewise.discovery.engines import EngineResult, SearchEngine, SearchRequest, exact_search, index_search_engine
from likewise.discovery.pool import RANDOM, QueryGallery, apply_budget, candidate_rows, draw_random_pairs, sort_pool
from likewise.discovery.queries import sample_queries
from likewise.discovery.unit import ITEMS, PairCounter, Unit
from likewise.encoders.storage.reading import common_images
from likewise.errors import LikewiseError
from likewise.neighbours.index import IndexRecall
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_json, read_parquet, write_json, write_parquet

POOL = "pool"
CHANGES = {
    "catalog": "was made for another catalog",
    "items": "was made before the items of the catalog changed, and with them who may be a candidate (votes are kept)",
}
Design = Literal["eds", "sampled"]
LABELS_PER_QUERY = 25


@dataclass(frozen=True)
class PoolSettings:
    """Everything that decides what the pool will be."""

    generators: tuple[str, ...]
    k: int = 6
    n_queries: int = 100
    seed: int = 0
    queries: str | None = None
    gallery: str | None = None
    by_category: bool = False
    unit: Unit = ITEMS  # items: the best image of each is listed, and pairs are counted by item
    per_query_budget: int | None = None
    total_budget: int | None = None
    n_random: int = 500
    index: str | None = None
    design: Design = "eds"
    n_labels: int | None = None  # pairs to draw in all, by designs that draw


@dataclass(frozen=True)
class Pool:
    """A stored pool: its rows, the settings that made it, and the images it ranges over.

    `recalls` says for every generator whose candidates came through an index how many of the true ones it found.
    """

    rows: pl.DataFrame
    settings: PoolSettings
    query_gallery: QueryGallery
    recalls: dict[str, IndexRecall] = field(default_factory=dict)

    @property
    def counter(self) -> PairCounter:
        """How its pairs are counted."""
        return self.query_gallery.counter(self.settings.unit)

    def rows_in(self, unit: Unit) -> pl.DataFrame:
        """Its rows; without the random pairs where they are no uniform sample of the pairs that this unit counts."""
        n_images = set(np.unique(self.query_gallery.gallery_items, return_counts=True)[1].tolist())
        if unit == self.settings.unit or len(n_images) == 1:
            return self.rows
        return self.rows.filter(pl.col("generator") != RANDOM)


def select_query_gallery(workspace: WorkspaceFolder, settings: PoolSettings) -> QueryGallery:
    """The queries and gallery that the settings choose, among images every generator has vectors for."""
    catalog = read_catalog(workspace)
    usable = common_images(workspace, settings.generators, catalog["image"].to_list())
    catalog = catalog.filter(pl.col("image").is_in(usable))
    if catalog.is_empty():
        raise LikewiseError("no image has vectors of every generator: run `likewise encode` for all of them.")
    queries = sample_queries(
        select(catalog, settings.queries or settings.gallery),
        settings.n_queries,
        settings.seed,
        by_category=settings.by_category,
    )
    return QueryGallery.from_catalog(catalog, queries, select(catalog, settings.gallery)["image"])


def make_pool(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    on_progress: ProgressCallback | None = None,
    engine: SearchEngine | None = None,
) -> Pool:
    """Propose, cut to the budgets, add random pairs; nothing is written.

    `engine` finds the candidates; by default this machine, through an index where the settings ask for one.
    """
    if not settings.generators:
        raise LikewiseError(f"there are no vectors in {workspace.path} yet: run `likewise encode {workspace.path}`.")
    if settings.design not in get_args(Design):
        raise LikewiseError(f"there is no design {settings.design!r}: use {' or '.join(get_args(Design))}.")
    query_gallery = select_query_gallery(workspace, settings)
    if settings.design == "sampled":
        return _draw_sampled(workspace, settings, query_gallery, on_progress, engine)
    proposed, recalls = _propose(workspace, settings, settings.generators, query_gallery, on_progress, engine)
    pool = apply_budget(proposed, settings.seed, settings.per_query_budget, settings.total_budget)
    if pool.is_empty():
        raise LikewiseError("no generator found any candidate: the gallery shows only the queries' own items.")
    random = draw_random_pairs(query_gallery, settings.n_random, settings.seed, settings.unit)
    return Pool(sort_pool(pl.concat([pool, random])), settings, query_gallery, recalls)


def _draw_sampled(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    query_gallery: QueryGallery,
    on_progress: ProgressCallback | None,
    engine: SearchEngine | None,
) -> Pool:
    """Pairs drawn with probabilities that fall with the generators' ranks."""
    depth = min(LIST_DEPTH, len(query_gallery.gallery))
    found = _search(workspace, replace(settings, k=depth), settings.generators, query_gallery, on_progress, engine)
    n_labels = LABELS_PER_QUERY * len(query_gallery.queries) if settings.n_labels is None else settings.n_labels
    if n_labels < len(query_gallery.queries):
        raise LikewiseError(
            f"{n_labels} labels for {len(query_gallery.queries)} queries: draw at least one pair of each (--labels)."
        )
    lists = [one.neighbours.indices for one in found.values()]
    rows = sampled_pool(query_gallery, lists, n_labels, settings.seed, one_per_item=settings.unit == ITEMS)
    recalls = {generator: one.recall for generator, one in found.items() if one.recall}
    return Pool(sort_pool(rows), replace(settings, n_labels=n_labels, n_random=0), query_gallery, recalls)


def extend_pool(
    workspace: WorkspaceFolder, generators: Sequence[str], on_progress: ProgressCallback | None = None
) -> Pool:
    """The stored pool with the proposals of further generators: the same queries and gallery, nothing is written.

    Pairs that are there stay. A budget was for the first generators; whoever adds more pairs knows it.
    """
    pool = read_pool(workspace)
    if pool.settings.design != "eds":
        raise LikewiseError(
            f"the pairs of {workspace.pool_file} were drawn by the design {pool.settings.design}, and pairs that a "
            "generator adds would belong to another one: make a pool anew with `likewise discover --replace`."
        )
    new = [name for name in dict.fromkeys(generators) if name not in pool.settings.generators]
    if not new:
        if generators:
            raise LikewiseError(f"{', '.join(generators)} already contributed to this pool: name a new generator.")
        return pool
    images = sorted({*pool.query_gallery.queries, *pool.query_gallery.gallery})
    for name in new:
        n_missing = len(images) - len(common_images(workspace, [name], images))
        if n_missing:
            raise LikewiseError(
                f"{name} has no vectors of {n_missing} of the pool's {len(images)} images: run `likewise encode "
                f"{workspace.path} --with {name}` again, or make another pool with `likewise discover --replace`."
            )
    proposed, recalls = _propose(workspace, pool.settings, new, pool.query_gallery, on_progress, None)
    settings = replace(pool.settings, generators=(*pool.settings.generators, *new))
    return Pool(sort_pool(pl.concat([pool.rows, proposed])), settings, pool.query_gallery, pool.recalls | recalls)


def _propose(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    generators: Sequence[str],
    query_gallery: QueryGallery,
    on_progress: ProgressCallback | None,
    engine: SearchEngine | None,
) -> tuple[pl.DataFrame, dict[str, IndexRecall]]:
    """What each generator proposes, and how much of the truth its index found."""
    found = _search(workspace, settings, generators, query_gallery, on_progress, engine)
    proposed = [candidate_rows(generator, query_gallery, one.neighbours) for generator, one in found.items()]
    return pl.concat(proposed), {generator: one.recall for generator, one in found.items() if one.recall}


def _search(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    generators: Sequence[str],
    query_gallery: QueryGallery,
    on_progress: ProgressCallback | None,
    engine: SearchEngine | None,
) -> dict[str, EngineResult]:
    """The first k candidates of every generator."""
    engine = engine or (index_search_engine(settings.index) if settings.index else exact_search)
    return {
        generator: engine(
            SearchRequest(workspace, generator, query_gallery, settings.k, settings.unit == ITEMS, settings.seed),
            _with_stage(on_progress, generator),
        )
        for generator in generators
    }


def store_pool(workspace: WorkspaceFolder, pool: Pool, *, replace: bool = False) -> bool:
    """Write the pool; False if the very same one was there. Another one is replaced only when asked."""
    description = _description(workspace, pool)
    if workspace.pool_settings_file.exists() and workspace.pool_file.exists():
        if pool_part(workspace).usable and read_json(workspace.pool_settings_file) == description:
            return False
        if not replace:
            raise LikewiseError(
                f"{workspace.pool_file} holds a pool made with other settings: add `--replace` to put this one "
                "in its place (votes already given are kept)."
            )
        _retire_random_pairs(workspace)
    write_parquet(pool.rows, workspace.pool_file)
    write_json(description, workspace.pool_settings_file)
    return True


def pool_digest(workspace: WorkspaceFolder) -> str:
    """Of the stored pool, its settings and what it rests on; empty where there is none."""
    return digest_of(read_json(workspace.pool_settings_file)) if workspace.pool_settings_file.exists() else ""


def pool_part(workspace: WorkspaceFolder) -> ChainPart:
    """Whether the pool is all there, and of this catalog and its items."""
    make = f"likewise discover {workspace.path}"
    if not workspace.pool_file.exists():
        return ChainPart(POOL, "missing", why="does not exist yet", command=make)
    rows = read_parquet(workspace.pool_file, f"{make} --replace")
    note = read_json(workspace.pool_settings_file) if workspace.pool_settings_file.exists() else {}
    if note.get("rows") != table_digest(rows):
        return ChainPart(POOL, "unfinished", why="is incomplete", command=f"{make} --replace")
    settings, n_pairs = _settings(note), rows.select("query", "candidate").n_unique()
    who = f"by {', '.join(settings.generators)}, k = {settings.k}" if settings.generators else "of imported labels"
    different = changed(note["rests_on"], pool_basis(read_catalog(workspace)))
    why = next((why for name, why in CHANGES.items() if name in different), "")
    return ChainPart(
        POOL, "stale" if why else "current", f"{n_pairs:,} pairs {who}", why, f"{make} --replace" if why else ""
    )


def pool_basis(catalog: pl.DataFrame) -> dict[str, str]:
    """What a pool made now would rest on."""
    return {"catalog": catalog_fingerprint(catalog), "items": items_fingerprint(catalog)}


def retired_pairs(workspace: WorkspaceFolder) -> pl.DataFrame:
    """The random pairs (query, candidate) of pools that were replaced; empty where there was none."""
    if not workspace.retired_pairs_file.exists():
        return pl.DataFrame(schema={"query": pl.String, "candidate": pl.String})
    return read_parquet(workspace.retired_pairs_file, f"likewise discover {workspace.path} --replace")


def random_pairs(workspace: WorkspaceFolder) -> pl.DataFrame:
    """Every pair (query, candidate) that was only drawn at random, for this pool or one before it."""
    retired = retired_pairs(workspace)
    if not workspace.pool_file.exists():
        return retired
    pool = read_parquet(workspace.pool_file, f"likewise discover {workspace.path}")
    drawn, proposed = (pool.filter(kind) for kind in (pl.col("generator") == RANDOM, pl.col("generator") != RANDOM))
    together = pl.concat([drawn.select("query", "candidate"), retired.select("query", "candidate")]).unique()
    return together.join(proposed, on=["query", "candidate"], how="anti").sort("query", "candidate")


def _retire_random_pairs(workspace: WorkspaceFolder) -> None:
    """Remember which pairs were drawn at random: their labels stay easy negatives when the pool is gone."""
    old = read_parquet(workspace.pool_file, "likewise discover")
    proposed = old.filter(pl.col("generator") != RANDOM)
    drawn = old.filter(pl.col("generator") == RANDOM).join(proposed, on=["query", "candidate"], how="anti")
    known = retired_pairs(workspace)
    together = pl.concat([known, drawn.select("query", "candidate")]).unique().sort("query", "candidate")
    if len(together) > len(known):
        write_parquet(together, workspace.retired_pairs_file)


def read_pool(workspace: WorkspaceFolder) -> Pool:
    """The stored pool, with the queries and gallery it was made over."""
    pool_part(workspace).refuse_unless_usable(workspace.pool_file)
    rows = read_parquet(workspace.pool_file, f"likewise discover {workspace.path}")
    description, catalog = read_json(workspace.pool_settings_file), read_catalog(workspace)
    settings = _settings(description)
    recalls = {generator: IndexRecall(**each) for generator, each in description.get("index", {}).items()}
    left_out = set(description["left_out"])
    gallery = [image for image in select(catalog, settings.gallery)["image"] if image not in left_out]
    return Pool(rows, settings, QueryGallery.from_catalog(catalog, description["queries"], gallery), recalls)


def budget_settings(workspace: WorkspaceFolder, k: int, **asked: Any) -> PoolSettings:
    """Settings for looking at every k up to this one: what is asked for (not None), and otherwise the stored pool's.

    The queries, and with them the labels, are then the pool's own; its budgets and its index are left aside.
    """
    pool = _settings(read_json(workspace.pool_settings_file)) if workspace.pool_settings_file.exists() else None
    given = {name: value for name, value in asked.items() if value is not None}
    settings = replace(
        pool or PoolSettings(()),
        k=k,
        n_random=0,
        per_query_budget=None,
        total_budget=None,
        index=None,
        design="eds",
        n_labels=None,
        **given,
    )
    return settings if settings.generators else replace(settings, generators=tuple(workspace.encoders()))


def _settings(description: dict[str, Any]) -> PoolSettings:
    stored = dict(description["settings"])
    return PoolSettings(**stored | {"generators": tuple(stored["generators"])})


def _description(workspace: WorkspaceFolder, pool: Pool) -> dict[str, Any]:
    catalog = read_catalog(workspace)
    gallery = set(pool.query_gallery.gallery)
    left_out = [image for image in select(catalog, pool.settings.gallery)["image"] if image not in gallery]
    settings = asdict(pool.settings) | {"generators": list(pool.settings.generators)}
    if pool.settings.index is None:
        del settings["index"]
    description = {
        "settings": settings,
        "rests_on": pool_basis(catalog),
        "rows": table_digest(pool.rows),
        "queries": pool.query_gallery.queries,
        "n_gallery": len(pool.query_gallery.gallery),
        "left_out": left_out,
        "n_all_pairs": pool.counter.n_all_pairs,
    }
    if pool.recalls:
        description["index"] = {generator: asdict(recall) for generator, recall in pool.recalls.items()}
    return description


def _with_stage(on_progress: ProgressCallback | None, generator: str) -> ProgressCallback | None:
    if on_progress is None:
        return None
    return lambda _, done, total: on_progress(generator, done, total)
