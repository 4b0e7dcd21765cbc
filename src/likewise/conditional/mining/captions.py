"""Captions from anywhere, as one file `captions.parquet` (image, caption) that is read in slices.

Sources: a TSV without a header (`caption<TAB>image`, as Conceptual Captions), a CSV, Parquet or JSON-lines table with
the columns `image` and `caption`, or a workspace whose catalog has captions.  Everything is streamed.
"""

import os
from pathlib import Path

import polars as pl

from likewise.catalog.table import read_catalog
from likewise.errors import LikewiseError
from likewise.files import replace_file, temporary_file
from likewise.lineage.halves import select_half
from likewise.workspace import WorkspaceFolder

COLUMNS = ("image", "caption")


def import_captions(source: Path, target: Path, half: str | None = None) -> None:
    """Write `target` from `source`, row by row in its order; rows without an image or a caption are kept as null.

    `half` keeps the items of one half of a workspace.
    """
    captions = scan_source(source)
    if half is not None:
        chosen = select_half(read_catalog(_workspace_of(source, half)), half)["image"]
        captions = captions.filter(pl.col("image").is_in(chosen.implode()))
    try:
        with temporary_file(target) as (part, file):
            captions.sink_parquet(part, compression="zstd", maintain_order=True)
            os.fsync(file.fileno())
            replace_file(part, target)
    except pl.exceptions.PolarsError as error:
        first = str(error).split("\n", 1)[0]
        raise LikewiseError(f"{source} cannot be read ({first}): write caption and image, divided by a tab.") from error


def scan_source(source: Path) -> pl.LazyFrame:
    """A lazy table of image and caption."""
    if (source / "workspace.json").exists():
        source = WorkspaceFolder(source).catalog_file
    if not source.is_file():
        raise LikewiseError(f"there are no captions at {source}: name a TSV, CSV, Parquet or JSON-lines file.")
    if source.suffix == ".parquet":
        return _named(pl.scan_parquet(source, glob=False), source)
    if source.suffix == ".csv":
        return _named(pl.scan_csv(source, glob=False, infer_schema=False), source)
    if source.suffix in (".jsonl", ".ndjson"):
        return _named(pl.scan_ndjson(source), source)
    return pl.scan_csv(
        source,
        glob=False,
        separator="\t",
        has_header=False,
        quote_char=None,
        schema={"caption": pl.String, "image": pl.String},
        truncate_ragged_lines=True,
    ).select(*COLUMNS)


def _workspace_of(source: Path, half: str) -> WorkspaceFolder:
    if not (source / "workspace.json").exists():
        raise LikewiseError(f"{source} has no items to divide: the half {half} is one of a workspace's.")
    return WorkspaceFolder(source)


def _named(table: pl.LazyFrame, source: Path) -> pl.LazyFrame:
    missing = [name for name in COLUMNS if name not in table.collect_schema().names()]
    if missing:
        raise LikewiseError(f"{source} has no column {' and no '.join(missing)}: captions need image and caption.")
    return table.select(*(pl.col(name).cast(pl.String) for name in COLUMNS))


def source_fingerprint(source: Path, half: str | None = None) -> str:
    """Name, size and time of the source: enough to notice another file under the same name; and the half of it."""
    path = source / "catalog.parquet" if (source / "workspace.json").exists() else source
    stat = path.stat()
    return f"{path.name} {stat.st_size} {stat.st_mtime_ns}{f' half {half}' if half else ''}"
