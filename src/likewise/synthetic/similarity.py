"""How similar two items look, graded in [0, 1], from one component per attribute.

    similarity(x, y) = kin(category)^w_category * sum_c w_c v_c s_c / sum_c w_c v_c

over the components c that apply to both items. s_c is the kinship of the two values (``kinship.py``; colours by their
distance in Lab), v_c its visibility: 1, except for the second colour of a solid item, which shows only as a trim
(TRIM_VISIBILITY; the mean of both items). The category's kinship multiplies, so items of unrelated categories are
never similar however their colours agree. A person is another set of weights. An item is 1 to itself.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.synthetic.codes import Codes, encode_items
from likewise.synthetic.colour import FloatArray
from likewise.synthetic.kinship import kinship_tables
from likewise.synthetic.vocabulary import ATTRIBUTES

IntArray = NDArray[np.int64]

BASE_WEIGHTS: dict[str, float] = {
    "category": 1.0,
    "colour": 3.0,
    "second_colour": 1.2,
    "pattern": 2.4,
    "material": 1.8,
    "silhouette": 3.0,
    "length": 1.6,
    "sleeve": 1.3,
    "neckline": 1.1,
    "style": 1.2,
    "season": 0.8,
    "occasion": 0.8,
}
"""The average viewer: shape and colour first, then pattern and material, then cut and trims."""

SIMILAR_AT = 0.65
"""At or above this, most people would say similar (with BASE_WEIGHTS)."""

TRIM_VISIBILITY = 0.4


def component_names() -> tuple[str, ...]:
    """The components, in the order of ``similarity_components``; "category" multiplies, the others are averaged."""
    return tuple(BASE_WEIGHTS)


def similarity_components(items: pl.DataFrame, rows: IntArray, cols: IntArray) -> FloatArray:
    """[n_components, n_pairs]: the kinship of each component, NaN where it does not apply to both items."""
    codes = encode_items(items)
    result = np.empty((len(BASE_WEIGHTS), len(rows)), dtype=np.float32)
    for index, name in enumerate(BASE_WEIGHTS):
        result[index] = _kin(name, codes, rows, cols)
    result[result < 0] = np.nan
    return result


def similarity(
    items: pl.DataFrame, rows: IntArray, cols: IntArray, weights: Mapping[str, float] | None = None
) -> FloatArray:
    """Graded similarity of the pairs (rows[i], cols[i]) of row numbers of ``items``."""
    chosen = _weights(weights)
    codes = encode_items(items)
    rows, cols = np.asarray(rows), np.asarray(cols)
    if rows.shape != cols.shape:
        raise LikewiseError(f"rows and cols name pairs, but there are {rows.size} rows and {cols.size} columns")
    shown = np.where(codes["pattern"] == ATTRIBUTES["pattern"].index("solid"), TRIM_VISIBILITY, 1.0)
    half_shown = (shown / 2).astype(np.float32)
    total = np.zeros(rows.shape, dtype=np.float32)
    norm = np.zeros(rows.shape, dtype=np.float32)
    for name, weight in chosen.items():
        if name == "category" or weight == 0:
            continue
        kin = _kin(name, codes, rows, cols)
        share = (kin >= 0).astype(np.float32) * np.float32(weight)
        if name == "second_colour":
            share *= half_shown[rows] + half_shown[cols]
        total += share * kin
        norm += share
    mean = np.divide(total, norm, out=np.ones_like(total), where=norm > 0)
    related = _kin("category", codes, rows, cols)
    if chosen["category"] != 1:
        related = related ** np.float32(chosen["category"])
    return np.clip(mean * related, 0, 1)


@cache
def _tables() -> dict[str, FloatArray]:
    """Kinship with one more row and column, -1, which code -1 (does not apply) falls on."""
    return {name: np.pad(table, (0, 1), constant_values=-1) for name, table in kinship_tables().items()}


def _kin(name: str, codes: Codes, rows: IntArray, cols: IntArray) -> FloatArray:
    table = _tables()[name]
    code = codes[name].astype(np.int32) % len(table)
    return table.ravel().take(code[rows] * len(table) + code[cols])


def _weights(weights: Mapping[str, float] | None) -> dict[str, float]:
    chosen = dict(BASE_WEIGHTS) | dict(weights or {})
    unknown = sorted(set(chosen) - set(BASE_WEIGHTS))
    if unknown:
        raise LikewiseError(f"unknown component {unknown[0]!r}; the components are {', '.join(BASE_WEIGHTS)}")
    if min(chosen.values()) < 0:
        raise LikewiseError("a component's weight is negative; weights are 0 or more")
    return chosen
