"""The door for files from elsewhere: JSON, the columns of tables, and words are checked once, here.

What does not fit is one sentence with file, row and column; what passes has the types that the rest of the house
expects.
"""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from likewise.errors import LikewiseError
from likewise.untrusted.parquet_footer import unpacked_size

if TYPE_CHECKING:
    import polars as pl

EXPORT_AGAIN = "export it again with likewise"
MAX_DEPTH = 32
MAX_TEXT = 4096  # characters of a key or a name
MAX_CELLS = 50_000_000  # values of a table in a bundle, those in lists too
MAX_UNPACKED_BYTES = 2_000_000_000  # of its pages
MAX_PACKING = 1000  # values, or bytes, for each byte of a file that its user chose
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")

Kind = Literal["text", "whole", "number", "truth", "texts", "wholes", "anything"]
Shape = Mapping[str, Any] | list[Any] | type | tuple[type | None, ...]


def parse_json(content: str | bytes, where: str) -> Any:
    """The value of a JSON text that a program can work with: not endlessly nested, its texts writable."""
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
        value = json.loads(text)
    except RecursionError:
        raise LikewiseError(f"{where} is nested too deeply: write it again without lists inside lists.") from None
    except UnicodeDecodeError as error:
        raise LikewiseError(f"{where} is not UTF-8 text: save it again.") from error
    except ValueError as error:  # not JSON, or a number of thousands of digits
        raise LikewiseError(f"{where} is not valid JSON ({_first_line(error)}): write it again.") from error
    if SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise LikewiseError(
                f"{where} holds half a character (a lone surrogate): write its texts as UTF-8."
            ) from None
    return value


