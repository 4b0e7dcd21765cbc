"""Class folders, the form in which many people keep CUB, Cars and the like: `[train|test/]<class>/<picture>`."""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.locations import list_images
from likewise.catalog.readers.parsing import AnnotationParser, to_table
from likewise.catalog.readers.reading import MalformedLine, Reading
from likewise.errors import LikewiseError

SPLITS = ("train", "val", "valid", "validation", "test")
SCHEMA = {
    "row": pl.Int64,
    "image": pl.String,
    "category": pl.String,
    "class_id": pl.Int64,
    "split": pl.String,
}


def read_class_folders(path: Path, root: Path | None, expected: str) -> Reading:
    """One row per picture: category, class_id (1-based, classes sorted) and split where the folders say so."""
    parser = AnnotationParser(path)
    found: list[tuple[str, str, str | None]] = []
    for picture in list_images(path):
        folders = picture.parts[:-1]
        split = next((part.lower() for part in folders if part.lower() in SPLITS), None)
        if not folders or folders[-1].lower() in SPLITS:
            parser.malformed.append(MalformedLine(picture.as_posix(), 0, "file", "a picture in a class folder", "none"))
            continue
        found.append((picture.as_posix(), folders[-1], split))
    if not found:
        raise LikewiseError(f"{path} holds neither {expected} nor class folders with pictures: check the path.")
    classes = {name: number for number, name in enumerate(sorted({category for _, category, _ in found}), 1)}
    rows = to_table(
        ((n, image, category, classes[category], split) for n, (image, category, split) in enumerate(found, 1)), SCHEMA
    )
    parser.add_remark("no annotation files: classes are the names of the folders")
    return parser.to_reading(rows, root or path)
