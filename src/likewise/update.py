"""A catalog that lives: compare it with its source, say what changed, and bring every file along in one step.

Catalog, pool, labels and the version in workspace.json are written together: all of them change, or none. The votes
follow when they are opened.
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.changes import CatalogChanges, compare_catalog
from likewise.catalog.file_cards import FILES
from likewise.catalog.make import NewCatalog, catalog_settings, changing_catalog, check_catalog
from likewise.catalog.perceptual_hash import store_hashes
from likewise.catalog.readers import Reading, choose_catalog_reader, read, with_items
from likewise.catalog.readers.table import read_table
from likewise.catalog.truth import check_truth
from likewise.catalog.versions import CatalogVersion, date_today, read_history, read_versions
from likewise.discovery.versions import RetiredPool, stage_pool
from likewise.errors import LikewiseError
from likewise.labeling.retired import stage_imported_labels
from likewise.labeling.store import opened_votes
from likewise.labeling.store.location import remembered_database
from likewise.neighbours.leaks import count_copies_of_new
from likewise.progress import ProgressCallback
from likewise.workspace import WARDROBE, WorkspaceFolder, staged_workspace, write_json, write_parquet

LARGEST_SHARE_GONE = 0.5


@dataclass(frozen=True)
class CatalogUpdate:
    """What an update found and did: `version` is the one it made, or the one of now where nothing was written.

    `other_category` are the renamed images whose category changed with their folder or row: key, before, now.
    """

    changes: CatalogChanges
    version: int
    written: bool
    n_images_before: int
    checked: NewCatalog
    pairs: RetiredPool
    other_category: tuple[tuple[str, str | None, str | None], ...] = ()

    @property
    def n_gone(self) -> int:
        """Pictures that are no longer there, whether another one has taken their name or not."""
        return len(self.changes.removed) + len(self.changes.changed)

    @property
    def removes_most(self) -> bool:
        """More pictures would go than is likely meant."""
        return self.n_gone > LARGEST_SHARE_GONE * self.n_images_before

    @cached_property
    def copies(self) -> tuple[int, int]:
        """How many of the new pictures have a copy in the catalog, and how many have one that is another item."""
        new = (*self.changes.added, *self.changes.returned, *self.changes.changed)
        return count_copies_of_new(self.checked.catalog, self.checked.hashes, new) if new else (0, 0)

    def to_dict(self) -> dict[str, Any]:
        names = {name: getattr(self.changes, name) for name in self.changes.counts()}
        return {
            "version": self.version,
            "written": self.written,
            "images_before": self.n_images_before,
            "images": len(self.checked.catalog),
            "left_out": self.checked.n_left_out,
            **names,
            "other_category": self.other_category,
            "copies": dict(zip(("images", "across_items"), self.copies, strict=True)),
            "pairs_kept": self.pairs.n_kept,
            "pairs_retired": self.pairs.n_retired,
            "pairs_back": self.pairs.n_back,
        }


def read_source(
    workspace: WorkspaceFolder, source: Path | None, reader: str | None = None, root: Path | None = None
) -> Reading:
    """The source as it is now: the one named, or the folder that the workspace was made from.

    Where the workspace was made with a root of its pictures, that is theirs still.
    """
    made = str(workspace.settings()["source"])
    if source is None and made == WARDROBE:
        raise LikewiseError(
            f"the pictures of {workspace.path} were drawn, there is no source to update from: `likewise new "
            f"{workspace.quoted} --wardrobe --replace`, with the options of then, draws them again."
        )
    if source is None and made != "folder":
        raise LikewiseError(
            f"{workspace.path} was made from a source of the kind {made}: name it, as in "
            f"`likewise update {workspace.quoted} {workspace.source or 'SOURCE'}`."
        )
    source = source or workspace.root
    if made == "table" and reader is None and source.is_dir():
        raise LikewiseError(
            f"{workspace.path} was made from a table, and {source} is a folder, which knows none of its columns: give "
            "the table as it is now, or --reader folder if its columns are to go."
        )
    name = choose_catalog_reader(source, reader or (made if made not in (WARDROBE, "folder", "table") else None))
    made_with = workspace.settings().get("source_settings") or {}
    if root is None and name == made and "root" in made_with:
        root = workspace.root
    return with_items(read(source, name, root), made_with.get("item_pattern"))


def update_workspace(
    workspace: WorkspaceFolder,
    source: Path | None = None,
    *,
    reader: str | None = None,
    root: Path | None = None,
    truth: Path | None = None,
    name: str = "",
    dry_run: bool = False,
    accept_removals: bool = False,
    on_progress: ProgressCallback | None = None,
    before_writing: Callable[[CatalogUpdate], None] | None = None,
) -> CatalogUpdate:
    """Bring the catalog up to date with its source; with `dry_run` only say what would happen.

    `before_writing` is told what will be written; if it raises, nothing is.
    """
    reading = read_source(workspace, source, reader, root)
    return update_catalog(
        workspace,
        reading.rows,
        reading.root,
        tables=reading.tables,
        truth=None if truth is None else read_table(truth),
        name=name,
        dry_run=dry_run,
        accept_removals=accept_removals,
        on_progress=on_progress,
        before_writing=before_writing,
    )


def update_catalog(
    workspace: WorkspaceFolder,
    rows: pl.DataFrame,
    root: Path,
    *,
    tables: Mapping[str, pl.DataFrame] | None = None,
    truth: pl.DataFrame | None = None,
    name: str = "",
    dry_run: bool = False,
    accept_removals: bool = False,
    on_progress: ProgressCallback | None = None,
    before_writing: Callable[[CatalogUpdate], None] | None = None,
) -> CatalogUpdate:
    """The same with rows from anywhere (at least a column `image`, relative to `root`)."""
    with nullcontext() if dry_run else changing_catalog(workspace):
        versions = read_versions(workspace)
        version, history = versions[-1].version, read_history(workspace)
        _check_name(versions, name)
        checked = check_catalog(rows, root, on_progress, any_file=workspace.settings()["source"] == FILES)
        checked = checked.with_known_digests(history)
        compared = compare_catalog(history, version, checked.with_contents())
        changes, n_before = compared.changes, versions[-1].images
        if changes.nothing and not dry_run:
            _let_votes_follow(workspace)  # an update that was stopped after it had been decided
            if compared.history["content_digest"].null_count() < history["content_digest"].null_count():
                write_parquet(compared.history, workspace.catalog_file)  # with what an earlier program did not note
        if changes.nothing or dry_run:
            pairs = RetiredPool() if changes.nothing else _stage_aside(workspace, compared.history, version)
            return CatalogUpdate(changes, version, False, n_before, checked, pairs, compared.other_category)
        found = CatalogUpdate(changes, version, False, n_before, checked, RetiredPool(), compared.other_category)
        if not accept_removals:
            _refuse_removing_most(found, root)
        if truth is None:
            _refuse_missing_truth(workspace, changes)
        settings = workspace.settings()
        made = CatalogVersion(version + 1, date_today(versions), len(checked.catalog), name, **changes.counts())
        source_settings = settings.get("source_settings", {})
        after = catalog_settings(workspace, checked, root, settings["source"], source_settings, (*versions, made))
        with staged_workspace(workspace) as (staged, _):
            write_parquet(checked.problems, staged.problems_file)
            store_hashes(staged, checked.hashes)
            for table, content in (tables or {}).items():
                write_parquet(content, staged.tables_folder / f"{table}.parquet")
            if truth is not None:
                write_parquet(check_truth(truth, checked.catalog), staged.truth_file)
            pairs = stage_pool(workspace, staged, compared.history, version)
            stage_imported_labels(workspace, staged, compared.history, version)
            write_parquet(compared.history, staged.catalog_file)
            write_json(after, staged.settings_file)
            if before_writing is not None:
                before_writing(replace(found, version=version + 1, pairs=pairs))
        _let_votes_follow(workspace)
        return replace(found, version=version + 1, written=True, pairs=pairs)


def _refuse_removing_most(found: CatalogUpdate, root: Path) -> None:
    if not found.removes_most:
        return
    n_changed = len(found.changes.changed)
    renamed = f" ({n_changed:,} of these names have another picture there)" if n_changed else ""
    raise LikewiseError(
        f"{found.n_gone:,} of {found.n_images_before:,} images are not in {root}{renamed}: give a source that has all "
        "images, old and new ones, or say with --accept-removals that they are gone."
    )


def _refuse_missing_truth(workspace: WorkspaceFolder, changes: CatalogChanges) -> None:
    if workspace.has_truth and (changes.added or changes.changed):
        raise LikewiseError(
            f"{workspace.path} knows which items look alike, but not those of the new images: give a table with "
            f"--truth, or delete {workspace.truth_file}."
        )


def _let_votes_follow(workspace: WorkspaceFolder) -> None:
    """Votes follow the catalog when they are opened."""
    if workspace.votes_file.exists() or remembered_database(workspace) is not None:
        with opened_votes(workspace):
            pass


def _stage_aside(workspace: WorkspaceFolder, history: pl.DataFrame, version: int) -> RetiredPool:
    """What would become of the pool, found out in a folder that is thrown away."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        return stage_pool(workspace, WorkspaceFolder(Path(folder)), history, version)


def _check_name(versions: tuple[CatalogVersion, ...], name: str) -> None:
    if name and any(name in (each.name, str(each.version)) for each in versions):
        raise LikewiseError(f"there is a version {name!r} already: choose another --name.")
