"""Visual Attributes in the Wild: lists of annotated objects in pictures of Visual Genome.

`train_part1.json`, `train_part2.json`, `val.json`, `test.json`: `[{"image_id", "instance_id", "instance_bbox": [x, y,
w, h], "object_name", "positive_attributes", "negative_attributes"}]`, image_id sometimes text. Pictures are
`<image_id>.jpg` in `VG_100K/` or `VG_100K_2/`. Tables: `objects` (box x1, y1, x2, y2 in pixels) and `attributes`
(object, attribute, present).
"""

from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.locations import ImageFinder, find_files, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, box_from_size, parse_text, to_table
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
    parser, finder = AnnotationParser(folder), ImageFinder(root or folder, FOLDERS, (".jpg",))
    rows: list[tuple[object, ...]] = []
    objects: list[tuple[object, ...]] = []
    attributes: list[tuple[object, ...]] = []
    seen: set[str] = set()
    for file in find_files(path, PATTERNS, "VAW"):
        split = next((name for name in ("train", "val", "test") if file.stem.startswith(name)), file.stem)
        for number, (image_id, instance, name, box, present, absent) in parser.parse_entries(
            file, _parse, "an object with image_id, instance_id, instance_bbox and attributes"
        ):
            image = finder.find_key(image_id)
            if image not in seen:
                rows.append((number, image, image_id, split))
                seen.add(image)
            objects.append((image, instance, name, split, *box))
            attributes += [(image, instance, attribute, True) for attribute in present]
            attributes += [(image, instance, attribute, False) for attribute in absent]
    tables = {"objects": to_table(objects, OBJECT_SCHEMA), "attributes": to_table(attributes, ATTRIBUTE_SCHEMA)}
    return parser.to_reading(to_table(rows, ROW_SCHEMA), root or folder, tables)


def _parse(entry: dict[str, Any]) -> tuple[str, str, str, tuple[float, ...], list[str], list[str]]:
    return (
        parse_text(entry["image_id"]).removesuffix(".jpg"),
        parse_text(entry["instance_id"]),
        parse_text(entry["object_name"]),
        box_from_size(*entry["instance_bbox"]),
        [parse_text(name) for name in entry.get("positive_attributes") or []],
        [parse_text(name) for name in entry.get("negative_attributes") or []],
    )
