"""Caltech-UCSD Birds 200-2011: text files joined by image id, or plain class folders.

    images.txt               1 001.Black_footed_Albatross/Black_Footed_Albatross_0046_18796.jpg
    image_class_labels.txt   1 1
    classes.txt              1 001.Black_footed_Albatross
    train_test_split.txt     1 0        (1 is training)
    bounding_boxes.txt       1 60.0 27.0 325.0 304.0     (x, y, width, height in pixels; here x1, y1, x2, y2)

Pictures lie below `images/`. The class is the category; every picture is a bird, an item, of its own.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import polars as pl

from likewise.catalog.readers.class_folders import read_class_folders
from likewise.catalog.readers.parsing import (
    AnnotationParser,
    box_from_size,
    parse_flag,
    parse_integer,
    parse_key,
    to_table,
    valid_box,
)
from likewise.catalog.readers.reading import BOX_COLUMNS, Reading

T = TypeVar("T")
SCHEMA = {
    "row": pl.Int64,
    "image": pl.String,
    "category": pl.String,
    "class_id": pl.Int64,
    "split": pl.String,
    **dict.fromkeys(BOX_COLUMNS, pl.Float64),
}


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per line of images.txt, with category, class_id, split (train, test) and box."""
    if not (path / "images.txt").is_file():
        return read_class_folders(path, root, "images.txt")
    parser = AnnotationParser(path)
    images = parser.parse_lines(path / "images.txt", _numbered(parse_key), "`image_id path`")
    classes = _by_id(path / "classes.txt", str, "`class_id class_name`", parser)
    labels = _by_id(path / "image_class_labels.txt", parse_integer, "`image_id class_id`", parser)
    train = _by_id(path / "train_test_split.txt", parse_flag, "`image_id 0|1`", parser)
    boxes = _by_id(path / "bounding_boxes.txt", _box, "`image_id x y width height`", parser)
    folders = ("images/", "")
    base = root or path
    below = next((s for s in folders if any((base / s / name).is_file() for _, (_, name) in images)), folders[0])
    rows = []
    for line, (number, name) in images:
        class_id = labels.get(number)
        category = classes.get(class_id, name.split("/")[0]) if class_id is not None else name.split("/")[0]
        split = None if number not in train else "train" if train[number] else "test"
        box = boxes.get(number, (None,) * len(BOX_COLUMNS))
        rows.append((line, f"{below}{name}", category, class_id, split, *box))
    return parser.to_reading(to_table(rows, SCHEMA), base)


def _numbered(parse: Callable[[str], T]) -> Callable[[str], tuple[int, T]]:
    def both(line: str) -> tuple[int, T]:
        number, rest = line.split(maxsplit=1)
        return parse_integer(number), parse(rest)

    return both


def _by_id(file: Path, parse: Callable[[str], T], expected: str, parser: AnnotationParser) -> dict[int, T]:
    if not file.is_file():
        parser.add_remark(f"{file.name} is not there: what it says is left empty")
        return {}
    return dict(values for _, values in parser.parse_lines(file, _numbered(parse), expected))


def _box(rest: str) -> tuple[float, ...]:
    x, y, width, height = rest.split()
    return valid_box(box_from_size(x, y, width, height))
