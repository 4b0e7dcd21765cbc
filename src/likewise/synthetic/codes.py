"""Items as small integers: one column per attribute, -1 where it does not apply."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.synthetic.vocabulary import ATTRIBUTES, CATEGORIES

Codes = dict[str, NDArray[np.int16]]


def encode_items(items: pl.DataFrame) -> Codes:
    """component -> code of every row; raises if a column is missing or holds an unknown word."""
    codes: Codes = {}
    for name, values in {"category": CATEGORIES, **ATTRIBUTES}.items():
        if name not in items.columns:
            raise LikewiseError(f"the items have no column {name!r}; pass the table made by make_items")
        column = items[name]
        mapped = column.replace_strict(list(values), list(range(len(values))), default=-1, return_dtype=pl.Int16)
        unknown = column.filter((mapped < 0) & column.is_not_null())
        if len(unknown) or (name == "category" and column.null_count()):
            word = unknown[0] if len(unknown) else None
            raise LikewiseError(f"column {name!r} holds {word!r}, which is none of {', '.join(values)}")
        codes[name] = mapped.fill_null(-1).to_numpy().astype(np.int16)
    return codes
