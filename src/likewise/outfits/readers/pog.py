"""POG, also called Alibaba iFashion: `outfit_data.txt` and `item_data.txt`, lines without a header.

    outfit_data.txt   outfit,item;item;item…
    item_data.txt     item,category,address of the picture,title         the title may hold commas

Pictures are `<item>.jpg`, or as the address calls them, in `images/` or beside the files. Categories are numbers:
`likewise outfits rules` shows how to map them. Who clicked on what (`user_data.txt`) is not read.
"""

from pathlib import Path, PurePosixPath

import polars as pl

from likewise.catalog.readers.locations import ImageFinder, find_file, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, parse_text, to_table
from likewise.catalog.readers.reading import Reading
from likewise.outfits.readers.polyvore import OUTFIT_SCHEMA

FOLDERS, ENDINGS = ("images", "."), (".jpg", ".png", ".webp", ".jpeg")
ROW_SCHEMA = {
    "row": pl.Int64,
    "image": pl.String,
    "item": pl.String,
    "category": pl.String,
    "title": pl.String,
}


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per item that an outfit wears; what the item file does not know has no category and no title."""
    folder = folder_of(path)
    parser, base = AnnotationParser(folder), root or folder
    outfits = parser.parse_lines(find_file(folder, ("outfit_data.txt",), "POG"), _parse_outfit, "`outfit,item;item;…`")
    items = parser.parse_lines(
        find_file(folder, ("item_data.txt",), "POG"), _parse_item, "`item,category,address,title`"
    )
    about = {item: (category, address, title) for _, (item, category, address, title) in items}
    by_item, by_address = ImageFinder(base, FOLDERS, ENDINGS), ImageFinder(base, FOLDERS)
    there = set().union(*by_address.listed.values())
    rows: dict[str, tuple[int, str, str, str | None, str | None]] = {}
    worn: list[tuple[object, ...]] = []
    for number, (outfit, names) in outfits:
        for place, item in enumerate(names, 1):
            if item not in rows:
                known, address, title = about.get(item, (None, "", None))
                called = PurePosixPath(address).name
                found = by_address.find_key(called) if called in there else by_item.find_key(item)
                rows[item] = (number, found, item, known, title)
            _, image, _, category, _ = rows[item]
            worn.append((outfit, item, place, image, category, None))
    return parser.to_reading(to_table(rows.values(), ROW_SCHEMA), base, {"outfits": to_table(worn, OUTFIT_SCHEMA)})


def _parse_outfit(line: str) -> tuple[str, list[str]]:
    outfit, names = line.split(",", 1)
    items = list(dict.fromkeys(parse_text(name) for name in names.split(";")))
    if len(items) < 2:
        raise ValueError(line)
    return parse_text(outfit), items


def _parse_item(line: str) -> tuple[str, str, str, str | None]:
    item, category, address, *title = line.split(",", 3)
    return parse_text(item), parse_text(category), address.strip(), title[0].strip() or None if title else None
