"""Polyvore Outfits (type-aware embeddings): a folder `disjoint/` or `nondisjoint/` and what lies beside it.

    {train,valid,test}.json        [{"set_id", "items": [{"item_id", "index"}]}]
    fill_in_blank_<split>.json     items are SETID_INDEX; right is the answer with the question's set id, at any place
    compatibility_<split>.txt      1 224930161_1 224930161_2 …
    polyvore_item_metadata.json    {item_id: {"title", "url_name", "semantic_category", "category_id", …}}
    categories.csv                 category_id,fine,coarse
    images/<item_id>.jpg

SETID_INDEX is replaced by the item's id wherever its outfit is known, and kept as it is where not (counted in the
coverage).
"""

import csv
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.locations import ImageFinder, find_file
from likewise.catalog.readers.parsing import AnnotationParser, parse_integer, parse_text, to_table
from likewise.catalog.readers.reading import Reading
from likewise.outfits.readers.polyvore import (
    COMPATIBILITY_SCHEMA,
    OUTFIT_SCHEMA,
    QUESTION_SCHEMA,
    of_the_same_set,
    parse_compatibility,
    parse_question,
)

SPLITS = ("train", "valid", "test")
VERSIONS = ("nondisjoint", "disjoint")
ROW_SCHEMA = {
    "row": pl.Int64,
    **dict.fromkeys(("image", "item", "category", "fine_category", "caption", "split"), pl.String),
}
EXPECTED = "an outfit with set_id and items, each with item_id and index"


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per item, with semantic category, title as caption, and the split it was first met in."""
    parser = AnnotationParser(path)
    version = path
    if not any((path / f"{split}.json").is_file() for split in SPLITS):
        version = find_file(path, [f"{v}/{s}.json" for v in VERSIONS for s in SPLITS], "Polyvore Outfits").parent
        if all((path / other).is_dir() for other in VERSIONS):
            parser.add_remark(
                f"both versions are there, read was {version.name}: give the other one's folder to read that"
            )
    beside = version if path == version and (path / "categories.csv").is_file() else version.parent
    about = _metadata(beside, parser)
    base = root or (beside if (beside / "images").is_dir() else path)
    finder = ImageFinder(base, ("images", "."), (".jpg",))
    rows: dict[str, tuple[object, ...]] = {}
    outfits: list[tuple[object, ...]] = []
    items: dict[str, str] = {}
    for split in SPLITS:
        file = version / f"{split}.json"
        if not file.is_file():
            continue
        for number, (set_id, members) in parser.parse_entries(file, _outfit, EXPECTED):
            for item, index in members:
                items[f"{set_id}_{index}"] = item
                category, fine, caption = about.get(item, (None, None, None))
                image = finder.find_key(item)
                rows.setdefault(item, (number, image, item, category, fine, caption, split))
                outfits.append((set_id, item, index, image, category, split))
    tables = {"outfits": to_table(outfits, OUTFIT_SCHEMA), **_tests(version, items, parser)}
    return parser.to_reading(to_table(rows.values(), ROW_SCHEMA), base, tables)


def _outfit(entry: dict[str, Any]) -> tuple[str, list[tuple[str, int]]]:
    return parse_text(entry["set_id"]), [
        (parse_text(item["item_id"]), parse_integer(item["index"])) for item in entry["items"]
    ]


def _tests(version: Path, items: dict[str, str], parser: AnnotationParser) -> dict[str, pl.DataFrame]:
    unknown: set[str] = set()

    def known(names: list[str]) -> list[str]:
        unknown.update(name for name in names if name not in items)
        return [items.get(name, name) for name in names]

    questions: list[tuple[object, ...]] = []
    lines: list[tuple[object, ...]] = []
    for split in SPLITS:
        if (file := version / f"fill_in_blank_{split}.json").is_file():
            asked = parser.parse_entries(
                file, lambda entry: parse_question(entry, of_the_same_set), "question, and one answer of the same set"
            )
            questions += [(n, split, known(given), known(answers), *rest) for n, (given, answers, *rest) in asked]
        if (file := version / f"compatibility_{split}.txt").is_file():
            found = parser.parse_lines(file, parse_compatibility, "`1|0 SETID_INDEX SETID_INDEX …`")
            lines += [(number, split, label, known(members)) for number, (label, members) in found]
    if unknown:
        parser.add_remark(
            f"{len(unknown)} items of questions and lines belong to no outfit read, the first is {min(unknown)}"
        )
    return {"questions": to_table(questions, QUESTION_SCHEMA), "compatibility": to_table(lines, COMPATIBILITY_SCHEMA)}


def _metadata(folder: Path, parser: AnnotationParser) -> dict[str, tuple[str | None, str | None, str | None]]:
    """item -> (semantic category, fine category, title)."""
    fine: dict[str, tuple[str, str]] = {}
    if (file := folder / "categories.csv").is_file():

        def parse(line: str) -> tuple[str, tuple[str, str]]:
            number, name, semantic = next(csv.reader([line]))
            return str(parse_integer(number)), (name.strip(), semantic.strip())

        fine = dict(values for _, values in parser.parse_lines(file, parse, "`category_id,fine,semantic`"))
    file = folder / "polyvore_item_metadata.json"
    if not file.is_file():
        parser.add_remark(f"{file.name} is not there: items have no category")
        return {}

    def one(pair: tuple[str, dict[str, Any]]) -> tuple[str, tuple[str | None, str | None, str | None]]:
        item, known = pair
        name, semantic = fine.get(str(known.get("category_id", "")).strip(), ("", ""))
        coarse = parse_text(known["semantic_category"]) if known.get("semantic_category") else semantic or None
        title = known.get("title") or known.get("url_name") or ""
        return parse_text(item), (coarse, name or None, str(title).strip() or None)

    return dict(values for _, values in parser.parse_pairs(file, one, "an item's id and what is known of it"))
