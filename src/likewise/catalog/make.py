"""Rows from anywhere become the catalog of a workspace: keys made unique, pictures checked, problems written down."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.check import PROBLEM_SCHEMA, check_rows
from likewise.catalog.table import KEY_COLUMNS, MADE_COLUMNS, catalog_fingerprint
from likewise.catalog.truth import check_truth
from likewise.errors import LikewiseError
from likewise.progress import ProgressCallback
from likewise.workspace import FORMAT, WorkspaceFolder, write_json, write_parquet


@dataclass(frozen=True)
class NewCatalog:
    """A new catalog, and what was wrong or unusual in the rows it came from."""

    catalog: pl.DataFrame
    problems: pl.DataFrame

    @property
    def n_left_out(self) -> int:
        return int((~self.problems["kept"]).sum())


def make_catalog(
    workspace: WorkspaceFolder,
    rows: pl.DataFrame,
    root: Path,
    source: str,
    *,
    source_settings: dict[str, Any] | None = None,
    truth: pl.DataFrame | None = None,
    replace: bool = False,
    on_progress: ProgressCallback | None = None,
) -> NewCatalog:
    """Check `rows` (at least a column `image`, relative to `root`) and write catalog, problems and settings.

    `truth`: the pairs of items that look alike (`item_a`, `item_b`), where that is known.
    """
    if workspace.settings_file.exists() and not replace:
        raise LikewiseError(
            f"{workspace.path} already holds a workspace: choose another folder, or replace its catalog "
            "with `--replace` (vectors and labels made for the old one will be refused, not deleted)."
        )
    rows = _with_keys(rows)
    unique, key_problems = _unique_keys(rows)
    good, picture_problems = check_rows(unique, root, on_progress)
    problems = pl.concat([key_problems, picture_problems]).sort("row", "image", "problem")
    if good.is_empty():
        first = problems.row(0, named=True) if len(problems) else None
        why = f" (first: row {first['row']}, {first['image']}: {first['detail']})" if first else ""
        raise LikewiseError(f"none of the {len(rows)} rows has a usable picture under {root}{why}.")
    catalog = _fill_defaults(good)
    similar = None if truth is None else check_truth(truth, catalog)
    write_parquet(problems, workspace.problems_file)
    write_parquet(catalog, workspace.catalog_file)
    if similar is None:
        workspace.truth_file.unlink(missing_ok=True)
    else:
        write_parquet(similar, workspace.truth_file)
    settings = {
        "format": FORMAT,
        "root": _relative(root, workspace.path),
        "source": source,
        "source_settings": source_settings or {},
        "images": len(catalog),
        "left_out": len(rows) - len(catalog),
        "fingerprint": catalog_fingerprint(catalog),
    }
    write_json(settings, workspace.settings_file)  # last: a workspace exists once this file does
    return NewCatalog(catalog, problems)


def _with_keys(rows: pl.DataFrame) -> pl.DataFrame:
    if "image" not in rows.columns:
        raise LikewiseError(
            f"the table has no column `image` (it has: {', '.join(rows.columns) or 'none'}): "
            "rename the column that holds the picture's path relative to the root."
        )
    if rows.is_empty():
        raise LikewiseError("there is no image to put into the catalog: the folder or table is empty.")
    rows = rows.drop(column for column in MADE_COLUMNS if column in rows.columns)
    if "row" not in rows.columns:
        rows = rows.with_row_index("row", offset=1)
    return rows.with_columns(pl.col("row").cast(pl.Int64), pl.col("image").cast(pl.String).str.strip_chars())


def _unique_keys(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The first row of each key, and a problem for every further one and for every row without a key."""
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
    problems = pl.concat([nameless, repeated]).cast(dict(PROBLEM_SCHEMA))  # type: ignore[arg-type]
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
