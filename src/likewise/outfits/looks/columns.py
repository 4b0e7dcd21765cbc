"""Which columns of a catalog describe an item: texts of few different values, but no keys and no categories."""

import polars as pl

from likewise.catalog.table import MADE_COLUMNS

MAX_VALUES = 60
NOT_DESCRIBING = frozenset(
    {"image", "item", "category", "fine_category", "split", "half", "title", "caption", *MADE_COLUMNS}
)


def describing_columns(catalog: pl.DataFrame, max_values: int = MAX_VALUES) -> list[str]:
    """By name, such as colour, fabric, season."""
    return [
        name
        for name, kind in catalog.schema.items()
        if kind == pl.String and name not in NOT_DESCRIBING and 1 < catalog[name].n_unique() <= max_values
    ]
