"""The catalog table: `image` (key and path relative to the root), `item`, `category`, and whatever else is known.

`width`, `height` and `digest` (of the file's bytes) are added when it is made; the fingerprint of a catalog
is a hash over keys and digests, so vectors made from other pictures are recognised.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import polars as pl

from likewise.catalog.versions import HISTORY_COLUMNS, catalog_version, read_history, rows_at
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

KEY_COLUMNS = ("image", "item", "category")
MADE_COLUMNS = ("width", "height", "digest")


def read_catalog(workspace: WorkspaceFolder) -> pl.DataFrame:
    """The images that are in the catalog, sorted by key (of the version the workspace is looked at in)."""
    return rows_at(read_history(workspace), catalog_version(workspace)).drop(HISTORY_COLUMNS)


def catalog_fingerprint(catalog: pl.DataFrame) -> str:
    """A short hash over all keys and file digests: equal only for the same pictures under the same keys."""
    lines = catalog.select(pl.concat_str("image", "digest", separator="\t")).to_series()
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


def items_fingerprint(catalog: pl.DataFrame) -> str:
    """A short hash over which image shows which item; what is excluded from a query's list depends on it."""
    lines = catalog.select(pl.concat_str("image", "item", separator="\t")).to_series()
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


def items_of(catalog: pl.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For each catalog row a number that is equal exactly for images of one item."""
    return catalog["item"].rank("dense").cast(pl.Int64).to_numpy()


def select_catalog_rows(catalog: pl.DataFrame, conditions: str | None) -> pl.DataFrame:
    """The rows that meet conditions such as `domain=wild` or `split=test,category=shoes`; all rows for None."""
    return catalog if not conditions else select_all(catalog, conditions.split(","))


def select_all(catalog: pl.DataFrame, conditions: Sequence[str]) -> pl.DataFrame:
    """The rows that meet every condition `COLUMN=VALUE`; the value may hold anything."""
    chosen = catalog
    for condition in conditions:
        column, equals, value = condition.partition("=")
        if not equals or column not in catalog.columns:
            raise LikewiseError(
                f"cannot select images by {condition!r}: write COLUMN=VALUE with one of the catalog's columns "
                f"({', '.join(c for c in catalog.columns if c not in MADE_COLUMNS)})."
            )
        chosen = chosen.filter(pl.col(column).cast(pl.String) == value)
    if chosen.is_empty():
        raise LikewiseError(f"no image of the catalog meets {','.join(conditions)!r}: check the value's spelling.")
    return chosen
