"""A table the user already has: CSV, TSV, Parquet or JSON lines, one row per image, a column `image`."""

from collections.abc import Callable
from pathlib import Path

import polars as pl

from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError

READ: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".csv": lambda path: pl.read_csv(path, infer_schema_length=None),
    ".tsv": lambda path: pl.read_csv(path, separator="\t", infer_schema_length=None),
    ".parquet": pl.read_parquet,
    ".jsonl": lambda path: pl.read_ndjson(path, infer_schema_length=None),
    ".ndjson": lambda path: pl.read_ndjson(path, infer_schema_length=None),
}


def read_table(path: Path) -> pl.DataFrame:
    """Any table file by its ending, or a sentence that says what is wrong with it."""
    if path.suffix.lower() not in READ:
        raise LikewiseError(f"{path} is no table I can read: give a file ending in {', '.join(sorted(READ))}.")
    if not path.exists():
        raise LikewiseError(f"{path} does not exist: check the path.")
    try:
        return READ[path.suffix.lower()](path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise LikewiseError(f"{path} cannot be read: {str(error).splitlines()[0]}.") from error


def read(path: Path, root: Path | None = None) -> Reading:
    """The table's rows; pictures are looked for relative to `root`, or to the table's own folder."""
    table = read_table(path)
    if "row" in table.columns:  # the source's own column of that name must not pass for our line numbers
        table = table.rename({"row": "row_in_source"})
    return Reading(table.with_row_index("row", offset=1), root or path.parent)
