"""Parsing annotation files line by line or entry by entry, writing down what does not fit and going on.

Files may start with a byte-order mark, end lines the Windows way, carry trailing spaces, and give numbers as text.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from likewise.catalog.readers.reading import Coverage, MalformedLine, Reading, SourceFile, find_missing
from likewise.errors import LikewiseError
from likewise.untrusted import ColumnRule, check_columns, parse_json

T = TypeVar("T")
Schema = Mapping[str, Any]

PARSE_ERRORS = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
MAX_QUOTE_LENGTH = 80


@dataclass
class AnnotationParser:
    """What was read and what did not fit; paths are written relative to `base`."""

    base: Path
    files: list[SourceFile] = field(default_factory=list)
    malformed: list[MalformedLine] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def name(self, file: Path) -> str:
        return file.relative_to(self.base).as_posix() if file.is_relative_to(self.base) else str(file)

    def add_remark(self, sentence: str) -> None:
        self.remarks.append(sentence)

    def parse_lines(
        self, file: Path, parse: Callable[[str], T], expected: str, *, skip: int = 0
    ) -> list[tuple[int, T]]:
        """Every line that `parse` accepts, with its number; `skip` leaves out lines at the top."""
        numbered = enumerate(read_text(file).split("\n"), 1)
        kept = [(n, stripped) for n, line in numbered if n > skip and (stripped := line.strip())]
        return self.parse_each(file, "line", kept, parse, expected)

    def parse_entries(
        self, file: Path, parse: Callable[[Any], T], expected: str, *, inside: str | None = None, content: Any = None
    ) -> list[tuple[int, T]]:
        """Every entry of a JSON list (or of the list under the key `inside`) that `parse` accepts, counted from 1.

        `content` is what the file holds, where it has been read already.
        """
        content = read_json(file) if content is None else content
        if inside is not None:
            content = content.get(inside) if isinstance(content, dict) else None
        if not isinstance(content, list):
            where = f" under the key {inside!r}" if inside else ""
            raise LikewiseError(f"{file} is not of this layout: expected a list{where} of {expected}.")
        return self.parse_each(file, "entry", list(enumerate(content, 1)), parse, expected)

    def parse_pairs(self, file: Path, parse: Callable[[tuple[str, Any]], T], expected: str) -> list[tuple[int, T]]:
        """Every (key, value) of a JSON object that `parse` accepts, counted from 1."""
        content = read_json(file)
        if not isinstance(content, dict):
            raise LikewiseError(f"{file} is not of this layout: expected an object with {expected} in each entry.")
        return self.parse_each(file, "entry", list(enumerate(content.items(), 1)), parse, expected)

    def parse_each(
        self,
        file: Path,
        unit: str,
        numbered: Iterable[tuple[int, Any]],
        parse: Callable[[Any], T],
        expected: str,
        *,
        counted: bool = True,
    ) -> list[tuple[int, T]]:
        """Parse one by one; what raises is written down and left out, unless nothing fits at all."""
        good: list[tuple[int, T]] = []
        bad: list[MalformedLine] = []
        for number, value in numbered:
            try:
                good.append((number, parse(value)))
            except PARSE_ERRORS:
                bad.append(MalformedLine(self.name(file), number, unit, expected, quote_value(value)))
        if bad and not good:
            raise LikewiseError(
                f"{file} is not of this layout: {unit} {bad[0].line} should be {expected}, but is {bad[0].found}."
            )
        if counted:
            self.files.append(SourceFile(self.name(file), len(good) + len(bad)))
        self.malformed += bad
        return good

    def to_reading(self, rows: pl.DataFrame, root: Path, tables: dict[str, pl.DataFrame] | None = None) -> Reading:
        """Put everything together; here it is looked up which pictures exist."""
        rows = check_columns(rows, {"image": ColumnRule(null=True, optional=True, one_line=False)}, str(self.base))
        named = rows["image"].drop_nulls().cast(pl.String).str.strip_chars() if "image" in rows.columns else pl.Series()
        found, missing = find_missing((str(key) for key in named if key), root)
        coverage = Coverage(
            tuple(self.files), found, missing, tuple(self.malformed), tuple(dict.fromkeys(self.remarks)), root
        )
        return Reading(rows, root, coverage, {name: table for name, table in (tables or {}).items() if len(table)})


def read_text(file: Path) -> str:
    if not file.is_file():
        raise LikewiseError(f"{file} does not exist: check the folder, or give the one that holds it.")
    return file.read_text(encoding="utf-8-sig", errors="replace")


def first_line(file: Path) -> str:
    return read_text(file).split("\n", 1)[0].strip()


def read_json(file: Path) -> Any:
    return parse_json(read_text(file), str(file))


def quote_value(value: object) -> str:
    """A line as it stood, shortened; an entry as JSON."""
    shown = repr(value) if isinstance(value, str) else json.dumps(value, default=str)
    return shown if len(shown) <= MAX_QUOTE_LENGTH else f"{shown[: MAX_QUOTE_LENGTH - 1]}…"


def to_table(rows: Iterable[tuple[object, ...]], schema: Schema) -> pl.DataFrame:
    """Rows of plain values as a typed table, empty ones included."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    by_name = zip(schema.items(), columns, strict=True)
    return pl.DataFrame([pl.Series(name, values, dtype, strict=False) for (name, dtype), values in by_name])


def parse_text(value: object) -> str:
    """A name or id, given as text or as a number."""
    if type(value) is str and (stripped := value.strip()):
        return stripped
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(value)
    if isinstance(value, float):
        value = parse_integer(value)
    if not (name := str(value).strip()):
        raise ValueError("empty")
    return name


def parse_integer(value: object) -> int:
    """A whole number, given as a number or as text."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or value is None:
        raise ValueError(value)
    whole = float(str(value).strip())
    if whole != int(whole):
        raise ValueError(value)
    return int(whole)


def parse_number(value: object) -> float:
    """A number, given as one or as text."""
    if type(value) is float or type(value) is int:
        return float(value)
    if isinstance(value, bool):
        raise ValueError(value)
    return float(str(value))


def parse_flag(value: object) -> bool:
    """0 or 1 (or true, false), given as a number or as text."""
    return {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}[str(value).strip().lower()]


def box_from_size(x: object, y: object, width: object, height: object) -> tuple[float, float, float, float]:
    """A box given by its corner and size, as left, top, right, bottom."""
    left, top, w, h = (parse_number(value) for value in (x, y, width, height))
    if not (w >= 0 and h >= 0):  # also refuses not-a-number
        raise ValueError((width, height))
    return left, top, left + w, top + h


def valid_box(box: Sequence[float]) -> tuple[float, ...]:
    """A box (left, top, right, bottom) that has an inside; a ValueError for any other."""
    x1, y1, x2, y2 = box
    if not (x2 > x1 and y2 > y1):  # also refuses not-a-number
        raise ValueError(box)
    return x1, y1, x2, y2


def parse_key(value: object) -> str:
    """A path as written in a file, as a key: without `./` in front; one that leads out of the root is refused."""
    key = parse_text(value).removeprefix("./").lstrip("/")
    if ".." in key.split("/"):
        raise ValueError(key)
    return key
