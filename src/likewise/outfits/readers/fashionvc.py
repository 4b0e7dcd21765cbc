"""FashionVC: tops and bottoms that were worn together, `gnd_top_bottom_pairs.csv` with lines `top,bottom` (ids).

Pictures are `<id>.jpg` in a folder of tops and one of bottoms (`top/`, `tops/`, … also below `img/` or `images/`).
Table `pairs`: `first` is the top, `second` the bottom; table `outfits`: the same pairs as outfits of two.
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.locations import ImageFinder, find_files, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, first_line, parse_text, to_table
from likewise.catalog.readers.reading import Reading
from likewise.outfits.readers.polyvore import OUTFIT_SCHEMA

KINDS = ("top", "bottom")
ENDINGS = (".jpg", ".png", ".jpeg")
ROW_SCHEMA = {"row": pl.Int64, "image": pl.String, "item": pl.String, "category": pl.String}


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per top and per bottom that a pair names; ids of the two kinds may be equal, items are `top-<id>`."""
    folder = folder_of(path)
    parser, base = AnnotationParser(folder), root or folder
    finders = {kind: ImageFinder(base, _folders(kind), ENDINGS) for kind in KINDS}
    rows: dict[str, tuple[object, ...]] = {}
    pairs: list[tuple[str, str]] = []
    outfits: list[tuple[object, ...]] = []
    for file in find_files(path, ("gnd_top_bottom_pairs*.csv",), "FashionVC"):
        for number, ids in parser.parse_lines(file, _parse, "`top,bottom`", skip=_header(file)):
            items = [f"{kind}-{name}" for kind, name in zip(KINDS, ids, strict=True)]
            pairs.append((items[0], items[1]))
            for place, (item, kind, name) in enumerate(zip(items, KINDS, ids, strict=True), 1):
                image = finders[kind].find_key(name)
                rows.setdefault(item, (number, image, item, kind))
                outfits.append((f"{file.stem}-{number}", item, place, image, kind, None))
    tables = {
        "pairs": to_table(pairs, {"first": pl.String, "second": pl.String}),
        "outfits": to_table(outfits, OUTFIT_SCHEMA),
    }
    return parser.to_reading(to_table(rows.values(), ROW_SCHEMA), base, tables)


def _folders(kind: str) -> list[str]:
    names = (kind, f"{kind}s", kind.capitalize(), f"{kind.capitalize()}s", f"{kind}_img", f"{kind}_images")
    return [f"{above}{name}" for above in ("", "img/", "images/") for name in names]


def _header(file: Path) -> int:
    """1 when the first line names columns instead of ids."""
    return int("top" in first_line(file).lower())


def _parse(line: str) -> tuple[str, str]:
    top, bottom = line.replace("\t", ",").split(",")
    return parse_text(top), parse_text(bottom)
