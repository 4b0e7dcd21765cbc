"""SBU captioned photos: one JSON object with the equally long lists `image_urls` and `captions`; no pictures.

So there are no rows for a catalog, only the table `captions` (caption, url).
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.locations import find_files, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, parse_text, read_json, to_table
from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError

NO_ROWS = {"row": pl.Int64, "image": pl.String}
SCHEMA = dict.fromkeys(("caption", "url"), pl.String)


def read(path: Path, root: Path | None = None) -> Reading:
    """All captions with their addresses; an entry without words or address is reported and left out."""
    folder = folder_of(path)
    parser, captions = AnnotationParser(folder), []
    for file in find_files(path, ("*.json",), "SBU"):
        content = read_json(file)
        known = content if isinstance(content, dict) else {}
        lists = [values for name in ("captions", "image_urls") if isinstance(values := known.get(name), list)]
        if len(lists) != 2 or len(lists[0]) != len(lists[1]):
            raise LikewiseError(f"{file} is not SBU: expected `image_urls` and `captions`, two lists of one length.")
        numbered = list(enumerate(zip(*lists, strict=True), 1))
        captions += parser.parse_each(
            file, "entry", numbered, lambda pair: (parse_text(pair[0]), parse_text(pair[1])), "a caption and a url"
        )
    return parser.to_reading(
        to_table([], NO_ROWS), root or folder, {"captions": to_table((pair for _, pair in captions), SCHEMA)}
    )
