"""What images of a test looked like before an update changed them: who learned from those pictures knows the items."""

from dataclasses import replace

import polars as pl

from likewise.catalog.table import read_catalog
from likewise.catalog.versions import read_history
from likewise.lineage.record import IMAGE_SCHEMA, Examples
from likewise.workspace import WorkspaceFolder


def earlier_states(workspace: WorkspaceFolder) -> pl.DataFrame:
    """image, item and content of every other state that items of the catalog were ever in.

    A picture that is gone goes by an image that its item has now.
    """
    catalog, history = read_catalog(workspace), read_history(workspace)
    if not {"item", "digest"} <= {*catalog.columns, *history.columns}:
        return pl.DataFrame(schema=IMAGE_SCHEMA)
    other = history.join(catalog, on=["image", "digest"], how="anti").select("image", "item", "digest")
    there = catalog.select("image", "item").with_columns(pl.col("image").alias("there"))
    first = catalog.group_by("item").agg(pl.col("image").min().alias("first"))
    named = other.join(there, on=["image", "item"], how="left").join(first, on="item", how="inner")
    rows = named.select(pl.coalesce("there", "first").alias("image"), "item", pl.col("digest").alias("content"))
    return rows.filter(pl.col("content") != "").cast(dict(IMAGE_SCHEMA)).unique().sort("image", "content")  # type: ignore[arg-type]


def with_earlier_states(examples: Examples, earlier: pl.DataFrame) -> Examples:
    """A test that also knows the earlier states of its items."""
    asked = examples.images.select("item").unique()
    rows = earlier.join(asked, on="item", how="semi")
    return replace(examples, images=pl.concat([examples.images, rows])) if len(rows) else examples
