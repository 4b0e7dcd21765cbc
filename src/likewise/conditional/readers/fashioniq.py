"""FashionIQ: `cap.<category>.<split>.json` and `split.<category>.<split>.json`, below any folder.

    captions   [{"target", "candidate", "captions": [two sentences]}]     the candidate is the reference
    split      [name, …]                                                  the gallery of that category

The test split has no targets. Pictures are `images/<name>.png` (or .jpg). Table `templates`: reference, target, both
captions, and as condition the two joined by " and ". A name may belong to two categories' splits; the row keeps the
first.
"""

from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.locations import ImageFinder, find_files, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, parse_text, to_table
from likewise.catalog.readers.reading import Reading

FOLDERS = ("images", "resized_image", "image_data", ".")
ENDINGS = (".png", ".jpg", ".jpeg")
ROW_SCHEMA = {"row": pl.Int64, **dict.fromkeys(("image", "name", "category", "split"), pl.String)}
TEMPLATE_SCHEMA = {
    "template": pl.Int64,
    **dict.fromkeys(("category", "split", "condition", "reference", "target"), pl.String),
    "captions": pl.List(pl.String),
}


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture of the split files and of the captions, with category and split."""
    folder = folder_of(path)
    parser, finder = AnnotationParser(folder), ImageFinder(root or folder, FOLDERS, ENDINGS)
    rows: list[tuple[object, ...]] = []
    templates: list[tuple[object, ...]] = []
    files = find_files(path, ("split.*.json", "cap.*.json"), "FashionIQ")
    for file in sorted(files, key=lambda file: file.name.startswith("cap.")):  # splits say more about a picture
        _, category, split = (*file.stem.split("."), "", "")[:3]
        if file.name.startswith("split."):
            names = parser.parse_entries(file, parse_text, "a picture's name")
            rows += [(number, finder.find_key(name), name, category, split) for number, name in names]
            continue
        for number, (reference, target, captions) in parser.parse_entries(
            file, _parse, "candidate, target and captions"
        ):
            pictures = [finder.find_key(name) if name else None for name in (reference, target)]
            templates.append((number, category, split, " and ".join(map(_tidy, captions)), *pictures, captions))
            rows += [(number, finder.find_key(name), name, category, split) for name in (reference, target) if name]
    found = to_table(rows, ROW_SCHEMA).unique("image", keep="first", maintain_order=True)
    return parser.to_reading(found, root or folder, {"templates": to_table(templates, TEMPLATE_SCHEMA)})


def _tidy(caption: str) -> str:
    """Without the signs at its ends, as published codes join captions."""
    return caption.strip(".?, ") or caption


def _parse(entry: dict[str, Any]) -> tuple[str, str | None, list[str]]:
    target = entry.get("target")
    captions = [parse_text(caption) for caption in entry["captions"]]
    if not captions:
        raise ValueError(entry)
    return parse_text(entry["candidate"]), parse_text(target) if target else None, captions
