"""The truth of the wardrobe: every two items whose similarity with the base weights is at least SIMILAR_AT."""

import numpy as np
import polars as pl

from likewise.catalog import read_catalog
from likewise.catalog.truth import TRUTH_SCHEMA
from likewise.synthetic.similarity import SIMILAR_AT, similarity
from likewise.workspace import WARDROBE, WorkspaceFolder, write_parquet

ROWS_AT_ONCE = 256


def similar_item_pairs(catalog: pl.DataFrame) -> pl.DataFrame:
    """Table of truth of a drawn catalog. Items of two categories are never similar: no kinship reaches SIMILAR_AT."""
    items = catalog.unique("item", keep="first", maintain_order=True).sort("item").with_row_index("number")
    found = []
    for [_], own in items.group_by("category", maintain_order=True):
        numbers = own["number"].to_numpy().astype(np.int64)
        for start in range(0, len(numbers), ROWS_AT_ONCE):
            some = numbers[start : start + ROWS_AT_ONCE]
            first, second = (each.ravel() for each in np.meshgrid(some, numbers, indexing="ij"))
            first, second = first[first < second], second[first < second]
            similar = similarity(items, first, second) >= np.float32(SIMILAR_AT)
            found.append(np.stack([first[similar], second[similar]]))
    pairs = np.concatenate(found, axis=1) if found else np.empty((2, 0), dtype=np.int64)
    columns = {name: items["item"].gather(pairs[place]) for place, name in enumerate(TRUTH_SCHEMA)}
    return pl.DataFrame(columns, schema=TRUTH_SCHEMA).sort(*TRUTH_SCHEMA)


def is_wardrobe(workspace: WorkspaceFolder) -> bool:
    """True for a catalog that was drawn here."""
    return bool(workspace.settings()["source"] == WARDROBE)


def add_missing_truth(workspace: WorkspaceFolder) -> None:
    """Write the table of truth of a wardrobe that was drawn before there were such tables."""
    if is_wardrobe(workspace) and not workspace.has_truth:
        write_parquet(similar_item_pairs(read_catalog(workspace)), workspace.truth_file)
