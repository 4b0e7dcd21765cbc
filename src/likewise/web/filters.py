"""What a page offers to filter by: the columns of a catalog, with their values where these are few."""

from typing import Any

import polars as pl

from likewise.catalog.table import MADE_COLUMNS

MAX_VALUES_LISTED = 200


def filter_columns(catalog: pl.DataFrame) -> list[dict[str, Any]]:
    """Every column that tells images apart, but for the key: its name, and its values where they can be listed.

    Those with another value for most images, such as titles, come last: nobody filters by them first.
    """
    shown: list[dict[str, Any]] = []
    single: list[dict[str, Any]] = []
    for name in catalog.columns:
        if name in (*MADE_COLUMNS, "image") or isinstance(catalog.schema[name], pl.List | pl.Struct | pl.Array):
            continue
        values = catalog[name].drop_nulls().cast(pl.String).unique()
        column = {"name": name, "values": values.sort().to_list() if len(values) <= MAX_VALUES_LISTED else []}
        if len(values) > 1:
            (single if 2 * len(values) > len(catalog) else shown).append(column)
    return shown + single
