"""Which images may be results: those that keep some columns of the image asked with, and those a user restricts to."""

from collections.abc import Sequence

import polars as pl

from likewise.catalog.table import select
from likewise.conditional.templates.annotations import describing_columns
from likewise.errors import LikewiseError

KEPT = ("category",)
"""Columns in which results are like the image asked with, unless told otherwise."""
MAX_COLUMNS = 8


def allowed_images(catalog: pl.DataFrame, reference: str | None, keep: Sequence[str], where: str | None) -> set[str]:
    """Images that meet `where` and have the value that the reference has in every column of `keep`, if it has one."""
    chosen = select(catalog, where)
    for column in keep:
        if column not in catalog.columns:
            raise LikewiseError(f"the catalog has no column {column}: it has {', '.join(catalog.columns)}.")
        value = catalog.filter(image=reference)[column].to_list() if reference is not None else []
        if value and value[0] is not None:
            chosen = chosen.filter(pl.col(column) == value[0])
    return set(chosen["image"])


def kept_columns(catalog: pl.DataFrame) -> list[str]:
    """Columns worth offering: the category where there are several, then those with a few values."""
    first = [name for name in KEPT if catalog[name].drop_nulls().n_unique() > 1]
    return [*first, *describing_columns(catalog, KEPT, required=False)][:MAX_COLUMNS]
