"""Visual Attributes in the Wild: lists of annotated objects in pictures of Visual Genome.

`train_part1.json`, `train_part2.json`, `val.json`, `test.json`: `[{"image_id", "instance_id", "instance_bbox": [x, y,
w, h], "object_name", "positive_attributes", "negative_attributes"}]`, image_id sometimes text. Pictures are
`<image_id>.jpg` in `VG_100K/` or `VG_100K_2/`. Tables: `objects` (box x1, y1, x2, y2 in pixels) and `attributes`
(object, attribute, present).
"""

from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.notes import Notes, corners, table, text
from likewise.catalog.readers.places import Shelf, files_like, folder_of
from likewise.catalog.readers.reading import BOX_COLUMNS, Reading

PATTERNS = ("train*.json", "val*.json", "test*.json")
FOLDERS = ("VG_100K", "VG_100K_2", "images/VG_100K", "images/VG_100K_2", "images", ".")
ROW_SCHEMA = {"row": pl.Int64, "image": pl.String, "image_id": pl.String, "split": pl.String}
OBJECT_SCHEMA = {
    **dict.fromkeys(("image", "object", "name", "split"), pl.String),
    **dict.fromkeys(BOX_COLUMNS, pl.Float64),
}
ATTRIBUTE_SCHEMA = {"image": pl.String, "object": pl.String, "attribute": pl.String, "present": pl.Boolean}


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture that has an annotated object."""
    folder = folder_of(path)
    notes, shelf = Notes(folder), Shelf(root or folder, FOLDERS, (".jpg",))
    rows: list[tuple[object, ...]] = []
    objects: list[tuple[object, ...]] = []
    attributes: list[tuple[object, ...]] = []
    seen: set[str] = set()
    for file in files_like(path, PATTERNS, "VAW"):
        split = next((name for name in ("train", "val", "test") if file.stem.startswith(name)), file.stem)
        for number, (image_id, instance, name, box, present, absent) in notes.entries(
            file, _parse, "an object with image_id, instance_id, instance_bbox and attributes"
        ):
            image = shelf.key(image_id)
            if image not in seen:
                rows.append((number, image, image_id, split))
                seen.add(image)
            objects.append((image, instance, name, split, *box))
            attributes += [(image, instance, attribute, True) for attribute in present]
            attributes += [(image, instance, attribute, False) for attribute in absent]
    tables = {"objects": table(objects, OBJECT_SCHEMA), "attributes": table(attributes, ATTRIBUTE_SCHEMA)}
    return notes.reading(table(rows, ROW_SCHEMA), root or folder, tables)


def _parse(entry: dict[str, Any]) -> tuple[str, str, str, tuple[float, ...], list[str], list[str]]:
    return (
        text(entry["image_id"]).removesuffix(".jpg"),
        text(entry["instance_id"]),
        text(entry["object_name"]),
        corners(*entry["instance_bbox"]),
        [text(name) for name in entry.get("positive_attributes") or []],
        [text(name) for name in entry.get("negative_attributes") or []],
    )
