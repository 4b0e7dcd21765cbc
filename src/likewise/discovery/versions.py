"""A pool in a catalog that lives: its pairs follow renames, are put aside while an image is gone, and come back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from likewise.catalog import items_fingerprint, select_catalog_rows
from likewise.catalog.versions import (
    key_changes,
    read_history,
    read_versions,
    rename_keys,
    rows_at,
    split_retired,
)
from likewise.chain import table_digest
from likewise.discovery.designs.frame import Masks, PairFrame
from likewise.discovery.designs.units import catalog_units
from likewise.discovery.pool import PAIR, QueryGallery, read_pool_note, sort_pool
from likewise.discovery.unit import ITEMS, Unit
from likewise.workspace import WorkspaceFolder, read_parquet, write_json, write_parquet


@dataclass(frozen=True)
class RetiredPool:
    """How many pairs of a pool an update puts aside, and how many come back."""

    n_kept: int = 0
    n_retired: int = 0
    n_back: int = 0


def pictures_of(workspace: WorkspaceFolder, images: Iterable[str]) -> list[str]:
    """The identities behind image keys of now."""
    rows = rows_at(read_history(workspace), read_versions(workspace)[-1].version)
    return rows.filter(pl.col("image").is_in(list(images)))["picture"].to_list()


def every_pool_row(workspace: WorkspaceFolder) -> pl.DataFrame:
    """The rows of the pool and those that were put aside, by the keys of now."""
    make = f"likewise discover {workspace.quoted}"
    rows = read_parquet(workspace.pool_file, make)
    if not workspace.retired_pool_file.exists():
        return rows
    return pl.concat([rows, read_parquet(workspace.retired_pool_file, make)])


def stage_pool(workspace: WorkspaceFolder, staged: WorkspaceFolder, history: pl.DataFrame, version: int) -> RetiredPool:
    """Write the files of the pool for a next version of the catalog (`history`) into the folder where they wait."""
    if not workspace.pool_file.exists() or not workspace.pool_settings_file.exists():
        return RetiredPool()
    note = read_pool_note(workspace)
    changes = key_changes(history, version, version + 1)
    before = read_parquet(workspace.pool_file, "likewise discover").select(PAIR).n_unique()
    kept, gone = split_retired(rename_keys(every_pool_row(workspace), changes, *PAIR), *PAIR)
    kept = sort_pool(kept)
    catalog = rows_at(history, version + 1)
    write_parquet(kept, staged.pool_file)
    if len(gone) or workspace.retired_pool_file.exists():
        write_parquet(sort_pool(gone), staged.retired_pool_file)
    if workspace.retired_pairs_file.exists():
        retired = read_parquet(workspace.retired_pairs_file, "likewise discover")
        write_parquet(rename_keys(retired, changes, *PAIR), staged.retired_pairs_file)
    if not note["settings"]["generators"]:  # of imported labels: their queries against everything there is
        note |= {"versions": [*note["versions"], version + 1]}
    seen = rows_at(history, note["versions"][-1])["picture"].implode()
    covered = set(catalog.filter(pl.col("picture").is_in(seen))["image"])
    write_json(_note_after(note, kept, catalog, covered, changes), staged.pool_settings_file)
    n_kept = kept.select(PAIR).n_unique()
    still = rename_keys(read_parquet(workspace.pool_file, ""), changes, *PAIR)
    n_still = split_retired(still, *PAIR)[0].select(PAIR).n_unique()
    return RetiredPool(n_still, before - n_still, n_kept - n_still)


def _note_after(
    note: dict[str, Any], kept: pl.DataFrame, catalog: pl.DataFrame, covered: set[str], changes: dict[str, str]
) -> dict[str, Any]:
    """pool.json: the queries and gallery that are left of the version it was made for."""
    passed_over = {changes.get(image, image) for image in note["left_out"]}
    queries = sorted({changes.get(image, image) for image in note["queries"]} & set(catalog["image"]))
    chosen = select_catalog_rows(catalog, note["settings"]["gallery"])["image"].to_list()
    gallery = [image for image in chosen if image in covered and image not in passed_over]
    asked = QueryGallery.from_catalog(catalog, queries, gallery) if queries and gallery else None
    return note | {
        "rests_on": {"catalog": str(note["versions"][-1]), "items": items_fingerprint(catalog)},
        "rows": table_digest(kept),
        "queries": queries,
        "n_gallery": len(gallery),
        "left_out": sorted(set(chosen) - set(gallery)),
        "n_all_pairs": asked.counter(note["settings"]["unit"]).n_all_pairs if asked else 0,
    }


def image_versions(workspace: WorkspaceFolder, versions: Sequence[int], images: Sequence[str]) -> Masks:
    """For each of today's images a bit per version of the pool (64 to a column), set where the image was there."""
    history = read_history(workspace)
    now = rows_at(history, read_versions(workspace)[-1].version)
    picture = dict(now.select("image", "picture").iter_rows())
    pictures = pl.Series([picture[image] for image in images], dtype=pl.String)
    masks = np.zeros((len(images), len(versions) // 64 + 1), dtype=np.uint64)
    for place, version in enumerate(versions):
        there = pictures.is_in(rows_at(history, version)["picture"].implode()).to_numpy()
        masks[there, place // 64] |= np.uint64(1 << place % 64)
    return masks


def pair_frame(
    workspace: WorkspaceFolder, versions: Sequence[int], query_gallery: QueryGallery, unit: Unit
) -> PairFrame:
    """The pairs of today that no version before had in play."""
    units = catalog_units(query_gallery, unit == ITEMS)
    of_image = image_versions(workspace, versions, query_gallery.gallery)
    of_unit = np.zeros((units.n_units, of_image.shape[1]), dtype=np.uint64)
    np.bitwise_or.at(of_unit, units.unit_of_image, of_image)
    return PairFrame(image_versions(workspace, versions, query_gallery.queries), of_unit, shared=False)


def pool_as_of(
    workspace: WorkspaceFolder, versions: Sequence[int], pictures: Sequence[str]
) -> tuple[pl.DataFrame, list[str], set[str]]:
    """Rows, queries and images outside the gallery, as they were called in the version that is looked at."""
    history, as_of, latest = read_history(workspace), workspace.as_of or 0, read_versions(workspace)[-1].version
    known = [version for version in versions if version <= as_of] or [versions[0]]
    catalog, seen = rows_at(history, as_of), rows_at(history, known[-1])["picture"].implode()
    covered = catalog.filter(pl.col("picture").is_in(seen))
    renamed = rename_keys(every_pool_row(workspace), key_changes(history, latest, as_of), *PAIR)
    images = covered["image"].implode()
    rows = renamed.filter(pl.col("query").is_in(images) & pl.col("candidate").is_in(images))
    queries = covered.filter(pl.col("picture").is_in(list(pictures)))["image"].to_list()
    return sort_pool(rows), queries, set(catalog["image"]) - set(covered["image"])


def n_pairs_then(workspace: WorkspaceFolder, note: dict[str, Any]) -> int:
    """How many pairs the pool had in the version that is looked at: as noted then, or those of now that were drawn."""
    versions, updates = note["versions"], note.get("update_rounds", [])
    n_known = sum(version <= (workspace.as_of or 0) for version in versions)
    if not n_known:
        return 0
    if (noted := note.get("pairs", {}).get(str(workspace.as_of))) is not None and n_known < len(versions):
        return int(noted)
    rows, _, _ = pool_as_of(workspace, versions, note["query_pictures"])
    drawn = rows if n_known > len(updates) else rows.filter(pl.col("round") < updates[n_known - 1])
    return drawn.select(PAIR).n_unique()


def pairs_by_version(workspace: WorkspaceFolder, rows: pl.DataFrame, versions: Sequence[int]) -> dict[str, int]:
    """How many pairs it had in each version it was made for: a pool that grows leaves some behind."""
    before = read_pool_note(workspace) if workspace.pool_settings_file.exists() else {}
    known = {str(version) for version in versions[:-1]}
    noted = {version: n for version, n in before.get("pairs", {}).items() if version in known}
    return noted | {str(versions[-1]): rows.select(PAIR).n_unique()}