def refuse_deep_nesting(value: object, where: str) -> None:
    """Raise for lists in lists in lists ...: a table has none of them."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise LikewiseError(f"{where} is nested too deeply: write it again without lists inside lists.")


def check_shape(value: object, shape: Shape, where: str, name: str = "", *, then: str = EXPORT_AGAIN) -> None:
    """Raise where a JSON value is not of a shape: a mapping by its keys, [kind] a list, a type, or several of them."""
    if isinstance(shape, Mapping):
        if not isinstance(value, dict):
            raise LikewiseError(f"{where}: {name or 'it'} is no JSON object: {then}.")
        for key, inner in shape.items():
            if key not in value:
                raise LikewiseError(f"{where} says nothing about {_dotted(name, key)}: {then}.")
            check_shape(value[key], inner, where, _dotted(name, key), then=then)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise LikewiseError(f"{where}: {name} is {_quoted(value)}, not a list.")
        for inner in value:
            check_shape(inner, shape[0], where, name, then=then)
    else:
        kinds = shape if isinstance(shape, tuple) else (shape,)
        fits = type(value) in kinds or (value is None and None in kinds)
        if not fits or (isinstance(value, float) and not abs(value) < 1e300) or _too_long(value):
            wanted = " or ".join("nothing" if kind is None else _KIND_WORDS.get(kind, str(kind)) for kind in kinds)
            raise LikewiseError(f"{where}: {name} is {_quoted(value)}, not {wanted}.")


@dataclass(frozen=True)
class ColumnRule:
    """What a column must hold; `null` where it may be empty, `truths` where a text may be written as true or false."""

    kind: Kind = "text"
    null: bool = False
    optional: bool = False
    one_line: bool = True
    low: float | None = None
    high: float | None = None
    truths: bool = False


TEXT = ColumnRule()


def check_columns(table: "pl.DataFrame", columns: Mapping[str, ColumnRule], where: str) -> "pl.DataFrame":
    """The table with these columns as what they must be, or a sentence that names the column and its first bad row."""
    for name, column in columns.items():
        if name not in table.columns:
            if column.optional:
                continue
            there = ", ".join(table.columns[:20]) or "none"
            raise LikewiseError(f"{where} has no column {name} (it has {there}): add it, or rename one of these.")
        table = table.with_columns(_checked(table[name], column, where).alias(name))
    return table


def read_untrusted_parquet(content: bytes | Path, where: str) -> "pl.DataFrame":
    """A table of somebody else's: a part of a bundle, or a file that its user chose.

    What would become more than a machine holds is refused before it is unpacked; of a file that its user chose, which
    may be large, only where it says so in hardly any bytes.
    """
    import polars as pl

    try:
        if isinstance(content, bytes):
            _refuse_large(content, where, 0)
            return pl.read_parquet(io.BytesIO(content))
        if content.is_file():
            with content.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
                _refuse_large(mapped, where, MAX_PACKING * len(mapped))
        return pl.read_parquet(content, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise LikewiseError(f"{where} cannot be read ({_first_line(error)}): get it again.") from error


def _refuse_large(content: bytes | mmap, where: str, allowed: int) -> None:
    size = unpacked_size(content)
    if size.n_values > max(MAX_CELLS, allowed) or size.n_bytes > max(MAX_UNPACKED_BYTES, allowed):
        becomes = f"{size.n_values:,} values, {size.n_bytes >> 20:,} MB"
        raise LikewiseError(f"{where} becomes {becomes}: that is too much for one file, so split it.")


def read_untrusted_csv(text: str, where: str, separators: str = ",;\t") -> "pl.DataFrame":
    """A table of text, separated by what its first line has most of; two columns of one name are refused."""
    import polars as pl

    header = text.lstrip().split("\n", 1)[0].rstrip("\r")
    separator = max(separators, key=header.count)
    tidy_headers(next(csv.reader([header], delimiter=separator), []), where)
    try:
        return pl.read_csv(io.BytesIO(text.encode()), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise LikewiseError(f"{where} cannot be read ({_first_line(error)}): write it again.") from error


def _checked(values: "pl.Series", column: ColumnRule, where: str) -> "pl.Series":
    import polars as pl

    kind, name = values.dtype, values.name
    plain = kind == pl.String or kind.is_integer() or kind in (pl.Categorical, pl.Enum)
    if column.kind == "anything":
        return values
    if column.kind in ("texts", "wholes"):
        inner = kind.inner if isinstance(kind, pl.List) else pl.Null
        fits = inner == pl.String if column.kind == "texts" else inner in (pl.Int64, pl.Int32, pl.UInt32, pl.Int16)
        if kind != pl.Null and not fits:
            raise LikewiseError(f"{where}: the column {name} holds {kind}, not lists of {column.kind[:-1]}.")
        _refuse_null(values, column, where)
        return values
    if kind == pl.Null:
        values = values.cast(pl.String)
    elif column.kind == "text":
        others = (pl.Date, pl.Datetime, pl.Boolean) if column.truths else (pl.Date, pl.Datetime)
        if not plain and not (kind.is_float() or kind in others):
            raise LikewiseError(f"{where}: the column {name} holds {kind}, not text: convert it.")
        values = _finite(values, where).cast(pl.String) if kind.is_float() else values.cast(pl.String)
    elif not (kind.is_numeric() or kind in (pl.String, pl.Boolean)):
        raise LikewiseError(f"{where}: the column {name} holds {kind}, not numbers: convert it.")
    _refuse_null(values, column, where)
    if column.kind == "text":
        if column.one_line:
            _refuse_words(values, where)
        return values
    numbers = values.cast(pl.Float64, strict=False)
    bad = (
        (numbers.is_null() & values.is_not_null())
        | numbers.is_nan().fill_null(False)
        | numbers.is_infinite().fill_null(False)
    )
    if column.kind in ("whole", "truth"):
        bad = bad | (numbers != numbers.round()).fill_null(False)
    low, high = (0.0, 1.0) if column.kind == "truth" else (column.low, column.high)
    if low is not None:
        bad = bad | (numbers < low).fill_null(False)
    if high is not None:
        bad = bad | (numbers > high).fill_null(False)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise LikewiseError(f"{where}, row {row + 1}: {name} is {_quoted(values[row])}, not {_wanted(column)}.")
    return values if kind.is_numeric() else numbers


def _finite(values: "pl.Series", where: str) -> "pl.Series":
    """Numbers where text is expected, as pandas writes numbered items and experts with gaps: not a number is empty."""
    if (endless := values.is_infinite().fill_null(False)).any():
        row = int(endless.arg_max() or 0)
        raise LikewiseError(f"{where}, row {row + 1}: {values.name} is {values[row]}: write a text.")
    return values.fill_nan(None)


def _refuse_null(values: "pl.Series", column: ColumnRule, where: str) -> None:
    if not column.null and values.null_count():
        row = int(values.is_null().arg_max() or 0)
        raise LikewiseError(f"{where}, row {row + 1}: the column {values.name} is empty: fill it, or delete the row.")


def _refuse_words(values: "pl.Series", where: str) -> None:
    odd = values.str.contains(r"[\x00-\x08\x0a-\x1f\x7f]") | (values.str.len_chars() > MAX_TEXT)
    if odd.any():
        row = int(odd.fill_null(False).arg_max() or 0)
        raise LikewiseError(
            f"{where}, row {row + 1}: the column {values.name} holds {_quoted(values[row])}: write one line of "
            f"at most {MAX_TEXT:,} characters."
        )


def check_line(text: str, what: str, where: str, longest: int = MAX_TEXT) -> str:
    """A text that fits in one line, such as a name; a sentence otherwise."""
    if CONTROL.search(text) or len(text) > longest:
        why = f"is longer than {longest:,} characters" if len(text) > longest else "is not a single line of text"
        raise LikewiseError(f"{where}: {what} {_quoted(text)} {why}: write another.")
    return text


def tidy_headers(names: Sequence[str], where: str, *, lower: bool = False) -> list[str]:
    """Names of columns without spaces around them; two that become the same are refused."""
    tidy = [name.strip().lower() if lower else name.strip() for name in names]
    for name in tidy:
        if tidy.count(name) > 1:
            raise LikewiseError(f"{where} has two columns {name!r}: rename one of them.")
    return tidy


_KIND_WORDS: dict[type, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _wanted(column: ColumnRule) -> str:
    if column.kind == "truth":
        return "0 or 1"
    noun = "a whole number" if column.kind == "whole" else "a number"
    low = "" if column.low is None else f" from {column.low:g}"
    return f"{noun}{low}{'' if column.high is None else f' up to {column.high:g}'}"


def _too_long(value: object) -> bool:
    return (isinstance(value, str) and len(value) > 100_000) or (isinstance(value, int) and abs(value) >= 1 << 63)


def _quoted(value: object) -> str:
    shown = ascii(value)
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


def _dotted(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]
