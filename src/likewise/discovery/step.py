"""The discover step of a workspace: choose queries and gallery, let every generator propose, write the pool."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from likewise.catalog import items_fingerprint, read_catalog, select_catalog_rows
from likewise.catalog.versions import catalog_version, read_versions
from likewise.chain import ChainPart, table_digest
from likewise.discovery.designs.adaptive import Purpose
from likewise.discovery.designs.drawn_pool import sampled_pool
from likewise.discovery.designs.sampled import LIST_DEPTH
from likewise.discovery.engines import EngineResult, SearchEngine, SearchRequest, exact_search, index_search_engine
from likewise.discovery.pool import (
    PAIR,
    RANDOM,
    QueryGallery,
    apply_budget,
    candidate_rows,
    draw_random_pairs,
    read_pool_note,
    sort_pool,
)
from likewise.discovery.proposals import remember_proposals
from likewise.discovery.queries import query_rows, sample_queries
from likewise.discovery.unit import ITEMS, PairCounter, Unit
from likewise.discovery.versions import n_pairs_then, pairs_by_version, pictures_of, pool_as_of
from likewise.encoders.storage.reading import common_images
from likewise.errors import LikewiseError
from likewise.neighbours.index import IndexRecall
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_parquet, staged_workspace, write_json, write_parquet

POOL = "pool"
CHANGES = {
    "catalog": "was made for another catalog",
    "items": "was made before the items of the catalog changed, and with them who may be a candidate (votes are kept)",
}
NO_QUERIES = "none of its queries is in the catalog any more"
Design = Literal["eds", "sampled", "adaptive"]
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
    n_rounds: int = 1  # the rounds they are spread over, by the adaptive design
    purpose: Purpose | None = None  # and what for
    of_labels: bool = False  # labels from elsewhere made it; the generators are those that were named with them


@dataclass(frozen=True)
class Pool:
    """A stored pool: its rows, the settings that made it, and the images it ranges over.

    `recalls` says for every generator whose candidates came through an index how many of the true ones it found.
    """

    rows: pl.DataFrame
    settings: PoolSettings
    query_gallery: QueryGallery
    recalls: dict[str, IndexRecall] = field(default_factory=dict)
    versions: tuple[int, ...] = ()  # of the catalog, for which it was made and added to
    query_pictures: tuple[str, ...] = ()  # everything that ever was a query, gone ones too
    update_rounds: tuple[int, ...] = ()  # rounds that drew among the pairs of an update alone

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
        query_rows(catalog, settings.queries or settings.gallery),
        settings.n_queries,
        settings.seed,
        by_category=settings.by_category,
    )
    return QueryGallery.from_catalog(catalog, queries, select_catalog_rows(catalog, settings.gallery)["image"])


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
        raise LikewiseError(f"there are no vectors in {workspace.path} yet: run `likewise encode {workspace.quoted}`.")
    if settings.design not in get_args(Design):
        raise LikewiseError(f"there is no design {settings.design!r}: use {' or '.join(get_args(Design))}.")
    query_gallery = select_query_gallery(workspace, settings)
    if settings.design != "eds":
        return _draw_first_round(workspace, settings, query_gallery, on_progress, engine)
    proposed, recalls = _propose(workspace, settings, settings.generators, query_gallery, on_progress, engine)
    pool = apply_budget(proposed, settings.seed, settings.per_query_budget, settings.total_budget)
    if pool.is_empty():
        raise LikewiseError("no generator found any candidate: the gallery shows only the queries' own items.")
    random = draw_random_pairs(query_gallery, settings.n_random, settings.seed, settings.unit)
    return Pool(sort_pool(pl.concat([pool, random])), settings, query_gallery, recalls)


def _draw_first_round(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    query_gallery: QueryGallery,
    on_progress: ProgressCallback | None,
    engine: SearchEngine | None,
) -> Pool:
    """Pairs drawn with probabilities that fall with the generators' ranks; all of them, or those of the first round."""
    settings = complete_settings(settings, len(query_gallery.queries))
    depth = min(LIST_DEPTH, len(query_gallery.gallery))
    found = search_generators(workspace, settings, settings.generators, query_gallery, depth, on_progress, engine)
    n_labels = round_sizes(settings)[0]
    if n_labels < len(query_gallery.queries):
        each = "" if settings.n_rounds == 1 else " in the first round"
        raise LikewiseError(
            f"{n_labels} labels for {len(query_gallery.queries)} queries{each}: draw at least one pair of each "
            "(--labels)."
        )
    lists = [one.neighbours.indices for one in found.values()]
    per_item = settings.unit == ITEMS
    rows = sampled_pool(query_gallery, lists, n_labels, settings.seed, one_per_item=per_item, purpose=settings.purpose)
    recalls = {generator: one.recall for generator, one in found.items() if one.recall}
    return Pool(sort_pool(rows), settings, query_gallery, recalls)


