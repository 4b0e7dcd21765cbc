"""Polyvore-630 and its sisters -519, -53 and -32 (outfits of single users): a folder `tuples_<n>`.

    image_list_top, image_list_bottom, image_list_shoe     one picture's name a line, the first has number 0
    tuples_{train,val,test}_{posi,nega,nega_hard}          CSV `user,top,bottom,shoe` (519, 32: two tops, -1 for none)
    fill_in_blank_test                                     CSV, four such tuples a line, the first right

Pictures lie in `images/291x291/`, beside the folder. Positives are the outfits; `compatibility` has positives and
negatives with their user and kind (positive, random, hard). In `questions`, `items` are what the four tuples share.
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.locations import ImageFinder
from likewise.catalog.readers.parsing import AnnotationParser, first_line, parse_integer, parse_key, to_table
from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError
from likewise.outfits.readers.polyvore import COMPATIBILITY_SCHEMA, OUTFIT_SCHEMA, QUESTION_SCHEMA

CATEGORIES = ("top", "bottom", "shoe")
KINDS = {"posi": "positive", "nega": "random", "nega_hard": "hard"}
FOLDERS = ("images/291x291", "images", "291x291", ".")
CHOICES = 4
ROW_SCHEMA = {"row": pl.Int64, "image": pl.String, "item": pl.String, "category": pl.String}
USERS = {"user": pl.Int64}
Outfit = tuple[int, list[str]]


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture of the three lists, its category top, bottom or shoe."""
    folder = path
    if not (path / "image_list_top").is_file():
        found = sorted(path.glob("tuples_*/image_list_top"))
        if len(found) != 1:
            raise LikewiseError(
                f"{path} holds no image_list_top: give one folder tuples_630, tuples_519, tuples_53 or tuples_32."
            )
        folder = found[0].parent
    parser = AnnotationParser(folder)
    base = root or next((b for b in (folder, folder.parent) if (b / "images").is_dir()), folder)
    finder = ImageFinder(base, FOLDERS)
    lists = {
        c: [n for _, n in parser.parse_lines(folder / f"image_list_{c}", parse_key, "a picture's name")]
        for c in CATEGORIES
    }
    items = {c: [name.rsplit(".", 1)[0] for name in names] for c, names in lists.items()}
    pictures = {item: finder.find_key(name) for c in CATEGORIES for item, name in zip(items[c], lists[c], strict=True)}
    kinds = {item: category for category in CATEGORIES for item in items[category]}
    rows = to_table(((n, pictures[item], item, kinds[item]) for n, item in enumerate(pictures, 1)), ROW_SCHEMA)
    outfits: list[tuple[object, ...]] = []
    lines: list[tuple[object, ...]] = []
    for split in ("train", "val", "test"):
        for ending, kind in KINDS.items():
            file = folder / f"tuples_{split}_{ending}"
            for number, (user, members) in _tuples(file, items, parser) if file.is_file() else []:
                lines.append((number, split, int(kind == "positive"), members, user, kind))
                if kind == "positive":
                    named = ((f"{split}-{number}", item, place, pictures[item], kinds[item], split, user)
                             for place, item in enumerate(members, 1))  # fmt: skip
                    outfits += named
    tables = {
        "outfits": to_table(outfits, OUTFIT_SCHEMA | USERS),
        "questions": to_table(_questions(folder / "fill_in_blank_test", items, parser), QUESTION_SCHEMA | USERS),
        "compatibility": to_table(lines, COMPATIBILITY_SCHEMA | USERS | {"kind": pl.String}),
    }
    return parser.to_reading(rows, base, tables)


def _outfit(fields: list[str], header: list[str], items: dict[str, list[str]]) -> Outfit:
    """(user, items) of one tuple; numbers are places in the list that the header names."""
    if len(fields) != len(header):
        raise ValueError(fields)
    numbers = [parse_integer(field) for field in fields]
    if min(numbers) < -1:
        raise ValueError(fields)
    members = [items[c][n] for c, n in zip(header[1:], numbers[1:], strict=True) if n >= 0]
    if len(members) < 2:
        raise ValueError(fields)
    return numbers[0], members


def _header(file: Path) -> list[str]:
    header = [name.strip().lower() for name in first_line(file).split(",")]
    if not header or header[0] != "user" or not set(header) <= {"user", *CATEGORIES}:
        raise LikewiseError(f"{file} is not of this layout: line 1 should be `user,top,bottom,shoe`, but is {header}.")
    return header


def _tuples(file: Path, items: dict[str, list[str]], parser: AnnotationParser) -> list[tuple[int, Outfit]]:
    header = _header(file)
    return parser.parse_lines(
        file, lambda line: _outfit(line.split(","), header, items), f"`{','.join(header)}` within the lists", skip=1
    )


def _questions(file: Path, items: dict[str, list[str]], parser: AnnotationParser) -> list[tuple[object, ...]]:
    if not file.is_file():
        return []
    header = _header(file)
    width = len(header) // header.count("user")

    def parse(line: str) -> tuple[list[str], list[str], int, int, int]:
        fields = line.split(",")
        if len(fields) % width or len(fields) < 2 * width:
            raise ValueError(line)
        tuples = [_outfit(fields[n : n + width], header[:width], items) for n in range(0, len(fields), width)]
        (blank,) = [n for n, members in enumerate(zip(*(m for _, m in tuples), strict=True)) if len(set(members)) > 1]
        shared = [item for n, item in enumerate(tuples[0][1]) if n != blank]
        return shared, [members[blank] for _, members in tuples], 0, blank + 1, tuples[0][0]

    expected = f"{CHOICES} tuples `{','.join(header[:width])}` that differ in one item"
    return [(number, "test", *values) for number, values in parser.parse_lines(file, parse, expected, skip=1)]
