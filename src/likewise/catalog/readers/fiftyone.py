"""FiftyOne's exports: a folder with `samples.json` (FiftyOneDataset), or with `labels.json` and `data/`.

    samples.json   {"samples": [{"filepath": "data/1.jpg", "tags": ["train"], "ground_truth": {"label": "shoe"} or
                    {"detections": [{"label": "shoe", "bounding_box": [x, y, width, height]}]}}]}
    labels.json    {"classes": ["shoe", …], "labels": {"1": 0 or "shoe" or [{"label": 0, "bounding_box": […]}]}}

Boxes are shares of the picture. The category of a picture is its label, or that of its largest detection; detections
are the table `objects` (boxes as shares), and the first of the tags train, validation, val and test is the split.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.locations import choose_root, list_images
from likewise.catalog.readers.parsing import AnnotationParser, box_from_size, parse_text, read_json, to_table
from likewise.catalog.readers.reading import BOX_COLUMNS, Reading
from likewise.errors import LikewiseError

ROW_SCHEMA = {"row": pl.Int64, "image": pl.String, "category": pl.String, "split": pl.String}
OBJECT_SCHEMA = {"image": pl.String, "name": pl.String, "area": pl.Float64, **dict.fromkeys(BOX_COLUMNS, pl.Float64)}
SPLITS = ("train", "validation", "val", "test")
Sample = tuple[str, str | None, str | None, list[tuple[Any, ...]]]


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per sample; detections as the table `objects`."""
    folder = path if path.is_dir() else path.parent
    file = (
        path
        if path.is_file()
        else next((f for f in (path / "samples.json", path / "labels.json") if f.is_file()), None)
    )
    if file is None:
        raise LikewiseError(
            f"{path} has neither samples.json nor labels.json: export the data set from FiftyOne again."
        )
    parser, content = AnnotationParser(folder), read_json(file)
    if isinstance(content, dict) and isinstance(content.get("samples"), list):
        samples = parser.parse_entries(file, _sample, "a filepath", inside="samples", content=content)
    elif isinstance(content, dict) and isinstance(content.get("labels"), dict):
        classes = [str(name) for name in content.get("classes") or []]
        names = {found.with_suffix("").as_posix(): found.as_posix() for found in list_images(root or folder / "data")}

        def labelled(entry: tuple[str, Any]) -> Sample:
            key = names.get(entry[0], entry[0])
            return key, *_described(entry[1], classes, key)

        entries = list(enumerate(content["labels"].items(), 1))
        samples = parser.parse_each(file, "entry", entries, labelled, "a label of a known class")
    else:
        raise LikewiseError(f"{file} is not FiftyOne's: expected `samples`, or `classes` and `labels`.")
    keys = [sample[0] for _, sample in samples]
    rows = [(number, image, category, split) for number, (image, category, split, _) in samples]
    objects = [found for _, sample in samples for found in sample[3]]
    base = choose_root(keys, file, root, ("data", "images"))
    return parser.to_reading(to_table(rows, ROW_SCHEMA), base, {"objects": to_table(objects, OBJECT_SCHEMA)})


def _sample(entry: Any) -> Sample:
    """One sample; its labels are in the first field that has some, `ground_truth` before the others."""
    key = parse_text(entry["filepath"])
    fields = sorted(entry.items(), key=lambda field: field[0] != "ground_truth")
    value = next((v for _, v in fields if isinstance(v, dict) and ("label" in v or "detections" in v)), None)
    category, _, objects = _described(value, (), key)
    return key, category, next((tag for tag in entry.get("tags") or () if tag in SPLITS), None), objects


def _described(value: Any, classes: Sequence[str], key: str) -> tuple[str | None, None, list[tuple[Any, ...]]]:
    """Category and objects of a label as FiftyOne writes it."""
    if isinstance(value, dict) and "detections" in value:
        value = value["detections"]
    elif isinstance(value, dict):
        value = value.get("label")
    if not isinstance(value, list):
        return (None if value is None else _name(value, classes)), None, []
    objects: list[tuple[Any, ...]] = []
    for each in value:
        box = box_from_size(*each["bounding_box"])
        objects.append((key, _name(each["label"], classes), (box[2] - box[0]) * (box[3] - box[1]), *box))
    return max(objects, key=lambda one: one[2])[1] if objects else None, None, objects


def _name(label: Any, classes: Sequence[str]) -> str:
    return classes[label] if isinstance(label, int) and not isinstance(label, bool) and classes else parse_text(label)