def complete_settings(settings: PoolSettings, n_queries: int) -> PoolSettings:
    """The settings of a design that draws, with what was left open: how many labels, rounds, and what for."""
    if settings.n_labels is None:
        settings = replace(settings, n_labels=LABELS_PER_QUERY * n_queries)
    settings = replace(settings, n_random=0)
    if settings.design == "sampled":
        return replace(settings, n_rounds=1, purpose=None)
    if settings.n_rounds < 2:
        raise LikewiseError(f"--design adaptive draws in at least 2 rounds, not {settings.n_rounds} (--rounds).")
    purpose: Purpose = settings.purpose or "comparing"
    if purpose not in get_args(Purpose):
        raise LikewiseError(f"labels are drawn for {' or '.join(get_args(Purpose))}, not {purpose!r} (--for).")
    return replace(settings, purpose=purpose)


def round_sizes(settings: PoolSettings) -> list[int]:
    """How many pairs each round draws: equal shares, the first ones take the remainder."""
    share, rest = divmod(settings.n_labels or 0, settings.n_rounds)
    return [share + (number < rest) for number in range(settings.n_rounds)]


def extend_pool(
    workspace: WorkspaceFolder, generators: Sequence[str], on_progress: ProgressCallback | None = None
) -> Pool:
    """The stored pool with the proposals of further generators: the same queries and gallery, nothing is written.

    Pairs that are there stay. A budget was for the first generators; whoever adds more pairs knows it.
    """
    pool = read_pool(workspace)
    if pool.settings.design != "eds" and generators:
        raise LikewiseError(
            f"the pairs of {workspace.pool_file} were drawn by the design {pool.settings.design}, and pairs that a "
            "generator adds would belong to another one: make a pool anew with `likewise discover --replace`."
        )
    new = [name for name in dict.fromkeys(generators) if name not in pool.settings.generators]
    return add_generators(workspace, pool, new, on_progress) if new else pool


def add_generators(
    workspace: WorkspaceFolder, pool: Pool, new: Sequence[str], on_progress: ProgressCallback | None = None
) -> Pool:
    """A pool with the first candidates of further generators beside its own rows."""
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
    rows = sort_pool(pl.concat([pool.rows, proposed]))
    return replace(pool, rows=rows, settings=settings, recalls=pool.recalls | recalls)


def _propose(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    generators: Sequence[str],
    query_gallery: QueryGallery,
    on_progress: ProgressCallback | None,
    engine: SearchEngine | None,
) -> tuple[pl.DataFrame, dict[str, IndexRecall]]:
    """What each generator proposes, and how much of the truth its index found."""
    found = search_generators(workspace, settings, generators, query_gallery, settings.k, on_progress, engine)
    proposed = [candidate_rows(generator, query_gallery, one.neighbours) for generator, one in found.items()]
    return pl.concat(proposed), {generator: one.recall for generator, one in found.items() if one.recall}


def search_generators(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    generators: Sequence[str],
    query_gallery: QueryGallery,
    k: int,
    on_progress: ProgressCallback | None = None,
    engine: SearchEngine | None = None,
) -> dict[str, EngineResult]:
    """The first k candidates of every generator."""
    engine = engine or (index_search_engine(settings.index) if settings.index else exact_search)
    return {
        generator: engine(
            SearchRequest(workspace, generator, query_gallery, k, settings.unit == ITEMS, settings.seed),
            _with_stage(on_progress, generator),
        )
        for generator in generators
    }


def store_pool(workspace: WorkspaceFolder, pool: Pool, *, replace: bool = False) -> bool:
    """Write the pool; False if the very same one was there. Another one is replaced only when asked."""
    with staged_workspace(workspace) as (staged, _):
        return stage_pool_files(workspace, staged, pool, replace=replace)


def stage_pool_files(workspace: WorkspaceFolder, staged: WorkspaceFolder, pool: Pool, *, replace: bool = False) -> bool:
    """The same, written to where it waits for files that belong to it."""
    description = _description(workspace, pool)
    if workspace.pool_settings_file.exists() and workspace.pool_file.exists():
        noted = read_pool_note(workspace) | {"pairs": description["pairs"]}
        if pool_part(workspace).usable and noted == description:
            return False
        if not replace:
            before = stored_settings(read_pool_note(workspace)).design
            if before != pool.settings.design:
                raise LikewiseError(
                    f"the pairs of {workspace.pool_file} were chosen by the design {before}, and two designs cannot be "
                    f"mixed: add `--replace` to go on with {pool.settings.design} (votes already given are kept; "
                    "labels of pairs that the new design does not draw count for finding, not for estimating)."
                )
            raise LikewiseError(
                f"{workspace.pool_file} holds a pool made with other settings: add `--replace` to put this one "
                "in its place (votes already given are kept)."
            )
        remember_proposals(workspace, read_parquet(workspace.pool_file, "likewise discover"), staged)
    write_parquet(pool.rows, staged.pool_file)
    write_json(description, staged.pool_settings_file)
    return True


