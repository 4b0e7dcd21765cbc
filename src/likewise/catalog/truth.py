"""The truth of a catalog, where it is known: truth.parquet, the pairs of items that look alike; all others do not.

Any catalog may bring one (`likewise new --truth FILE`). With it `evaluate` and `budget` say what share of all similar
pairs a pool finds, and whether it orders the models as the whole truth would.
"""

import polars as pl

from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder, read_parquet

TRUTH_SCHEMA = pl.Schema({"item_a": pl.String, "item_b": pl.String})


def check_truth(table: pl.DataFrame, catalog: pl.DataFrame) -> pl.DataFrame:
    """The pairs of two items of the catalog, each pair once and sorted."""
    if absent := [name for name in TRUTH_SCHEMA if name not in table.columns]:
        raise LikewiseError(
            f"a table of truth has no column {', '.join(absent)} (it has: {', '.join(table.columns)}): "
            "give one row per pair of similar items, in the columns item_a and item_b."
        )
    pairs = table.select(pl.col(*TRUTH_SCHEMA).cast(pl.String))
    items = catalog["item"].unique().to_list()
    known = pairs.filter(pl.col("item_a").is_in(items) & pl.col("item_b").is_in(items))
    if known.is_empty() and len(pairs):
        first = " and ".join(str(item) for item in pairs.row(0))
        raise LikewiseError(f"the table of truth names no two items of this catalog (first row: {first}).")
    ordered = known.select(
        item_a=pl.min_horizontal("item_a", "item_b"), item_b=pl.max_horizontal("item_a", "item_b")
    ).filter(pl.col("item_a") != pl.col("item_b"))
    return ordered.unique().sort("item_a", "item_b")


def read_truth(workspace: WorkspaceFolder) -> pl.DataFrame:
    """The pairs of similar items, item_a before item_b."""
    return read_parquet(workspace.truth_file, f"likewise new {workspace.quoted} --truth FILE")
