"""Ways to get rows: one file per data-set layout, each a function from a path to a `Reading`; extensions add theirs.

`Reading.coverage` says how much is really there, `Reading.rows` are the catalog's, `Reading.tables` what else the
data set knows. The same words in all of them:

    queries        image, and what is asked of it
    labels         query, candidate, label (1 similar, 0 not)
    pairs          first, second (which is which: see the reader), what joins them
    triplets       anchor, close, far: `close` looks more like `anchor` than `far` does
    templates      condition, reference, target, gallery (list): composed queries
    candidates     the pictures of templates one by one, with their boxes
    captions       image or url, caption
    objects        image, object, name, box and area; attributes: object, attribute, present
    outfits        outfit, item, position (1-based)
    questions      items (list), answers (list), right (zero-based place in answers), position of the blank (1-based)
    compatibility  items (list), label (1 goes together, 0 does not)

Boxes are columns x1, y1, x2, y2 in pixels: left, top, right, bottom.
"""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import polars as pl

from likewise.catalog.item_names import items_by_name
from likewise.catalog.readers.layouts import DatasetLayout, layouts
from likewise.catalog.readers.reading import Coverage, MalformedLine, Reading
from likewise.catalog.readers.stored_tables import read_stored_table
from likewise.errors import LikewiseError


def choose_catalog_reader(path: Path, reader: str | None = None) -> str:
    """The reader's name; without one, a folder or a table is recognised by what it is."""
    name = (reader or ("folder" if path.is_dir() else "table")).strip().lower().replace("-", "_")
    if name not in layouts():
        raise LikewiseError(f"there is no reader {name!r}: choose one of {', '.join(sorted(layouts()))}.")
    return name


def read(path: Path, reader: str | None = None, root: Path | None = None) -> Reading:
    """Coverage, rows and tables of `path` by the named reader; pictures are looked for under `root` when given."""
    name = choose_catalog_reader(path, reader)
    if not path.exists():
        raise LikewiseError(f"{path} does not exist: give a folder of pictures, or a CSV, Parquet or JSONL file.")
    read_layout: Callable[[Path, Path | None], Reading] = import_module(layouts()[name].module).read
    return read_layout(path, root)


def with_items(reading: Reading, pattern: str | None) -> Reading:
    """The reading with items by a pattern over the names of images, where one is given."""
    return reading if pattern is None else replace(reading, rows=items_by_name(reading.rows, pattern))


def read_tables(path: Path, reader: str, root: Path | None = None) -> dict[str, pl.DataFrame]:
    """Only the tables (captions, templates, outfits …): works where no picture is on this machine."""
    return read(path, reader, root).tables


__all__ = [
    "Coverage",
    "DatasetLayout",
    "MalformedLine",
    "Reading",
    "layouts",
    "read",
    "read_stored_table",
    "read_tables",
    "reader_for",
    "with_items",
]
