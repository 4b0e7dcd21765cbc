"""The annotations a workspace holds: rows of VAW or COCO panoptic if made from them, else the catalog's columns."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.stored_tables import read_stored_table
from likewise.catalog.table import read_catalog, select_catalog_rows
from likewise.conditional.templates.annotations import (
    ATTRIBUTE_KINDS,
    ImageAnnotations,
    catalog_annotations,
    panoptic_annotations,
    vaw_annotations,
)
from likewise.conditional.templates.caption_annotations import caption_annotations
from likewise.errors import LikewiseError
from likewise.lineage.halves import select_half
from likewise.workspace import WorkspaceFolder, read_json


@dataclass(frozen=True)
class AnnotationOptions:
    """Which columns annotate, and which images are used."""

    category: str = "category"
    attributes: Sequence[str] | None = None
    words: str | None = None
    where: str | None = None
    half: str | None = None
    """Only the items of one half, `train` or `test`: no item is in both."""
    kinds_file: Path | None = None

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> "AnnotationOptions":
        return cls(**{**values, "kinds_file": Path(values["kinds_file"]) if values.get("kinds_file") else None})

    def to_stored(self) -> dict[str, Any]:
        return asdict(self) | {"kinds_file": str(self.kinds_file) if self.kinds_file else None}


def workspace_annotations(workspace: WorkspaceFolder, options: AnnotationOptions | None = None) -> ImageAnnotations:
    """All that is known about the pictures of a workspace, or about those that `options` choose."""
    options = options or AnnotationOptions()
    catalog = select_catalog_rows(select_half(read_catalog(workspace), options.half), options.where)
    tables = {path.stem for path in workspace.tables_folder.glob("*.parquet")}
    if options.attributes is None and options.words is None and "objects" in tables:
        objects = read_stored_table(workspace, "objects")
        shown = objects.filter(pl.col("image").is_in(catalog["image"].implode()))
        if "attributes" in tables:
            kinds = attribute_kinds(options.kinds_file)
            return vaw_annotations(shown, read_stored_table(workspace, "attributes"), kinds)
        return panoptic_annotations(catalog["image"].to_list(), shown)
    if options.words and not options.attributes and _has_no_category(catalog, options.category):
        return caption_annotations(catalog, [name.strip() for name in options.words.split(",")])
    return catalog_annotations(catalog, category=options.category, attributes=options.attributes, words=options.words)


def _has_no_category(catalog: pl.DataFrame, category: str) -> bool:
    return category in catalog.columns and catalog[category].null_count() == catalog.height


def attribute_kinds(file: Path | None) -> Mapping[str, Sequence[str]]:
    """`{"color": ["white", …], …}` from a file such as VAW's attribute_types.json, or the common ones."""
    if file is None:
        return ATTRIBUTE_KINDS
    if not file.exists():
        raise LikewiseError(f"{file} does not exist: give a JSON file with kinds and their attributes.")
    found: Any = read_json(file)
    if not isinstance(found, dict) or not all(isinstance(values, list) for values in found.values()):
        raise LikewiseError(f'{file} must hold {{"kind": ["attribute", …], …}}.')
    return {str(kind): [str(value) for value in values] for kind, values in found.items()}