def pool_part(workspace: WorkspaceFolder) -> ChainPart:
    """Whether the pool is all there, and of this catalog and its items."""
    make = f"likewise discover {workspace.quoted}"
    if not workspace.pool_file.exists():
        return ChainPart(POOL, "missing", why="does not exist yet", command=make)
    rows = read_parquet(workspace.pool_file, f"{make} --replace")
    note = read_pool_note(workspace) if workspace.pool_settings_file.exists() else {}
    if note.get("rows") != table_digest(rows):
        return ChainPart(POOL, "unfinished", why="is incomplete", command=f"{make} --replace")
    settings, n_pairs = stored_settings(note), rows.select(PAIR).n_unique()
    if workspace.as_of is not None:
        n_pairs = n_pairs_then(workspace, note)
    who = f"by {', '.join(settings.generators)}, k = {settings.k}" if settings.generators else "of imported labels"
    holds, noted, versions = f"{n_pairs:,} pairs {who}", note["rests_on"], read_versions(workspace)
    made = next((each for each in versions if str(each.version) == noted["catalog"]), None)
    latest = WorkspaceFolder(workspace.path)
    why = CHANGES["catalog"] if made is None else ""
    if made is not None and noted["items"] != items_fingerprint(read_catalog(latest)):
        why = CHANGES["items"]
    if why:
        return ChainPart(POOL, "stale", holds, why, f"{make} --replace")
    if made is not None and made.version < versions[-1].version and workspace.as_of is None:
        why = f"of version {made.version} of the catalog, which is now {versions[-1].version}: new images are not in it"
        return ChainPart(POOL, "behind", holds, NO_QUERIES if lacks_queries(workspace) else why, make)
    return ChainPart(POOL, "current", holds)


def lacks_queries(workspace: WorkspaceFolder) -> bool:
    """Whether updates took every query of the stored pool out of the catalog: until it grows, it asks nothing."""
    return workspace.as_of is None and not read_pool_note(workspace)["queries"]


def pool_basis(version: int, catalog: pl.DataFrame) -> dict[str, str]:
    """What a pool of a version rests on, in the catalog of now."""
    return {"catalog": str(version), "items": items_fingerprint(catalog)}


def read_pool(workspace: WorkspaceFolder) -> Pool:
    """The stored pool, with the queries and gallery it was made over."""
    pool_part(workspace).refuse_unless_usable(workspace.pool_file)
    if lacks_queries(workspace):
        raise LikewiseError(f"{workspace.pool_file}: {NO_QUERIES}; run `likewise discover {workspace.quoted}`.")
    rows = read_parquet(workspace.pool_file, f"likewise discover {workspace.quoted}")
    description, catalog = read_pool_note(workspace), read_catalog(workspace)
    settings = stored_settings(description)
    recalls = {generator: IndexRecall(**each) for generator, each in description.get("index", {}).items()}
    left_out, queries = set(description["left_out"]), description["queries"]
    versions, pictures = tuple(description["versions"]), tuple(description["query_pictures"])
    if workspace.as_of is not None:
        rows, queries, left_out = pool_as_of(workspace, versions, pictures)
    gallery = [image for image in select_catalog_rows(catalog, settings.gallery)["image"] if image not in left_out]
    asked = QueryGallery.from_catalog(catalog, queries, gallery)
    return Pool(rows, settings, asked, recalls, versions, pictures, tuple(description.get("update_rounds", ())))


def stored_settings(description: dict[str, Any]) -> PoolSettings:
    """The settings in pool.json."""
    stored = dict(description["settings"])
    return PoolSettings(**stored | {"generators": tuple(stored["generators"])})


def _description(workspace: WorkspaceFolder, pool: Pool) -> dict[str, Any]:
    catalog = read_catalog(workspace)
    gallery = set(pool.query_gallery.gallery)
    left_out = [image for image in select_catalog_rows(catalog, pool.settings.gallery)["image"] if image not in gallery]
    settings = asdict(pool.settings) | {"generators": list(pool.settings.generators)}
    if pool.settings.index is None:
        del settings["index"]
    if pool.settings.design != "adaptive":
        del settings["n_rounds"], settings["purpose"]
    if not pool.settings.of_labels:
        del settings["of_labels"]
    versions = pool.versions or (catalog_version(workspace),)
    description = {
        "settings": settings,
        "rests_on": pool_basis(versions[-1], catalog),
        "versions": list(versions),
        "query_pictures": sorted(pool.query_pictures or pictures_of(workspace, pool.query_gallery.queries)),
        "rows": table_digest(pool.rows),
        "queries": pool.query_gallery.queries,
        "n_gallery": len(pool.query_gallery.gallery),
        "left_out": left_out,
        "n_all_pairs": pool.counter.n_all_pairs,
        "pairs": pairs_by_version(workspace, pool.rows, versions),
    }
    if pool.update_rounds:
        description["update_rounds"] = list(pool.update_rounds)
    if pool.recalls:
        description["index"] = {generator: asdict(recall) for generator, recall in pool.recalls.items()}
    return description


def _with_stage(on_progress: ProgressCallback | None, generator: str) -> ProgressCallback | None:
    if on_progress is None:
        return None
    return lambda _, done, total: on_progress(generator, done, total)
