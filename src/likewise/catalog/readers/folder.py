"""A folder of pictures: each file is a row, the first level of sub-folders names its category."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from likewise.catalog.images import IMAGE_ENDINGS
from likewise.catalog.keys import is_usable_name
from likewise.catalog.readers.locations import walk_images
from likewise.catalog.readers.parsing import AnnotationParser, to_table
from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError

SCHEMA = {"row": pl.Int64, "image": pl.String, "category": pl.String}


def read(path: Path, root: Path | None = None) -> Reading:
    """All pictures below `path`, in sorted order; hidden files and folders are passed over."""
    if not path.is_dir():
        raise LikewiseError(f"{path} is not a folder: give a folder of pictures, or another reader.")
    every = walk_images(path)
    found = [picture for picture in every if is_usable_name(picture)]
    if not found:
        raise LikewiseError(
            f"{path} holds no pictures (looked for {', '.join(sorted(IMAGE_ENDINGS))} in it and below): check the path."
        )
    rows = to_table(
        (
            (number, picture.as_posix(), picture.parts[0] if len(picture.parts) > 1 else None)
            for number, picture in enumerate(found, 1)
        ),
        SCHEMA,
    )
    parser = AnnotationParser(path)
    if remark := unusable_names(every):
        parser.add_remark(remark)
    return parser.to_reading(rows, root or path)


def unusable_names(files: Iterable[Path]) -> str:
    """What is said of files whose names cannot be keys; nothing where all can."""
    odd = [file for file in files if not is_usable_name(file)]
    if not odd:
        return ""
    return (
        f"{len(odd):,} files were left out because their names cannot be keys: not UTF-8, of several lines, or with "
        f"blanks around them (first: {str(odd[0])!a}): rename them."
    )
