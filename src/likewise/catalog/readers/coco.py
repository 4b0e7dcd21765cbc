"""COCO detection JSON, as most annotation tools export it: one file, pictures beside it or under `root`.

    {"images": [{"id", "file_name", "width", "height"}], "categories": [{"id", "name", "supercategory"}],
     "annotations": [{"id", "image_id", "category_id", "bbox": [x, y, width, height], "area", "iscrowd"}]}

The category of a picture is that of its largest object. Table `objects`: one row per annotation with its name, area and
box x1, y1, x2, y2 in pixels.
"""

from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.locations import choose_root
from likewise.catalog.readers.parsing import AnnotationParser, box_from_size, parse_text, read_json, to_table
from likewise.catalog.readers.reading import BOX_COLUMNS, Reading
from likewise.errors import LikewiseError

ROW_SCHEMA = {"row": pl.Int64, "image": pl.String, "image_id": pl.String, "category": pl.String}
OBJECT_SCHEMA = {
    "image": pl.String,
    "object": pl.String,
    "name": pl.String,
    "area": pl.Float64,
    **dict.fromkeys(BOX_COLUMNS, pl.Float64),
}


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture; its annotations as the table `objects`."""
    file = _annotation_file(path)
    content = read_json(file)
    if not isinstance(content, dict) or not {"images", "annotations", "categories"} <= set(content):
        raise LikewiseError(f"{file} is not COCO's: expected an object with `images`, `annotations` and `categories`.")
    parser = AnnotationParser(file.parent)
    listed = parser.parse_entries(file, _category, "id, name", inside="categories", content=content)
    categories = dict(value for _, value in listed)
    pictures = parser.parse_entries(file, _picture, "id, file_name", inside="images", content=content)
    names = dict(value for _, value in pictures)

    def annotation(entry: Any) -> tuple[Any, ...]:
        box = box_from_size(*entry["bbox"])
        area = float(entry.get("area") or (box[2] - box[0]) * (box[3] - box[1]))
        number = str(entry["image_id"])
        return names[number], str(entry.get("id", "")), categories[str(entry["category_id"])], area, *box

    expected = "image_id, category_id and bbox of a listed picture and category"
    found = parser.parse_entries(file, annotation, expected, inside="annotations", content=content)
    objects = [value for _, value in found]
    largest: dict[str, tuple[float, str]] = {}
    for image, _, name, area, *_ in objects:
        if image not in largest or area > largest[image][0]:
            largest[image] = (area, name)
    rows = [(row, name, number, largest.get(name, (0.0, None))[1]) for row, (number, name) in pictures]
    base = choose_root(names.values(), file, root, ("images", "data", f"../{_split(file)}", "../images", ".."))
    tables = {"objects": to_table(objects, OBJECT_SCHEMA)}
    return parser.to_reading(to_table(rows, ROW_SCHEMA), base, tables)


def _annotation_file(path: Path) -> Path:
    if path.is_file():
        return path
    found = [file for place in (path, path / "annotations") for file in sorted(place.glob("*.json"))]
    if len(found) != 1:
        raise LikewiseError(f"{path} holds {len(found)} JSON files: give the one to read.")
    return found[0]


def _split(file: Path) -> str:
    return file.stem.rpartition("_")[2]


def _category(entry: Any) -> tuple[str, str]:
    return str(entry["id"]), parse_text(entry["name"])


def _picture(entry: Any) -> tuple[str, str]:
    return str(entry["id"]), parse_text(entry["file_name"])
