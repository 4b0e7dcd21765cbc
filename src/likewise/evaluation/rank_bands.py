"""The share of similar pairs in each band of the generators' ranks, from pairs drawn for it, with exact intervals."""

import polars as pl

from likewise.intervals import clopper_pearson
from likewise.workspace import WorkspaceFolder, read_parquet

RANK_BAND_SCHEMA = pl.Schema(
    {
        "first_rank": pl.Int64,
        "last_rank": pl.Int64,
        "n_pairs": pl.Int64,
        "n_drawn": pl.Int64,
        "n_labelled": pl.Int64,
        "n_similar": pl.Int64,
        "share": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
    }
)
"""`n_pairs`: how many the band holds; `share`: of the labelled ones that were drawn, with its 95 % interval."""


def rank_band_table(workspace: WorkspaceFolder, labels: pl.DataFrame) -> pl.DataFrame:
    """One row per band; empty where no pairs were drawn by rank."""
    if not workspace.rank_bands_file.exists():
        return pl.DataFrame(schema=RANK_BAND_SCHEMA)
    drawn = read_parquet(workspace.rank_bands_file, f"likewise label add-pairs {workspace.quoted} --by-rank 100-499")
    return share_by_band(drawn, labels)


def share_by_band(drawn: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """From drawn pairs (with their band and its size) and labels."""
    judged = drawn.join(labels.select("query", "candidate", "label"), on=["query", "candidate"], how="left")
    counted = judged.group_by("first_rank", "last_rank", "n_pairs").agg(
        n_drawn=pl.len(), n_labelled=pl.col("label").count(), n_similar=pl.col("label").cast(pl.Int64).sum()
    )
    rows = []
    for row in counted.sort("first_rank", "last_rank").iter_rows(named=True):
        n, hits = row["n_labelled"], row["n_similar"]
        ends = clopper_pearson(hits, n) if n else (None, None)
        rows.append((*(row[name] for name in RANK_BAND_SCHEMA.names()[:6]), hits / n if n else None, *ends))
    return pl.DataFrame(rows, schema=RANK_BAND_SCHEMA, orient="row")
