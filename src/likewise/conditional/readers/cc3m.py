"""Conceptual Captions (CC3M, CC12M): lines `caption<TAB>url`, no header; only addresses, no pictures.

So there are no rows for a catalog, only the table `captions` (caption, url, split), to mine conditions from. CC12M
has the two the other way round: whichever starts with http is the address.
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.locations import find_files, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, parse_text, to_table
from likewise.catalog.readers.reading import Reading

NO_ROWS = {"row": pl.Int64, "image": pl.String}
SCHEMA = dict.fromkeys(("caption", "url", "split"), pl.String)


def read(path: Path, root: Path | None = None) -> Reading:
    """All captions with their addresses; the split is what the file's name says (train or val)."""
    folder = folder_of(path)
    parser, captions = AnnotationParser(folder), []
    for file in find_files(path, ("*.tsv",), "Conceptual Captions"):
        split = next((part for part in ("train", "val", "test") if part in file.stem.lower()), None)
        captions += [(*values, split) for _, values in parser.parse_lines(file, _parse, "`caption<TAB>url`")]
    return parser.to_reading(to_table([], NO_ROWS), root or folder, {"captions": to_table(captions, SCHEMA)})


def _parse(line: str) -> tuple[str, str]:
    caption, url = line.split("\t")
    if caption.startswith(("http://", "https://")):
        caption, url = url, caption
    if not url.strip().startswith(("http://", "https://")):
        raise ValueError(url)
    return parse_text(caption), parse_text(url)
