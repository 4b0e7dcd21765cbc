"""Answers to "which of two looks more like the reference", as a table with names in the header.

The columns are `anchor, close, far`, or the same under one of the names below; the header decides the order, not the
place. A folder may hold `catalog.csv` (pictures) beside `triplets.csv`. Names in triplets may be those of images or of
items of the catalog: the column `names` of the table says which (null where the catalog does not know).
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.locations import find_file, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, to_table
from likewise.catalog.readers.reading import Reading
from likewise.catalog.readers.table import read_table, with_numbers
from likewise.errors import LikewiseError

SPELLINGS = {
    "anchor": ("anchor", "reference", "head", "query"),
    "close": ("close", "chosen", "positive", "winner", "near"),
    "far": ("far", "other", "negative", "loser"),
}
CATALOG = ("catalog.csv", "catalog.tsv", "catalog.parquet", "catalog.jsonl")
NO_ROWS = {"row": pl.Int64, "image": pl.String}


def read(path: Path, root: Path | None = None) -> Reading:
    """Triplets with whatever stood beside them (votes, split); rows from the catalog file where there is one."""
    folder = folder_of(path)
    parser = AnnotationParser(folder)
    file = find_file(path, ("triplets.csv", "triplets.tsv", "triplets.parquet", "triplets.jsonl"), "the triplets")
    triplets = read_table(file, parser)
    names = {}
    for column, spellings in SPELLINGS.items():
        found = next((name for name in triplets.columns if name.strip().lower() in spellings), None)
        if found is None:
            raise LikewiseError(
                f"{file} has no column for `{column}` (it has: {', '.join(triplets.columns)}): "
                f"call it {' or '.join(spellings)}."
            )
        names[found] = column
    triplets = triplets.rename(names).with_columns(pl.col(*SPELLINGS).cast(pl.String))
    catalog = next((folder / name for name in CATALOG if (folder / name).is_file()), None)
    rows = with_numbers(read_table(catalog, parser)) if catalog else to_table([], NO_ROWS)
    triplets = triplets.select(
        *SPELLINGS, pl.lit(_level(triplets, rows), pl.String).alias("names"), pl.exclude(*SPELLINGS)
    )
    return parser.to_reading(rows, root or folder, {"triplets": triplets})


def _level(triplets: pl.DataFrame, rows: pl.DataFrame) -> str | None:
    named = pl.concat([triplets[column] for column in SPELLINGS]).unique()
    for level in ("image", "item"):
        if level in rows.columns and named.is_in(rows[level].cast(pl.String).to_list()).all():
            return level
    return None
