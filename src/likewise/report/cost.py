"""What the labels cost: the budget table cut down to what is plotted and printed."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class BestSets:
    """For each number of generators the set that promises most at `k`, and its whole row of k."""

    k: int
    at_k: pl.DataFrame
    lines: pl.DataFrame


def best_sets(budget: pl.DataFrame, pool_k: int) -> BestSets | None:
    """None if the table holds no expected positives with intervals (it was made before any label)."""
    if "positives_low" not in budget.columns:
        return None
    known = budget.filter(pl.col("expected_positives").is_not_null())
    if known.is_empty():
        return None
    k = min(pool_k, int(known["k"].max()))  # type: ignore[arg-type]
    at_k = (
        known.filter(pl.col("k") == k)
        .sort("expected_positives", "generators", descending=[True, False])
        .unique("n_generators", keep="first", maintain_order=True)
        .sort("n_generators")
    )
    lines = known.join(at_k, on="generators", how="semi").sort("n_generators", "k")
    return BestSets(k, at_k, lines)


def locate_pool(budget: pl.DataFrame, k: int, n_pool_pairs: int) -> tuple[float, float] | None:
    """Hours and expected positives of the pool as it was labelled, if the budget was made for the same queries."""
    row = budget.filter(
        (pl.col("k") == k) & (pl.col("n_pairs") == n_pool_pairs) & pl.col("expected_positives").is_not_null()
    )
    return (row["hours"][0], row["expected_positives"][0]) if len(row) else None


def budget_faithfulness(budget: pl.DataFrame) -> pl.DataFrame | None:
    """Mean Spearman and mean recall per number of generators and k; None where the truth is not known."""
    if not {"spearman", "recall"} <= set(budget.columns) or budget["recall"].null_count() == len(budget):
        return None
    return (
        budget.group_by("n_generators", "k")
        .agg(pl.col("spearman", "recall").mean(), n_sets=pl.len(), n_ordered=pl.col("spearman").count())
        .sort("n_generators", "k")
    )
