"""Whether the labelled pairs of a draw are a random part of it: estimates take them as one until all are labelled.

Sites and sheets deal pairs in random order, but labels that come in a file, or were there before the pairs were drawn,
may be of the likeliest pairs alone. Then the others would be weighed as if they were like these. Within each query of
a first round, and within each later round, asked pairs are compared with all by their inclusion probability. "Nobody
could tell" counts as asked.
"""

from collections.abc import Collection
from math import sqrt

import polars as pl

from likewise.discovery.pool import FIRST_ROUND, PICKED

FARTHEST = 5.0  # standard errors; a random order is farther off once in two million times


def not_at_random(pool: pl.DataFrame, labels: pl.DataFrame, update_rounds: Collection[int] = ()) -> str:
    """Why labels so far say nothing of the whole catalog; empty where they may."""
    first = pl.col("round").is_in([FIRST_ROUND, *update_rounds])
    asked = labels.select("query", "candidate", asked=pl.lit(1.0))
    groups = (
        pool.filter(pl.col("generator") != PICKED)
        .join(asked, on=["query", "candidate"], how="left")
        .with_columns(pl.col("asked").fill_null(0.0))
        .group_by("round", pl.when(first).then("query").alias("of"))
        .agg(
            n=pl.len(),
            n_asked=pl.col("asked").sum(),
            off=(pl.col("asked") * (pl.col("probability") - pl.col("probability").mean())).sum(),
            spread=pl.col("probability").var().fill_null(0.0),
        )
        .filter(pl.col("n_asked") > 0.0)
        .with_columns(variance=pl.col("n_asked") * (1.0 - pl.col("n_asked") / pl.col("n")) * pl.col("spread"))
    )
    off, variance = float(groups["off"].sum()), float(groups["variance"].sum())
    if variance <= 0.0 or abs(off) <= FARTHEST * sqrt(variance):
        return ""
    kind = "likeliest" if off > 0.0 else "least likely"
    return (
        "nothing is estimated for the whole catalog yet: the labelled pairs are no random part of those that were "
        f"drawn, but mostly the {kind}, as when labels were there before the draw, or come from a file: label the "
        "others, too."
    )
