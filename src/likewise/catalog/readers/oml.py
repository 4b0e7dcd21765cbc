"""open-metric-learning's table: `label, path, split, is_query, is_gallery`, optionally `category, sequence` and a box.

`label` is the item; `split` is train or validation; `is_query` and `is_gallery` are empty for training rows;
the box is `x_1, x_2, y_1, y_2` in pixels. Paths are relative to `root` (the table's folder by default) or absolute.
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.locations import choose_root, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, parse_flag
from likewise.catalog.readers.reading import Reading
from likewise.catalog.readers.table import read_table, with_numbers
from likewise.errors import LikewiseError

REQUIRED = ("label", "path", "split", "is_query", "is_gallery")
SPLITS = ("train", "validation")
BOX = {"x_1": "x1", "y_1": "y1", "x_2": "x2", "y_2": "y2"}


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per line, with item, split and roles; the queries as a table."""
    file = path
    if path.is_dir():
        tables = sorted(path.glob("df*.csv")) or sorted(path.glob("*.csv"))
        if len(tables) != 1:
            raise LikewiseError(f"{path} holds {len(tables)} CSV files: give the one to read.")
        file = tables[0]
    parser = AnnotationParser(file.parent)
    lines = read_table(file, parser)
    if absent := [column for column in REQUIRED if column not in lines.columns]:
        raise LikewiseError(
            f"{file} is not open-metric-learning's table: it has no column {', '.join(absent)} "
            f"(expected {', '.join(REQUIRED)})."
        )

    def fits(line: dict[str, object]) -> tuple[object, ...]:
        if line["split"] not in SPLITS or line["path"] is None or line["label"] is None:
            raise ValueError(line)
        return (line["path"], *(None if line[role] in (None, "") else parse_flag(line[role]) for role in REQUIRED[3:]))

    checked = parser.parse_each(
        file,
        "row",
        list(enumerate(lines.to_dicts(), 1)),
        fits,
        "a path, a label, and train or validation",
        counted=False,
    )
    kept = with_numbers(lines).filter(pl.col("row").is_in([number for number, _ in checked]))
    keys = [_key(str(values[0]), root or folder_of(file)) for _, values in checked]
    rows = kept.with_columns(
        pl.Series("image", keys, pl.String),
        pl.col("label").cast(pl.String).alias("item"),
        pl.Series("is_query", [values[1] for _, values in checked], pl.Boolean),
        pl.Series("is_gallery", [values[2] for _, values in checked], pl.Boolean),
    ).drop("label", "path")
    rows = rows.rename({name: short for name, short in BOX.items() if name in rows.columns})
    rows = rows.select("row", "image", "item", pl.exclude("row", "image", "item"))
    queries = rows.filter("is_query").select("image", "item", "split")
    return parser.to_reading(rows, choose_root(keys, file, root), {"queries": queries})


def _key(path: str, root: Path) -> str:
    """Relative to the root when the path lies in it."""
    inside = Path(path).is_absolute() and Path(path).is_relative_to(root.resolve())
    return Path(path).relative_to(root.resolve()).as_posix() if inside else path.removeprefix("./")
