"""The facts a workspace holds: rows of VAW or COCO panoptic where it was made from them, else the catalog's columns."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from likewise.catalog.readers.stored import read_stored_table
from likewise.catalog.table import read_catalog, select
from likewise.conditional.templates.facts import KINDS, Facts, catalog_facts, codes, panoptic_facts, vaw_facts
from likewise.errors import LikewiseError
from likewise.workspace import Workspace, read_json

HALVES = ("train", "test")


def workspace_facts(
    workspace: Workspace,
    *,
    category: str = "category",
    attributes: Sequence[str] | None = None,
    words: str | None = None,
    where: str | None = None,
    half: str | None = None,
    kinds_file: Path | None = None,
    seed: int = 0,
) -> Facts:
    """All that is known about the pictures of a workspace, or about those that meet `where` or are in one half.

    `half` keeps the items of `train` or of `test`, drawn by `seed`: no item is in both.
    """
    catalog = select(read_catalog(workspace), where)
    if half is not None:
        catalog = _half(catalog, half, seed)
    tables = {path.stem for path in workspace.tables_folder.glob("*.parquet")}
    if attributes is None and words is None and "objects" in tables:
        objects = read_stored_table(workspace, "objects")
        shown = objects.filter(pl.col("image").is_in(catalog["image"].implode()))
        if "attributes" in tables:
            return vaw_facts(shown, read_stored_table(workspace, "attributes"), attribute_kinds(kinds_file))
        return panoptic_facts(catalog["image"].to_list(), shown)
    return catalog_facts(catalog, category=category, attributes=attributes, words=words)


def attribute_kinds(file: Path | None) -> Mapping[str, Sequence[str]]:
    """`{"color": ["white", …], …}` from a file such as VAW's attribute_types.json, or the common ones."""
    if file is None:
        return KINDS
    if not file.exists():
        raise LikewiseError(f"{file} does not exist: give a JSON file with kinds and their attributes.")
    found: Any = read_json(file)
    if not isinstance(found, dict) or not all(isinstance(values, list) for values in found.values()):
        raise LikewiseError(f'{file} must hold {{"kind": ["attribute", …], …}}.')
    return {str(kind): [str(value) for value in values] for kind, values in found.items()}


def _half(catalog: pl.DataFrame, half: str, seed: int) -> pl.DataFrame:
    if half not in HALVES:
        raise LikewiseError(f"there is no half {half!r}: use {' or '.join(HALVES)}.")
    items, names = codes(catalog["item"].cast(pl.String))
    in_train = np.random.default_rng([seed, 4099]).permutation(len(names)) < len(names) / 2
    kept = in_train[items] if half == "train" else ~in_train[items]
    return catalog.filter(pl.Series(kept))
