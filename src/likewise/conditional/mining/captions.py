"""Captions from anywhere, as one file `captions.parquet` (image, caption) that is read in slices.

Sources: a TSV without a header (`caption<TAB>image`, as Conceptual Captions), a CSV, Parquet or JSON-lines table with
the columns `image` and `caption`, or a workspace whose catalog has captions; the captions may stand in other columns,
and in several: then every image has several rows.  Everything is streamed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.catalog.table import read_catalog, select_catalog_rows
from likewise.errors import LikewiseError
from likewise.files import new_file
from likewise.lineage.halves import select_half
from likewise.workspace import WorkspaceFolder

COLUMNS = ("image", "caption")


CAPTION_COLUMNS = ("caption",)


@dataclass(frozen=True)
class CaptionChoice:
    """Which captions of a source: of one half of a workspace's items, of some of its images, in which columns."""

    half: str | None = None
    where: str | None = None
    columns: tuple[str, ...] = CAPTION_COLUMNS

    def __str__(self) -> str:
        parts = {"half": self.half, "where": self.where}
        if self.columns != CAPTION_COLUMNS:
            parts["columns"] = ",".join(self.columns)
        return "".join(f" {name} {value}" for name, value in parts.items() if value)


EVERYTHING = CaptionChoice()


def import_captions(source: Path, target: Path, choice: CaptionChoice = EVERYTHING) -> None:
    """Write `target` from `source`, row by row in its order; rows without an image or a caption are kept as null."""
    captions = scan_source(source, choice.columns)
    if choice.half is not None or choice.where is not None:
        wanted = choice.half or choice.where or ""
        chosen = select_catalog_rows(
            select_half(read_catalog(_workspace_of(source, wanted)), choice.half), choice.where
        )["image"]
        captions = captions.filter(pl.col("image").is_in(chosen.implode()))
    try:
        with new_file(target) as (part, _):
            captions.sink_parquet(part, compression="zstd", maintain_order=True)
    except pl.exceptions.PolarsError as error:
        first = str(error).split("\n", 1)[0]
        raise LikewiseError(f"{source} cannot be read ({first}): write caption and image, divided by a tab.") from error


def scan_source(source: Path, columns: Sequence[str] = CAPTION_COLUMNS) -> pl.LazyFrame:
    """A lazy table of image and caption."""
    if (source / "workspace.json").exists():
        source = WorkspaceFolder(source).catalog_file
    if not source.is_file():
        raise LikewiseError(f"there are no captions at {source}: name a TSV, CSV, Parquet or JSON-lines file.")
    if source.suffix == ".parquet":
        return _named(pl.scan_parquet(source, glob=False), source, columns)
    if source.suffix == ".csv":
        return _named(pl.scan_csv(source, glob=False, infer_schema=False), source, columns)
    if source.suffix in (".jsonl", ".ndjson"):
        return _named(pl.scan_ndjson(source), source, columns)
    return pl.scan_csv(
        source,
        glob=False,
        separator="\t",
        has_header=False,
        quote_char=None,
        schema={"caption": pl.String, "image": pl.String},
        truncate_ragged_lines=True,
    ).select(*COLUMNS)


def _workspace_of(source: Path, wanted: str) -> WorkspaceFolder:
    if not (source / "workspace.json").exists():
        raise LikewiseError(f"{source} has no items to divide or choose from: {wanted} is a part of a workspace.")
    return WorkspaceFolder(source)


def _named(table: pl.LazyFrame, source: Path, columns: Sequence[str]) -> pl.LazyFrame:
    there = table.collect_schema().names()
    missing = [name for name in ("image", *columns) if name not in there]
    if missing:
        raise LikewiseError(
            f"{source} has no column {' and no '.join(missing)}: captions need image and caption; "
            "name other columns with `--columns`."
        )
    texts = [pl.col(name).cast(pl.String) for name in columns]
    if len(columns) == 1:
        return table.select(pl.col("image").cast(pl.String), texts[0].alias("caption"))
    listed = table.select(pl.col("image").cast(pl.String), pl.concat_list(texts).alias("caption"))
    return listed.explode("caption").filter(pl.col("caption").str.strip_chars() != "")


def source_fingerprint(source: Path, choice: CaptionChoice = EVERYTHING) -> str:
    """Name, size and time of the source: enough to notice another file under the same name; and what was chosen."""
    path = source / "catalog.parquet" if (source / "workspace.json").exists() else source
    stat = path.stat()
    return f"{path.name} {stat.st_size} {stat.st_mtime_ns}{choice}"
