"""Maryland Polyvore: outfits with all that the site told of them, questions and compatibility lines.

    train_no_dup.json, valid_no_dup.json, test_no_dup.json
        [{"set_id", "name", "items": [{"index", "name", "categoryid", "price", "likes", "image": url}]}]
    fill_in_blank_test.json (or fill_in_the_blank_test.json)         the first answer is right
    fashion_compatibility_prediction.txt (or with dashes)
    category_id.txt     lines `categoryid name`
    images/<set_id>/<index>.jpg

An item is `SETID_INDEX`, as questions and lines call it; `product` is the id in its picture's address, equal where the
same product stands in several outfits.
"""

import re
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.locations import find_files, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, parse_integer, parse_text, to_table
from likewise.catalog.readers.reading import Reading
from likewise.outfits.readers.polyvore import (
    COMPATIBILITY_SCHEMA,
    OUTFIT_SCHEMA,
    QUESTION_SCHEMA,
    first_is_right,
    parse_compatibility,
    parse_question,
)

OUTFITS = ("train*.json", "valid*.json", "test*.json")
QUESTIONS = "fill_in*blank*.json"
COMPATIBILITY = "fashion?compatibility?prediction*.txt"
ROW_SCHEMA = {"row": pl.Int64, **dict.fromkeys(("image", "item", "category", "caption", "product", "split"), pl.String)}
ITEM = "an outfit with set_id and items, each with an index"
Item = tuple[int, str | None, str | None, str | None]


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per item of an outfit, with category, the item's title as caption, and split."""
    folder = folder_of(path)
    parser, base = AnnotationParser(folder), root or folder
    below = "images/" if (base / "images").is_dir() or root is None else ""
    names = _categories(folder, parser)
    rows: list[tuple[object, ...]] = []
    outfits: list[tuple[object, ...]] = []
    for file in find_files(path, OUTFITS, "Maryland Polyvore"):
        split = file.stem.split("_")[0]
        for number, (set_id, items) in parser.parse_entries(file, _outfit, ITEM):
            for index, caption, category_id, product in items:
                item, image = f"{set_id}_{index}", f"{below}{set_id}/{index}.jpg"
                category = names.get(category_id, category_id) if category_id else None
                rows.append((number, image, item, category, caption, product, split))
                outfits.append((set_id, item, index, image, category, split))
    questions = []
    for file in sorted(folder.rglob(QUESTIONS)):
        split = _split(file)
        asked = parser.parse_entries(file, lambda entry: parse_question(entry, first_is_right), "question and answers")
        questions += [(number, split, *values) for number, values in asked]
    lines = []
    for file in sorted(folder.rglob(COMPATIBILITY)):
        found = parser.parse_lines(file, parse_compatibility, "`1|0 SETID_INDEX SETID_INDEX …`")
        lines += [(number, "test", *values) for number, values in found]
    tables = {
        "outfits": to_table(outfits, OUTFIT_SCHEMA),
        "questions": to_table(questions, QUESTION_SCHEMA),
        "compatibility": to_table(lines, COMPATIBILITY_SCHEMA),
    }
    return parser.to_reading(to_table(rows, ROW_SCHEMA), base, tables)


def _outfit(entry: dict[str, Any]) -> tuple[str, list[Item]]:
    return parse_text(entry["set_id"]), [_item(item) for item in entry["items"]]


def _item(item: dict[str, Any]) -> Item:
    product = re.search(r"[?&/]t?id[=/](\d+)", str(item.get("image") or ""))
    category = item.get("categoryid")
    return (
        parse_integer(item["index"]),
        str(item.get("name") or "").strip() or None,
        None if category is None else parse_text(category),
        product[1] if product else None,
    )


def _categories(folder: Path, parser: AnnotationParser) -> dict[str, str]:
    file = next(iter(sorted(folder.rglob("category_id.txt"))), None)
    if file is None:
        return {}

    def parse(line: str) -> tuple[str, str]:
        number, name = line.split(maxsplit=1)
        return str(parse_integer(number)), name

    return dict(values for _, values in parser.parse_lines(file, parse, "`categoryid name`"))


def _split(file: Path) -> str:
    return next((split for split in ("train", "valid", "test") if split in file.stem), "test")
