"""COCO panoptic: `annotations/panoptic_*.json`, pictures in `train2017/` and `val2017/`.

    {"images": [{"id", "file_name", "width", "height"}], "categories": [{"id", "name", "supercategory", "isthing"}],
     "annotations": [{"image_id", "file_name", "segments_info": [{"id", "category_id", "area", "bbox", "iscrowd"}]}]}

An annotation's own file_name is the mask, not the picture; where `images` is missing a picture is `%012d.jpg`. Table
`objects`: one row per segment with its name, area in pixels, share of the picture, and box x1, y1, x2, y2 in pixels.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from likewise.catalog.readers.locations import ImageFinder, find_files, folder_of
from likewise.catalog.readers.parsing import (
    AnnotationParser,
    box_from_size,
    parse_flag,
    parse_integer,
    parse_text,
    read_json,
    to_table,
)
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
T = TypeVar("T")
Category = tuple[str, str | None, bool | None]
Segment = tuple[int, int, int, bool, tuple[float | None, ...]]


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per annotated picture; its segments as the table `objects`."""
    folder = folder_of(path)
    if path.is_file() and folder.name == "annotations":
        folder = folder.parent
    parser, rows, objects = AnnotationParser(folder), [], []
    for file in find_files(path, ("panoptic_*.json",), "COCO panoptic"):
        content = read_json(file)
        if not isinstance(content, dict) or "annotations" not in content:
            raise LikewiseError(f"{file} is not COCO panoptic: expected an object with `annotations` and `categories`.")
        split = file.stem.removeprefix("panoptic_")
        finder = ImageFinder(root or folder, (split, f"images/{split}", "."))
        names = _by_id(content, "categories", _category, file, parser)
        pictures = _by_id(content, "images", _picture, file, parser)
        seen: set[int] = set()
        for number, (image_id, segments) in parser.parse_entries(
            file, _annotation, "an annotation with image_id and segments_info", inside="annotations", content=content
        ):
            name, size = pictures.get(image_id, (f"{image_id:012d}.jpg", 0))
            image = finder.find_key(name)
            if image_id not in seen:
                rows.append((number, image, image_id, split))
                seen.add(image_id)
            objects += [_object(image, segment, names, size) for segment in segments]
    return parser.to_reading(to_table(rows, ROW_SCHEMA), root or folder, {"objects": to_table(objects, OBJECT_SCHEMA)})


def _annotation(entry: dict[str, Any]) -> tuple[int, list[Segment]]:
    return parse_integer(entry["image_id"]), [_segment(segment) for segment in entry["segments_info"]]


def _segment(segment: dict[str, Any]) -> Segment:
    box = box_from_size(*segment["bbox"]) if segment.get("bbox") else (None,) * len(BOX_COLUMNS)
    crowd = bool(parse_integer(segment.get("iscrowd", 0)))
    return (
        parse_integer(segment["id"]),
        parse_integer(segment["category_id"]),
        parse_integer(segment["area"]),
        crowd,
        box,
    )


def _object(image: str, segment: Segment, names: dict[int, Category], size: int) -> tuple[object, ...]:
    number, category_id, area, crowd, box = segment
    name, family, thing = names.get(category_id, (str(category_id), None, None))
    return (image, str(number), name, family, thing, crowd, area, area / size if size else None, *box)


def _by_id(
    content: dict[str, Any], part: str, parse: Callable[[dict[str, Any]], T], file: Path, parser: AnnotationParser
) -> dict[int, T]:
    listed = content.get(part) or []
    numbered = list(enumerate(listed, 1)) if isinstance(listed, list) else [(1, listed)]
    found = parser.parse_each(
        file,
        f"{part} entry",
        numbered,
        lambda entry: (parse_integer(entry["id"]), parse(entry)),
        "an id",
        counted=False,
    )
    return dict(pair for _, pair in found)


def _category(entry: dict[str, Any]) -> Category:
    family, thing = entry.get("supercategory"), entry.get("isthing")
    return (
        parse_text(entry["name"]),
        None if family is None else parse_text(family),
        None if thing is None else parse_flag(thing),
    )


def _picture(entry: dict[str, Any]) -> tuple[str, int]:
    """Name and number of pixels (0 where the size is not given)."""
    return parse_text(entry["file_name"]), parse_integer(entry.get("width") or 0) * parse_integer(
        entry.get("height") or 0
    )
