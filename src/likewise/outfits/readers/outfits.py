"""Outfits from anywhere (POG and others): a table with columns `outfit, item`, optionally `position, image, category`.

Without a column `image` an item's picture is `<item>.jpg` (or .png, .webp) below `root` or its folder `images/`.
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.locations import ImageFinder
from likewise.catalog.readers.parsing import AnnotationParser, parse_text, to_table
from likewise.catalog.readers.reading import Reading
from likewise.catalog.readers.table import read_table, with_numbers
from likewise.errors import LikewiseError

ENDINGS = (".jpg", ".png", ".webp", ".jpeg")
NEEDED = ("outfit", "item")


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per item; the outfits with positions counted from 1 in the table's order where it gives none."""
    parser, base = AnnotationParser(path.parent), root or path.parent
    lines = read_table(path, parser)
    if absent := [column for column in NEEDED if column not in lines.columns]:
        raise LikewiseError(f"{path} has no column {', '.join(absent)} (it has: {', '.join(lines.columns)}).")
    numbered = list(enumerate(lines.select(NEEDED).iter_rows(), 1))
    expected = "an outfit and an item"
    good = parser.parse_each(
        path, "row", numbered, lambda pair: (parse_text(pair[0]), parse_text(pair[1])), expected, counted=False
    )
    named = to_table(((n, *pair) for n, pair in good), {"row": pl.Int64, "outfit": pl.String, "item": pl.String})
    lines = with_numbers(lines).drop(NEEDED)
    outfits = named.join(lines, on="row", maintain_order="left")
    if "position" not in outfits.columns:
        outfits = outfits.with_columns(pl.int_range(1, pl.len() + 1).over("outfit").alias("position"))
    if "image" not in outfits.columns:
        finder = ImageFinder(base, ("images", "."), ENDINGS)
        outfits = outfits.with_columns(pl.col("item").map_elements(finder.find_key, pl.String).alias("image"))
    rows = outfits.drop("outfit", "position").unique("image", keep="first", maintain_order=True)
    first = ("outfit", "item", "position")
    return parser.to_reading(rows, base, {"outfits": outfits.select(*first, pl.exclude(*first, "row"))})
