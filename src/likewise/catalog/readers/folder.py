"""A folder of pictures: each file is a row, the first level of sub-folders names its category."""

from pathlib import Path

import polars as pl

from likewise.catalog.images import IMAGE_ENDINGS
from likewise.catalog.readers.locations import list_images
from likewise.catalog.readers.parsing import AnnotationParser, to_table
from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError

SCHEMA = {"row": pl.Int64, "image": pl.String, "category": pl.String}


def read(path: Path, root: Path | None = None) -> Reading:
    """All pictures below `path`, in sorted order; hidden files and folders are passed over."""
    if not path.is_dir():
        raise LikewiseError(f"{path} is not a folder: give a folder of pictures, or another reader.")
    every = list_images(path)
    found = [picture for picture in every if is_text(picture)]
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
    if len(found) < len(every):
        first = next(picture for picture in every if not is_text(picture))
        parser.add_remark(
            f"{len(every) - len(found)} pictures were left out because their names are not UTF-8 "
            f"(first: {str(first)!a}): rename them."
        )
    return parser.to_reading(rows, root or path)


def is_text(name: Path) -> bool:
    """Whether a file name, as the system gives it, is valid text (names out of old archives may not be)."""
    return not any("\udc80" <= letter <= "\udcff" for letter in str(name))
