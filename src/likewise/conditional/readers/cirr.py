"""CIRR, retrieval by a picture and a sentence: `cap.rc2.<split>.json` and `split.rc2.<split>.json`, below any folder.

    captions   [{"pairid", "reference", "target_hard", "target_soft": {name: 1.0|0.5|-1.0}, "caption",
                 "img_set": {"members": [six names], …}}]        (no targets in the test split)
    split      {name: "./dev/dev-244-0-img0.png"}                the gallery is every picture of the split

Table `templates`: the pair's id as template, caption as condition, reference, target, the six members (the subset of
"recall_subset") and the soft targets, pictures by their keys.
"""

from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.locations import choose_root, find_files, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, parse_integer, parse_key, parse_text, to_table
from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError

ROW_SCHEMA = {"row": pl.Int64, "image": pl.String, "name": pl.String, "split": pl.String}
TEMPLATE_SCHEMA = {
    "template": pl.Int64,
    **dict.fromkeys(("split", "condition", "reference", "target"), pl.String),
    "members": pl.List(pl.String),
    "soft_targets": pl.List(pl.String),
    "soft_scores": pl.List(pl.Float64),
}


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture of the split files, with its name and split."""
    if path.is_file():
        raise LikewiseError(f"{path} is a file: give the folder that holds CIRR's captions and splits.")
    parser, rows, templates = AnnotationParser(folder_of(path)), [], []
    keys: dict[str, str] = {}
    for file in find_files(path, ("split.rc2.*.json",), "CIRR"):
        for number, (name, key) in parser.parse_pairs(file, _placed, "a name and a path"):
            keys[name] = key
            rows.append((number, key, name, _split(file)))
    for file in find_files(path, ("cap.rc2.*.json",), "CIRR"):
        lines = parser.parse_entries(file, _template, "pairid, reference, caption and img_set")
        unknown = {name for _, line in lines for name in line[2:4] if name and name not in keys}
        if unknown:
            parser.add_remark(f"{file.name}: {len(unknown)} pictures are in no split file, the first is {min(unknown)}")
        for _, (pair, caption, reference, target, members, soft) in lines:
            named = [keys.get(name, name) for name in members]
            places = (keys.get(reference, reference), keys.get(target, target) if target else None)
            soft_keys = [keys.get(name, name) for name in soft]
            templates.append((pair, _split(file), caption, *places, named, soft_keys, list(soft.values())))
    found = to_table(rows, ROW_SCHEMA).unique("image", keep="first", maintain_order=True)
    base = choose_root(found["image"], path, root, ("img_raw", "images", "..", "../img_raw"))
    return parser.to_reading(found, base, {"templates": to_table(templates, TEMPLATE_SCHEMA)})


def _split(file: Path) -> str:
    return file.name.split(".")[2]


def _placed(pair: tuple[str, object]) -> tuple[str, str]:
    return parse_text(pair[0]), parse_key(pair[1])


def _template(entry: dict[str, Any]) -> tuple[int, str, str, str | None, list[str], dict[str, float]]:
    target = entry.get("target_hard")
    soft = {parse_text(name): float(score) for name, score in (entry.get("target_soft") or {}).items()}
    members = [parse_text(name) for name in entry["img_set"]["members"]]
    reference = parse_text(entry["reference"])
    return (
        parse_integer(entry["pairid"]),
        parse_text(entry["caption"]),
        reference,
        parse_text(target) if target else None,
        members,
        soft,
    )
