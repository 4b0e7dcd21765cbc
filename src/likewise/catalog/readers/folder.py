"""A folder of pictures: each file is a row, the first level of sub-folders names its category."""

from pathlib import Path

import polars as pl

from likewise.catalog.images import IMAGE_ENDINGS
from likewise.catalog.readers.notes import Notes, table
from likewise.catalog.readers.places import pictures_below
from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError

SCHEMA = {"row": pl.Int64, "image": pl.String, "category": pl.String}


def read(path: Path, root: Path | None = None) -> Reading:
    """All pictures below `path`, in sorted order; hidden files and folders are passed over."""
    if not path.is_dir():
        raise LikewiseError(f"{path} is not a folder: give a folder of pictures, or another reader.")
    found = pictures_below(path)
    if not found:
        raise LikewiseError(
            f"{path} holds no pictures (looked for {', '.join(sorted(IMAGE_ENDINGS))} in it and below): check the path."
        )
    rows = table(
        (
            (number, picture.as_posix(), picture.parts[0] if len(picture.parts) > 1 else None)
            for number, picture in enumerate(found, 1)
        ),
        SCHEMA,
    )
    return Notes(path).reading(rows, root or path)
