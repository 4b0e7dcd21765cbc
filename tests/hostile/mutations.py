"""Valid files made hostile: bytes damaged, cells and JSON values replaced by what nobody expects."""

import json
import math
from collections.abc import Callable
from typing import Any

import polars as pl
from hypothesis import strategies as st

NASTY_TEXTS = (
    "", " ", "\x00", "a\x00b", "line\nbreak", "\u202e", "'\"", "=1+1", "../../etc/passwd", "/etc/passwd", "nan", "inf",
    "-1", "1e309", "9" * 5000, "x" * 200_000, "0000-00-00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00",
    "<script>alert(1)</script>", "\ufeff", "²", "true", "None", "adjudicator",
)  # fmt: skip
NASTY_NUMBERS = (0, -1, 7, 99, 2**31, 2**63 - 1, -(2**63), 0.5, -0.0, 1e300, 1e-300, math.nan, math.inf, -math.inf)
NASTY_COLUMNS = (
    [["a", "b"]], [b"\x00\xff"], [{"a": 1}], [None], [math.nan], [1e300], [True], ["x\x00"], [2**40], [[[1.0]]],
    ["y" * 9000],
)  # fmt: skip

texts = st.sampled_from(NASTY_TEXTS) | st.text(max_size=12)
numbers = st.sampled_from(NASTY_NUMBERS)
values = st.recursive(
    st.none() | st.booleans() | texts | numbers,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def damaged_bytes(draw: Callable[..., Any], content: bytes) -> bytes:
    """Cut off, doubled, or with some bytes changed, removed or put in."""
    kind, place = draw(st.sampled_from(["cut", "flip", "insert", "remove", "double", "empty"])), draw(st.floats(0, 1))
    at = int(place * len(content))
    if kind == "cut":
        return content[:at]
    if kind == "double":
        return content + content[at:]
    if kind == "empty":
        return b""
    if kind == "remove":
        return content[:at] + content[at + draw(st.integers(1, 40)) :]
    piece = draw(
        st.binary(min_size=1, max_size=8) | st.sampled_from([b"\x00", b"\xff\xfe", b"\n\n", b'"', b",,,,", b"\r"])
    )
    return bytes(content[:at] + piece + content[at + (len(piece) if kind == "flip" else 0) :])


@st.composite
def damaged_csv(draw: Callable[..., Any], content: bytes, separator: str = ",") -> bytes:
    """One cell, or one heading, replaced."""
    lines = content.decode().rstrip("\n").split("\n")
    row = draw(st.integers(0, len(lines) - 1))
    cells = lines[row].split(separator)
    place = draw(st.integers(0, len(cells) - 1))
    if draw(st.booleans()):
        cells[place] = draw(texts)
    elif draw(st.booleans()):
        cells.insert(place, cells[-1] + draw(st.sampled_from(["", " "])))
    else:
        del cells[place]
    lines[row] = separator.join(cells)
    return "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n"


def replace_somewhere(draw: Callable[..., Any], value: Any, new: Any) -> Any:
    """A JSON value with one part of it replaced, removed or added."""
    if isinstance(value, dict) and value and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(value)))
        if not draw(st.integers(0, 5)):
            return {name: inner for name, inner in value.items() if name != key}
        return value | {key: replace_somewhere(draw, value[key], new)}
    if isinstance(value, list) and value and draw(st.integers(0, 3)):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], replace_somewhere(draw, value[place], new), *value[place + 1 :]]
    return new


@st.composite
def damaged_json(draw: Callable[..., Any], content: bytes) -> bytes:
    value = replace_somewhere(draw, json.loads(content), draw(values))
    text = json.dumps(value)
    special = draw(st.sampled_from(["", "", "", "deep", "digits", "half"]))
    if special == "deep":
        text = text.replace(":", ": " + "[" * 100_000 + "]" * 100_000 + ', "x":', 1)
    elif special == "digits":
        text = text.replace(": ", ": " + "9" * 5000 + ', "x": ', 1)
    elif special == "half":
        text = text.replace('"', '"\\ud800', 1)
    return text.encode()


@st.composite
def damaged_table(draw: Callable[..., Any], table: pl.DataFrame) -> pl.DataFrame:
    """A column of another kind, a cell of another value, columns lost or doubled, rows repeated or lost."""
    kind = draw(st.sampled_from(["column", "cell", "drop", "rename", "repeat", "empty"]))
    name = draw(st.sampled_from(table.columns))
    if kind == "column":
        content = draw(st.sampled_from(NASTY_COLUMNS))
        return table.with_columns(pl.Series(name, content * len(table), strict=False))
    if kind == "cell" and len(table):
        row, column = draw(st.integers(0, len(table) - 1)), table[name].to_list()
        numeric = table[name].dtype.is_numeric()
        column[row] = draw(numbers if numeric else texts | st.none())
        return table.with_columns(pl.Series(name, column, pl.Float64 if numeric else None, strict=False))
    if kind == "drop":
        return table.drop(name)
    if kind == "rename":
        new = draw(st.sampled_from(["row", "row_in_source", "hash", "digest", "image ", "x"]))
        return table.rename({name: new}) if new not in table.columns else table
    if kind == "repeat" and len(table):
        return pl.concat([table, table.slice(draw(st.integers(0, len(table) - 1)), 1)])
    return table.clear()
