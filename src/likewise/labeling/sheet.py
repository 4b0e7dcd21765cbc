"""A table to fill in, for experts who label in a spreadsheet.

It is blind: which generator proposed a pair, at which rank and score, and what others answered, is not in it.
"""

import numpy as np
import polars as pl

from likewise.labeling.votes import PAIR, hash_bytes


def voting_sheet(pool: pl.DataFrame, expert: str, seed: int = 0, answered: pl.DataFrame | None = None) -> pl.DataFrame:
    """Every pair of the pool once: query, candidate, expert, and an empty answer.

    Pairs among the votes `answered` that this expert gave before are left out.

    A query's candidates stand together. The order is random, and another for each expert, so that nobody's tiredness
    falls on the same pairs; it depends only on the pairs, the expert and the seed.
    """
    pairs = pool.select(PAIR).unique().sort(PAIR)
    if answered is not None:
        pairs = pairs.join(answered.filter(pl.col("expert") == expert), on=PAIR, how="anti", maintain_order="left")
    random = np.random.default_rng(list(hash_bytes(16, "sheet", seed, expert)))
    queries = pairs.select("query").unique().sort("query")
    place = pl.Series("place", random.permutation(queries.height))
    shuffled = pairs[random.permutation(pairs.height)]
    grouped = shuffled.join(queries.with_columns(place), on="query", maintain_order="left")
    return grouped.sort("place", maintain_order=True).select(
        *PAIR, pl.lit(expert).alias("expert"), pl.lit("").alias("answer")
    )
