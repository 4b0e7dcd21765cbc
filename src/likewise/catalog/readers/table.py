"""A table the user already has: CSV, TSV, Parquet or JSON lines, one row per image, a column `image`.

A CSV line with too many or too few fields, or a JSON line that is none, is left out and reported with its number.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.parsing import AnnotationParser, read_text
from likewise.catalog.readers.reading import Reading, SourceFile
from likewise.errors import LikewiseError
from likewise.untrusted import read_untrusted_parquet, refuse_deep_nesting, tidy_headers

SEPARATORS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = ".parquet"
KEYS = ("image", "item", "category", "domain", "split")
ENDINGS = (*SEPARATORS, *JSON_LINES, PARQUET)


def read(path: Path, root: Path | None = None) -> Reading:
    """The table's rows; pictures are looked for relative to `root`, or to the table's own folder."""
    parser = AnnotationParser(path.parent)
    return parser.to_reading(with_numbers(read_table(path, parser)), root or path.parent)


def with_numbers(rows: pl.DataFrame, before: int = 0) -> pl.DataFrame:
    """A first column `row` that counts from 1 (after `before`); a column of that name in the source is renamed."""
    if "row" in rows.columns:
        free = next(
            name for name in (f"row_in_source{'_' * n}" for n in range(len(rows.columns) + 1)) if name not in rows
        )
        rows = rows.rename({"row": free})
    return rows.with_row_index("row", offset=before + 1).with_columns(pl.col("row").cast(pl.Int64))


def read_table(path: Path, parser: AnnotationParser | None = None) -> pl.DataFrame:
    """Any table file by its ending, or a sentence that says what is wrong with it.

    Lines that do not fit are told to the parser; without one there is nobody to tell, and the first is an error.
    """
    if parser is None:
        parser = AnnotationParser(path.parent)
        rows = read_table(path, parser)
        if parser.malformed:
            raise LikewiseError(f"{parser.malformed[0]}: mend this line.")
        return rows
    ending = path.suffix.lower()
    if ending not in ENDINGS or path.is_dir():
        raise LikewiseError(f"{path} is no table I can read: give a file ending in {', '.join(sorted(ENDINGS))}.")
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check the path.")
    try:
        if ending == PARQUET:
            rows = read_untrusted_parquet(path, str(path))
            rows.columns = tidy_headers(rows.columns, str(path))
            parser.files.append(SourceFile(parser.name(path), len(rows)))
            return rows
        return _json_lines(path, parser) if ending in JSON_LINES else _separated(path, SEPARATORS[ending], parser)
    except (pl.exceptions.PolarsError, OSError, csv.Error) as error:
        raise LikewiseError(f"{path} cannot be read: {str(error).splitlines()[0]}.") from error


def _separated(path: Path, separator: str, parser: AnnotationParser) -> pl.DataFrame:
    """Polars where every line clearly fits; else each line is checked, with its number, by the standard library."""
    content = read_text(path)
    if _is_plain(content, separator):
        rows = pl.read_csv(
            io.BytesIO(content.encode()), separator=separator, **as_written(content.split("\n", 1)[0].split(separator))
        )
        parser.files.append(SourceFile(parser.name(path), len(rows)))
        return rows
    numbered = list(_records(content, separator))
    if not numbered:
        raise LikewiseError(f"{path} is empty: the first line names the columns.")
    header = tidy_headers(numbered[0][1], str(path))

    def fits(record: list[str]) -> list[str]:
        if len(record) != len(header):
            raise ValueError(record)
        return [value.strip() for value in record]

    good = parser.parse_each(path, "line", list(numbered[1:]), fits, f"{len(header)} fields ({', '.join(header)})")
    buffer = io.StringIO()
    csv.writer(buffer).writerows([header, *(record for _, record in good)])
    return pl.read_csv(io.BytesIO(buffer.getvalue().encode()), **as_written(header))


def as_written(header: Sequence[str]) -> dict[str, Any]:
    """How to read a CSV so that keys stay text: item 007 is not item 7."""
    text = {name: pl.String for name in KEYS if name in header}
    return {"infer_schema_length": None, "schema_overrides": text}


def _is_plain(content: str, separator: str) -> bool:
    """No quotes, no spaces to strip, no empty lines, and in every line as many separators as in the first."""
    if not content or any(odd in content for odd in ('"', f" {separator}", f"{separator} ", " \n", "\n ", "\n\n")):
        return False
    counts = pl.Series(content.removesuffix("\n").split("\n")).str.count_matches(separator, literal=True)
    return bool((counts == counts[0]).all())


def _records(content: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Non-empty records with the line they start at."""
    reader = csv.reader(io.StringIO(content), delimiter=separator)
    start = 1
    for record in reader:
        if any(value.strip() for value in record):
            yield start, record
        start = reader.line_num + 1


def _json_lines(path: Path, parser: AnnotationParser) -> pl.DataFrame:
    def parse(line: str) -> str:
        record = json.loads(line)
        if not isinstance(record, dict) or any(isinstance(record.get(name), list | dict) for name in KEYS):
            raise ValueError(line)
        refuse_deep_nesting(record, str(path))
        json.dumps(record, ensure_ascii=False).encode()  # a lone surrogate is a ValueError too
        return line

    good = parser.parse_lines(path, parse, "a JSON object")
    return pl.read_ndjson(io.BytesIO("\n".join(line for _, line in good).encode()), infer_schema_length=None)
