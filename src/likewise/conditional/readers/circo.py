"""CIRCO, retrieval by a picture and a sentence with several right answers: `val.json`, `test.json`, below any folder.

    questions   [{"id", "reference_img_id", "relative_caption", "shared_concept", "target_img_id", "gt_img_ids",
                  "semantic_aspects"}]                          (no answers in the test split)
    gallery     image_info_unlabeled2017.json: {"images": [{"id", "file_name"}]}, all of COCO's unlabelled pictures

Table `templates`: the question's id as template, the sentence as condition, reference, all right pictures (the one the
sentence was written for first), the shared concept and the semantic aspects, pictures by their keys.
"""

from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.locations import ImageFinder, find_files, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, parse_integer, parse_text, read_json, to_table
from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError

FOLDERS = ("COCO2017_unlabeled/unlabeled2017", "unlabeled2017", "images", ".")
GALLERY = "image_info_unlabeled2017.json"
ROW_SCHEMA = {"row": pl.Int64, "image": pl.String, "name": pl.String}
TEMPLATE_SCHEMA = {
    "template": pl.Int64,
    **dict.fromkeys(("split", "condition", "reference"), pl.String),
    "targets": pl.List(pl.String),
    "shared_concept": pl.String,
    "aspects": pl.List(pl.String),
}
Question = tuple[int, str, int, list[int], str | None, list[str]]


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture of the gallery; `name` is its number in COCO."""
    if path.is_file():
        raise LikewiseError(f"{path} is a file: give the folder that holds CIRCO's questions and its gallery.")
    folder = folder_of(path)
    parser, finder = AnnotationParser(folder), ImageFinder(root or folder, FOLDERS)
    key_of: dict[int, str] = {}
    rows: list[tuple[object, ...]] = []
    for file in find_files(path, (GALLERY,), "CIRCO's gallery"):
        content = read_json(file)
        if not isinstance(content, dict) or "images" not in content:
            raise LikewiseError(f"{file} does not list CIRCO's gallery: expected an object with `images`.")
        listed = parser.parse_entries(
            file, _picture, "a picture with id and file_name", inside="images", content=content
        )
        for number, (image_id, name) in listed:
            key_of[image_id] = finder.find_key(name)
            rows.append((number, key_of[image_id], str(image_id)))
    templates: list[tuple[object, ...]] = []
    for file in find_files(path, ("val.json", "test.json"), "CIRCO"):
        asked = parser.parse_entries(file, _question, "id, reference_img_id and relative_caption")
        unknown = {each for _, (_, _, reference, right, *_) in asked for each in (reference, *right)} - set(key_of)
        if unknown:
            parser.add_remark(f"{file.name}: {len(unknown)} pictures are not in {GALLERY}, the first is {min(unknown)}")
        for _, (question, caption, reference, right, concept, aspects) in asked:
            keys = [key_of.get(each, str(each)) for each in (reference, *right)]
            templates.append((question, file.stem, caption, keys[0], keys[1:] or None, concept, aspects))
    found = to_table(rows, ROW_SCHEMA).unique("image", keep="first", maintain_order=True)
    return parser.to_reading(found, root or folder, {"templates": to_table(templates, TEMPLATE_SCHEMA)})


def _picture(entry: dict[str, Any]) -> tuple[int, str]:
    return parse_integer(entry["id"]), parse_text(entry["file_name"])


def _question(entry: dict[str, Any]) -> Question:
    target = entry.get("target_img_id")
    right = [parse_integer(each) for each in entry.get("gt_img_ids") or []]
    if target is not None:
        right = list(dict.fromkeys([parse_integer(target), *right]))
    concept = entry.get("shared_concept")
    return (
        parse_integer(entry["id"]),
        parse_text(entry["relative_caption"]),
        parse_integer(entry["reference_img_id"]),
        right,
        None if concept is None else parse_text(concept),
        [parse_text(each) for each in entry.get("semantic_aspects") or []],
    )
