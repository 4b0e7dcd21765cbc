"""Rows from anywhere become the catalog of a workspace: keys made unique, pictures checked, problems written down."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.changes import match_contents
from likewise.catalog.check import PROBLEM_SCHEMA, check_rows
from likewise.catalog.file_cards import FILES
from likewise.catalog.keys import MAX_KEY_BYTES, UNUSABLE_KEY
from likewise.catalog.perceptual_hash import store_hashes
from likewise.catalog.table import KEY_COLUMNS, MADE_COLUMNS, catalog_fingerprint
from likewise.catalog.truth import check_truth
from likewise.catalog.versions import HISTORY_COLUMNS, CatalogVersion, date_today, read_versions, with_history
from likewise.errors import LikewiseError
from likewise.files import finish_writing, locked
from likewise.progress import ProgressCallback
from likewise.untrusted import ColumnRule, check_columns
from likewise.workspace import FIRST_VERSION, FORMAT, WorkspaceFolder, staged_workspace, write_json, write_parquet

CATALOG_COLUMNS = {
    "image": ColumnRule(null=True, one_line=False),
    "item": ColumnRule(null=True, optional=True, one_line=False),
    "category": ColumnRule(null=True, optional=True, one_line=False, truths=True),
}
TIDY_COLUMNS = {name: ColumnRule(null=True, optional=True) for name in ("item", "category")}


@dataclass(frozen=True)
class NewCatalog:
    """A new catalog, and what was wrong or unusual in the rows it came from."""

    catalog: pl.DataFrame
    problems: pl.DataFrame
    n_rows: int
    hashes: pl.DataFrame  # image, digest, content_digest, hash: how the pictures look

    @property
    def n_left_out(self) -> int:
        return int((~self.problems["kept"]).sum())

    def with_contents(self) -> pl.DataFrame:
        """The catalog with the digests of its pictures without metadata."""
        return self.catalog.join(self.hashes.select("image", "content_digest"), on="image", maintain_order="left")

    def with_known_digests(self, history: pl.DataFrame) -> "NewCatalog":
        """Pictures that were there before have the digest that they had then, also where metadata changed since."""
        known = match_contents(self.with_contents().select("image", "digest", "content_digest"), history)
        digests = known.select("image", "digest")
        catalog, hashes = (
            table.drop("digest").join(digests, on="image", maintain_order="left").select(table.columns)
            for table in (self.catalog, self.hashes)
        )
        return replace(self, catalog=catalog, hashes=hashes)


def make_catalog(
    workspace: WorkspaceFolder,
    rows: pl.DataFrame,
    root: Path,
    source: str,
    *,
    source_settings: dict[str, Any] | None = None,
    tables: Mapping[str, pl.DataFrame] | None = None,
    truth: pl.DataFrame | None = None,
    replace: bool = False,
    on_progress: ProgressCallback | None = None,
) -> NewCatalog:
    """Check `rows` (at least a column `image`, relative to `root`) and write catalog, problems, tables and settings.

    `tables`: further ones of the data set. `truth`: the pairs of items that look alike (`item_a`, `item_b`), where that
    is known.
    """
    finish_writing(workspace.path)
    if workspace.settings_file.exists() and not replace:
        raise LikewiseError(already_there(workspace))
    with changing_catalog(workspace):
        return _make(workspace, rows, root, source, source_settings or {}, tables or {}, truth, on_progress)


@contextmanager
def changing_catalog(workspace: WorkspaceFolder) -> Iterator[None]:
    """Nobody else makes or updates this catalog meanwhile: one of two versions would be lost."""
    busy = f"another process makes or updates the catalog of {workspace.path}: wait until it is done."
    with locked(workspace.path / "catalog", busy):
        yield


def _make(
    workspace: WorkspaceFolder,
    rows: pl.DataFrame,
    root: Path,
    source: str,
    source_settings: dict[str, Any],
    tables: Mapping[str, pl.DataFrame],
    truth: pl.DataFrame | None,
    on_progress: ProgressCallback | None,
) -> NewCatalog:
    checked = check_catalog(rows, root, on_progress, any_file=source == FILES)
    catalog, problems = checked.catalog, checked.problems
    version = _version_of_its_own(workspace, catalog)
    similar = None if truth is None else check_truth(truth, catalog)
    versions = (CatalogVersion(version, date_today(), len(catalog)),)
    settings = catalog_settings(workspace, checked, root, source, source_settings, versions)
    with staged_workspace(workspace) as (staged, files):
        write_parquet(problems, staged.problems_file)
        write_parquet(with_history(checked.with_contents(), version), staged.catalog_file)
        store_hashes(staged, checked.hashes)
        if similar is not None:
            write_parquet(similar, staged.truth_file)
        elif workspace.truth_file.exists():
            files.remove(workspace.truth_file)
        for name, table in tables.items():
            write_parquet(table, staged.tables_folder / f"{name}.parquet")
        for stale in workspace.tables_folder.glob("*.parquet"):  # of an earlier source
            if stale.stem not in tables:
                files.remove(stale)
        write_json(settings, staged.settings_file)
    return checked


def _version_of_its_own(workspace: WorkspaceFolder, catalog: pl.DataFrame) -> int:
    """A number that no other catalog of this workspace had; the same pictures under the same keys keep theirs."""
    if not workspace.settings_file.exists():
        return FIRST_VERSION
    same = workspace.settings().get("fingerprint") == catalog_fingerprint(catalog)
    return read_versions(workspace)[-1].version + (not same)


def already_there(workspace: WorkspaceFolder, source: Path | None = None) -> str:
    """What to do where a workspace is to be made and there is one."""
    return (
        f"{workspace.path} already holds a workspace: bring its catalog up to date with `likewise update "
        f"{workspace.path} {source or 'SOURCE'}` (votes, labels and vectors stay), choose another folder, or begin "
        "anew with --replace."
    )


def check_catalog(
    rows: pl.DataFrame, root: Path, on_progress: ProgressCallback | None = None, *, any_file: bool = False
) -> NewCatalog:
    """The catalog that rows make: keys unique, every picture opened once; nothing is written.

    With `any_file` the files need not be pictures.
    """
    rows = _with_keys(rows)
    unique, key_problems = _unique_keys(rows)
    good, picture_problems = check_rows(unique, root, on_progress, any_file=any_file)
    problems = pl.concat([key_problems, picture_problems]).sort("row", "image", "problem")
    if good.is_empty():
        first = problems.row(0, named=True) if len(problems) else None
        why = f" (first: row {first['row']}, {first['image']}: {first['detail']})" if first else ""
        raise LikewiseError(f"none of the {len(rows)} rows has a usable picture under {root}{why}.")
    hashes = good.select("image", "digest", "content_digest", "hash")
    return NewCatalog(_fill_defaults(good.drop("content_digest", "hash")), problems, len(rows), hashes)


def catalog_settings(
    workspace: WorkspaceFolder,
    checked: NewCatalog,
    root: Path,
    source: str,
    source_settings: dict[str, Any],
    versions: Sequence[CatalogVersion],
) -> dict[str, Any]:
    """The content of workspace.json; the last of the versions is the one that counts."""
    return {
        "format": FORMAT,
        "root": _relative(root, workspace.path),
        "source": source,
        "source_settings": source_settings,
        "images": len(checked.catalog),
        "left_out": checked.n_rows - len(checked.catalog),
        "fingerprint": catalog_fingerprint(checked.catalog),
        "version": versions[-1].version,
        "versions": [each.to_dict() for each in versions],
    }


def _with_keys(rows: pl.DataFrame) -> pl.DataFrame:
    if "image" not in rows.columns:
        raise LikewiseError(
            f"the table has no column `image` (it has: {', '.join(rows.columns) or 'none'}): "
            "rename the column that holds the picture's path relative to the root."
        )
    rows = check_columns(rows, CATALOG_COLUMNS, "the table of images")
    if rows.is_empty():
        raise LikewiseError("there is no image to put into the catalog: the folder or table is empty.")
    rows = rows.drop(column for column in (*MADE_COLUMNS, *HISTORY_COLUMNS) if column in rows.columns)
    if "row" not in rows.columns:
        rows = rows.with_row_index("row", offset=1)
    names = [_tidy_name(column) for column in ("item", "category") if column in rows.columns]
    rows = rows.with_columns(pl.col("row").cast(pl.Int64), pl.col("image").cast(pl.String).str.strip_chars(), *names)
    return check_columns(rows, TIDY_COLUMNS, "the table of images")


def _tidy_name(column: str) -> pl.Expr:
    """A name on one line without spaces around it; a blank one is none."""
    name = pl.col(column).cast(pl.String).str.replace_all(r"[\x00-\x1f\x7f]", " ").str.strip_chars()
    return pl.when(name != "").then(name).alias(column)


def _unique_keys(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The first row of each key, and a problem for every further one and for every row without a key."""
    odd = pl.col("image").str.contains(UNUSABLE_KEY) | (pl.col("image").str.len_bytes() > MAX_KEY_BYTES)
    unusable = rows.filter(odd.fill_null(False)).select(
        "row",
        pl.col("image").str.slice(0, 80).str.replace_all(r"[\x00-\x1f\x7f]", "?"),
        pl.lit("unusable key").alias("problem"),
        pl.lit("a key is a path below the root, on one line: not absolute, and without ..").alias("detail"),
        pl.lit(False).alias("kept"),
    )
    rows = rows.filter(~odd.fill_null(False))
    named = rows.filter(pl.col("image").is_not_null() & (pl.col("image") != ""))
    nameless = rows.join(named.select("row"), on="row", how="anti").select(
        "row",
        pl.lit("").alias("image"),
        pl.lit("no key").alias("problem"),
        pl.lit("the column `image` is empty").alias("detail"),
        pl.lit(False).alias("kept"),
    )
    repeated = (
        named.with_columns(pl.col("row").first().over("image").alias("first_row"))
        .filter(pl.col("row") != pl.col("first_row"))
        .select(
            "row",
            "image",
            pl.lit("duplicate key").alias("problem"),
            pl.format("row {} already has this image", "first_row").alias("detail"),
            pl.lit(False).alias("kept"),
        )
    )
    problems = pl.concat([unusable, nameless, repeated]).cast(dict(PROBLEM_SCHEMA))  # type: ignore[arg-type]
    return named.unique("image", keep="first", maintain_order=True), problems


def _fill_defaults(good: pl.DataFrame) -> pl.DataFrame:
    """Fill in what a row may leave out: an image without an item is an item of its own."""
    for column in ("item", "category"):
        if column not in good.columns:
            good = good.with_columns(pl.lit(None, pl.String).alias(column))
    good = good.with_columns(
        pl.coalesce(pl.col("item").cast(pl.String), "image").alias("item"),
        pl.col("category").cast(pl.String),
    )
    others = [c for c in good.columns if c not in (*KEY_COLUMNS, *MADE_COLUMNS, "row")]
    return good.select(*KEY_COLUMNS, *others, *MADE_COLUMNS).sort("image")


def _relative(root: Path, workspace: Path) -> str:
    """Relative when the pictures lie inside the workspace, so that the folder can be moved; absolute otherwise."""
    root, workspace = root.resolve(), workspace.resolve()
    return os.path.relpath(root, workspace) if root.is_relative_to(workspace) else str(root)
