"""Which images may be results: those that keep some columns of the image asked with, and those a user restricts to."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.table import select_all
from likewise.conditional.templates.annotations import describing_columns
from likewise.errors import LikewiseError

KEPT = ("category",)
"""Columns in which results are like the image asked with, unless told otherwise."""
MAX_COLUMNS = 8
Mask = NDArray[np.bool_]


def check_columns(catalog: pl.DataFrame, keep: Sequence[str]) -> None:
    """Raise for a column that the catalog does not have."""
    for column in keep:
        if column not in catalog.columns:
            raise LikewiseError(f"the catalog has no column {column}: it has {', '.join(catalog.columns)}.")


def allowed_rows(catalog: pl.DataFrame, kept: Mapping[str, object], where: Sequence[str]) -> Mask:
    """Rows of the catalog that meet every condition of `where` and have the value of every column of `kept`."""
    allowed = np.ones(len(catalog), np.bool_)
    if where:
        allowed = catalog["image"].is_in(select_all(catalog, where)["image"].implode()).to_numpy().copy()
    for column, value in kept.items():
        allowed &= (catalog[column] == value).fill_null(False).to_numpy()
    return allowed


def common_value(values: pl.Series) -> object | None:
    """What at least half of the values are; None where they do not agree."""
    counted = values.drop_nulls().value_counts(sort=True)
    if counted.is_empty() or 2 * counted["count"][0] < len(values):
        return None
    found: object = counted[values.name][0]
    return found


def kept_columns(catalog: pl.DataFrame) -> list[str]:
    """Columns worth offering: the category where there are several, then those with a few values."""
    first = [name for name in KEPT if catalog[name].drop_nulls().n_unique() > 1]
    return [*first, *describing_columns(catalog, KEPT, required=False)][:MAX_COLUMNS]
