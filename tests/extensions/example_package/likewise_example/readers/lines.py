"""A text file with one picture per line."""

from pathlib import Path

import polars as pl

from likewise.catalog.readers import Coverage, Reading


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per line; the picture's folder is its category."""
    folder = root or path.parent
    images = path.read_text(encoding="utf-8").split("\n")
    rows = pl.DataFrame({"image": [image for image in images if image]}).with_row_index("row", offset=1)
    found = sum((folder / image).is_file() for image in rows["image"])
    return Reading(rows, folder, Coverage(found=found, root=folder))
