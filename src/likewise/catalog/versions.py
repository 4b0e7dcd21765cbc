"""Versions of a catalog that lives: every update adds one, and rows know when they came and went.

catalog.parquet keeps a row for every state an image was ever in: `came` is the version it is part of first, `went`
the first one it is no longer part of (null: it still is). `picture` is the identity behind the name: it stays through
renames and when an image comes back. `content_digest` is that of the picture without metadata; null where an earlier
version of the program made the row. workspace.json names the version that counts, so rows of a later one, written by
an update that was stopped, are not there yet.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

import polars as pl

from likewise.errors import LikewiseError
from likewise.workspace import FIRST_VERSION, WorkspaceFolder, read_parquet

HISTORY_COLUMNS = ("content_digest", "picture", "came", "went")
ALWAYS = ("category", *HISTORY_COLUMNS)
RETIRED = "retired:"
DATE = re.compile(r"\d{4}(-\d{2}){0,2}")


@dataclass(frozen=True)
class CatalogVersion:
    """One version: when it was made, what it is called, and what changed with it."""

    version: int
    date: str
    images: int
    name: str = ""
    added: int = 0
    returned: int = 0
    removed: int = 0
    changed: int = 0
    renamed: int = 0
    attributes: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in (0, "")}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "CatalogVersion":
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})


def date_today(after: Sequence["CatalogVersion"] = ()) -> str:
    """The date of a version that follows others: not before theirs, even where the clock was set back."""
    return max([datetime.now(UTC).strftime("%Y-%m-%d"), *(each.date for each in after)])


def read_versions(workspace: WorkspaceFolder) -> tuple[CatalogVersion, ...]:
    """Every version of the catalog, oldest first."""
    settings = workspace.settings()
    first = {"version": FIRST_VERSION, "date": "", "images": settings.get("images", 0)}
    return tuple(CatalogVersion.from_dict(each) for each in settings.get("versions") or [first])


def catalog_version(workspace: WorkspaceFolder) -> int:
    """The version that counts: the one asked for, or the latest."""
    return workspace.as_of or read_versions(workspace)[-1].version


def find_version(workspace: WorkspaceFolder, as_of: str) -> int:
    """The version called so, with this number, or the last one of that day, month or year or before."""
    versions = read_versions(workspace)
    for each in versions:
        if as_of in (each.name, str(each.version)):
            return each.version
    if DATE.fullmatch(as_of):
        before = [each.version for each in versions if each.date[: len(as_of)] <= as_of]
        if before:
            return before[-1]
    known = ", ".join(f"{each.version} ({each.name or each.date or 'undated'})" for each in versions)
    raise LikewiseError(
        f"{workspace.path} has no version {as_of!r}: give a date such as 2026-09, a name or a number ({known})."
    )


def read_history(workspace: WorkspaceFolder) -> pl.DataFrame:
    """Every row of every version up to the latest, with `picture`, `came` and `went`."""
    latest = read_versions(workspace)[-1].version
    rows = read_parquet(workspace.catalog_file, f"likewise new {workspace.quoted} FOLDER")
    if "came" not in rows.columns:
        rows = with_history(rows, FIRST_VERSION)
    if "content_digest" not in rows.columns:
        rows = rows.with_columns(content_digest=pl.lit(None, pl.String))
    went = pl.when(pl.col("went") <= latest).then("went")
    return rows.filter(pl.col("came") <= latest).with_columns(went=went)


def with_history(rows: pl.DataFrame, version: int) -> pl.DataFrame:
    """Rows of a first version: equal files are told apart by a number."""
    identity = "digest" if "digest" in rows.columns else "image"
    picture = copy_number(pl.col(identity), pl.int_range(pl.len()).over(identity))
    return rows.with_columns(picture=picture, came=pl.lit(version, pl.Int32), went=pl.lit(None, pl.Int32))


def copy_number(digest: pl.Expr, copy: pl.Expr) -> pl.Expr:
    """The identity of the first file of a content, and of further ones."""
    return pl.when(copy == 0).then(digest).otherwise(pl.format("{}.{}", digest, copy))


def rows_at(history: pl.DataFrame, version: int) -> pl.DataFrame:
    """The rows of one version, sorted by image; columns that only other versions knew are left out."""
    alive = (pl.col("came") <= version) & (pl.col("went").is_null() | (pl.col("went") > version))
    rows = history.filter(alive).sort("image")
    if len(rows) == len(history):
        return rows
    unknown = [name for name in rows.columns if rows[name].null_count() == len(rows) and name not in ALWAYS]
    return rows.drop(name for name in unknown if history[name].null_count() < len(history))


def keys_at(history: pl.DataFrame, version: int) -> pl.DataFrame:
    """picture, key: what every picture known by then was called; one that was gone has a key no image can have."""
    known = history.filter(pl.col("came") <= version).sort("came").group_by("picture", maintain_order=True).last()
    gone = pl.col("went").is_not_null() & (pl.col("went") <= version)
    key = pl.when(gone).then(pl.format(f"{RETIRED}{{}}@{{}}", "image", "picture")).otherwise("image")
    return known.select("picture", key=key)


def key_changes(history: pl.DataFrame, before: int, after: int) -> dict[str, str]:
    """How keys of one version are spelt in another, where that differs.

    A picture that had not come yet gets a key no image can have: its name may have been that of another picture.
    """
    both = keys_at(history, before).join(keys_at(history, after), on="picture", how="left", suffix="_after")
    put_aside = pl.when(pl.col("key").str.starts_with(RETIRED)).then("key")
    not_yet = put_aside.otherwise(pl.format(f"{RETIRED}{{}}@{{}}", "key", "picture"))
    different = both.with_columns(pl.col("key_after").fill_null(not_yet)).filter(pl.col("key") != pl.col("key_after"))
    return dict(different.select("key", "key_after").iter_rows())


def rename_keys(table: pl.DataFrame, changes: dict[str, str], *columns: str) -> pl.DataFrame:
    """The table with its keys spelt anew."""
    return table.with_columns(pl.col(*columns).replace(changes)) if changes else table


def split_retired(table: pl.DataFrame, *columns: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows about images that are there, and rows about one that is gone."""
    gone = pl.any_horizontal(pl.col(*columns).str.starts_with(RETIRED))
    return table.filter(~gone), table.filter(gone)
