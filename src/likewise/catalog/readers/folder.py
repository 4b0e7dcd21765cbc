"""A folder of pictures: each file is a row, the first level of sub-folders names its category."""

from pathlib import Path

import polars as pl

from likewise.catalog.images import IMAGE_ENDINGS
from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError


def read(path: Path, root: Path | None = None) -> Reading:
    """All pictures below `path`, in sorted order; hidden files and folders are passed over."""
    below = (
        file.relative_to(path) for file in path.rglob("*") if file.suffix.lower() in IMAGE_ENDINGS and file.is_file()
    )
    found = sorted(relative for relative in below if not any(part.startswith(".") for part in relative.parts))
    if not found:
        raise LikewiseError(
            f"{path} holds no pictures (looked for {', '.join(sorted(IMAGE_ENDINGS))} in it and below): check the path."
        )
    rows = pl.DataFrame(
        {
            "row": range(1, len(found) + 1),
            "image": [relative.as_posix() for relative in found],
            "category": [relative.parts[0] if len(relative.parts) > 1 else None for relative in found],
        },
        schema={"row": pl.Int64, "image": pl.String, "category": pl.String},
    )
    return Reading(rows, root or path)
