"""GeneCIS: the templates of its four tasks, `{focus,change}_{object,attribute}.json`.

`[{"condition", "reference", "target", "gallery": […]}]`; the gallery lists the distractors, the target is apart from
it. Object tasks give pictures of COCO val2017 as `{"val_image_id": 121506}`, `000000121506.jpg`; attribute tasks
crops of Visual Genome as `{"image_id", "instance_bbox": [x, y, w, h]}`. Table `templates` has one row per question
with the keys of its pictures; table `candidates` one row per picture of it (role reference, target or distractor)
with the box x1, y1, x2, y2 in pixels, before the dilation that the attribute tasks ask for. Templates whose target
stands in the gallery again are named in the coverage.
"""

from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.locations import ImageFinder, find_files, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, box_from_size, parse_integer, parse_text, to_table
from likewise.catalog.readers.reading import BOX_COLUMNS, Reading

PATTERNS = ("focus_*.json", "change_*.json")
COCO_FOLDERS = ("val2017", "coco/val2017", "images/val2017", ".")
GENOME_FOLDERS = ("VG_100K", "VG_100K_2", "VG_All", "images", ".")
ROW_SCHEMA = {"row": pl.Int64, "image": pl.String}
TEMPLATE_SCHEMA = {
    "task": pl.String,
    "template": pl.Int64,
    **dict.fromkeys(("condition", "reference", "target"), pl.String),
    "gallery": pl.List(pl.String),
}
CANDIDATE_SCHEMA = {
    "task": pl.String,
    "template": pl.Int64,
    "role": pl.String,
    "position": pl.Int64,
    "image": pl.String,
    **dict.fromkeys(BOX_COLUMNS, pl.Float64),
}
Box = tuple[float | None, ...]
Picture = tuple[bool, str, Box]  # of COCO?, name, box


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture that a template names; `template` counts from 0 in each file, as the published code does."""
    folder = folder_of(path)
    parser = AnnotationParser(folder)
    coco, genome = ImageFinder(root or folder, COCO_FOLDERS), ImageFinder(root or folder, GENOME_FOLDERS)
    templates: list[tuple[object, ...]] = []
    candidates: list[tuple[object, ...]] = []
    for file in find_files(path, PATTERNS, "GeneCIS"):
        task, again = file.stem, []
        for number, (condition, pictures) in parser.parse_entries(
            file, _parse, "condition, reference, target and gallery"
        ):
            keys = [(coco if of_coco else genome).find_key(name) for of_coco, name, _ in pictures]
            templates.append((task, number - 1, condition, keys[0], keys[1], keys[2:]))
            for position, (key, (_, _, box)) in enumerate(zip(keys, pictures, strict=True)):
                role = ("reference", "target")[position] if position < 2 else "distractor"
                place = None if role == "reference" else position - 1  # the target first, as in the published code
                candidates.append((task, number - 1, role, place, key, *box))
            if pictures[1] in pictures[2:]:
                again.append(number - 1)
        if again:
            parser.add_remark(
                f"{file.name}: the target stands in the gallery again in template {', '.join(map(str, again))}"
            )
    tables = {"templates": to_table(templates, TEMPLATE_SCHEMA), "candidates": to_table(candidates, CANDIDATE_SCHEMA)}
    images = tables["candidates"]["image"].unique(maintain_order=True)
    return parser.to_reading(to_table(enumerate(images, 1), ROW_SCHEMA), root or folder, tables)


def _parse(entry: dict[str, Any]) -> tuple[str, list[Picture]]:
    pictures = [_picture(entry["reference"]), _picture(entry["target"]), *map(_picture, entry["gallery"])]
    return parse_text(entry["condition"]), pictures


def _picture(entry: dict[str, Any]) -> Picture:
    if "val_image_id" in entry:
        return True, f"{parse_integer(entry['val_image_id']):012d}.jpg", (None,) * len(BOX_COLUMNS)
    return False, f"{parse_text(entry['image_id'])}.jpg", box_from_size(*entry["instance_bbox"])
