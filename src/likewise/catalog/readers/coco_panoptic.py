"""COCO panoptic: `annotations/panoptic_*.json`, pictures in `train2017/` and `val2017/`.

    {"images": [{"id", "file_name", "width", "height"}], "categories": [{"id", "name", "supercategory", "isthing"}],
     "annotations": [{"image_id", "file_name", "segments_info": [{"id", "category_id", "area", "bbox", "iscrowd"}]}]}

An annotation's own file_name is the mask, not the picture; where `images` is missing a picture is `%012d.jpg`. Table
`objects`: one row per segment with its name, area in pixels, share of the picture, and box x1, y1, x2, y2 in pixels.
"""

from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.notes import Notes, corners, integer, read_json, table, text
from likewise.catalog.readers.places import Shelf, files_like, folder_of
from likewise.catalog.readers.reading import BOX_COLUMNS, Reading
from likewise.errors import LikewiseError

ROW_SCHEMA = {"row": pl.Int64, "image": pl.String, "image_id": pl.Int64, "split": pl.String}
OBJECT_SCHEMA = {
    "image": pl.String,
    "object": pl.String,
    "name": pl.String,
    "supercategory": pl.String,
    "is_thing": pl.Boolean,
    "is_crowd": pl.Boolean,
    "area": pl.Int64,
    "share": pl.Float64,
    **dict.fromkeys(BOX_COLUMNS, pl.Float64),
}
Segment = tuple[int, int, int, bool, tuple[float | None, ...]]


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per annotated picture; its segments as the table `objects`."""
    folder = folder_of(path)
    if path.is_file() and folder.name == "annotations":
        folder = folder.parent
    notes, rows, objects = Notes(folder), [], []
    for file in files_like(path, ("panoptic_*.json",), "COCO panoptic"):
        content = read_json(file)
        if not isinstance(content, dict) or "annotations" not in content:
            raise LikewiseError(f"{file} is not COCO panoptic: expected an object with `annotations` and `categories`.")
        split = file.stem.removeprefix("panoptic_")
        shelf = Shelf(root or folder, (split, f"images/{split}", "."))
        names = {integer(entry["id"]): entry for entry in content.get("categories", [])}
        pictures = {integer(entry["id"]): entry for entry in content.get("images", [])}
        seen: set[int] = set()
        for number, (image_id, segments) in notes.entries(
            file, _annotation, "an annotation with image_id and segments_info", inside="annotations"
        ):
            picture = pictures.get(image_id, {})
            image = shelf.key(text(picture.get("file_name", f"{image_id:012d}.jpg")))
            if image_id not in seen:
                rows.append((number, image, image_id, split))
                seen.add(image_id)
            size = int(picture.get("width", 0)) * int(picture.get("height", 0))
            objects += [_object(image, segment, names, size) for segment in segments]
    return notes.reading(table(rows, ROW_SCHEMA), root or folder, {"objects": table(objects, OBJECT_SCHEMA)})


def _annotation(entry: dict[str, Any]) -> tuple[int, list[Segment]]:
    return integer(entry["image_id"]), [_segment(segment) for segment in entry["segments_info"]]


def _segment(segment: dict[str, Any]) -> Segment:
    box = corners(*segment["bbox"]) if segment.get("bbox") else (None,) * len(BOX_COLUMNS)
    crowd = bool(integer(segment.get("iscrowd", 0)))
    return integer(segment["id"]), integer(segment["category_id"]), integer(segment["area"]), crowd, box


def _object(image: str, segment: Segment, names: dict[int, dict[str, Any]], size: int) -> tuple[object, ...]:
    number, category_id, area, crowd, box = segment
    category = names.get(category_id, {})
    thing = bool(category["isthing"]) if "isthing" in category else None
    name, family = str(category.get("name", category_id)), category.get("supercategory")
    return (image, str(number), name, family, thing, crowd, area, area / size if size else None, *box)
