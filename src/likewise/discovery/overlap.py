"""How alike the generators' candidates are (VSD, sec. 6.2, Table 2), and what each one adds."""

import polars as pl

from likewise.discovery.proposals import NO_GENERATORS


def overlap_table(pool: pl.DataFrame, n_queries: int, k: int) -> pl.DataFrame:
    """For every two generators: shared pairs, and their share of |Q| k (Table 2); the diagonal is left out."""
    candidates = _proposed(pool).select("query", "candidate", "generator")
    names = candidates["generator"].unique().sort().to_list()
    both = candidates.join(candidates, on=["query", "candidate"], suffix="_b").filter(
        pl.col("generator") != pl.col("generator_b")
    )
    counted = both.group_by("generator", "generator_b").len("n_shared")
    every = pl.DataFrame(
        [(a, b) for a in names for b in names if a != b],
        schema={"generator": pl.String, "generator_b": pl.String},
        orient="row",
    )
    return (
        every.join(counted, on=["generator", "generator_b"], how="left")
        .with_columns(pl.col("n_shared").fill_null(0).cast(pl.Int64))
        .with_columns(share=pl.col("n_shared") / (n_queries * k))
        .sort("generator", "generator_b")
    )


def generator_table(pool: pl.DataFrame, labels: pl.DataFrame | None) -> pl.DataFrame:
    """Per generator: candidates, those nobody else proposed, how many are labelled, and its positive share p_k^m."""
    candidates = _proposed(pool).with_columns(alone=pl.col("generator").n_unique().over("query", "candidate") == 1)
    if labels is None:
        labels = pl.DataFrame(schema={"query": pl.String, "candidate": pl.String, "label": pl.Int8})
    judged = candidates.join(
        labels.select("query", "candidate", pl.col("label").cast(pl.Int64)), on=["query", "candidate"], how="left"
    )
    return (
        judged.group_by("generator")
        .agg(
            n_pairs=pl.len().cast(pl.Int64),
            n_unique=pl.col("alone").sum().cast(pl.Int64),
            n_labelled=pl.col("label").count().cast(pl.Int64),
            n_positive=pl.col("label").sum().cast(pl.Int64),
            n_positive_unique=(pl.col("label") * pl.col("alone")).sum().cast(pl.Int64),
        )
        .with_columns(
            positive_share=pl.when(pl.col("n_labelled") > 0).then(pl.col("n_positive") / pl.col("n_labelled"))
        )
        .sort("generator")
    )


def duplicate_share(pool: pl.DataFrame) -> float:
    """The share of proposals that another generator had already made: 1 - |S_k| / proposals."""
    candidates = _proposed(pool)
    distinct = candidates.select("query", "candidate").unique().height
    return 1.0 - distinct / candidates.height if candidates.height else 0.0


def _proposed(pool: pl.DataFrame) -> pl.DataFrame:
    """The rows that a model proposed."""
    return pool.filter(~pl.col("generator").is_in(NO_GENERATORS))
