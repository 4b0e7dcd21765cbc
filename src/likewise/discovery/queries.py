"""Which images become queries: drawn with a seed, at most one image of an item, by category share if asked."""

from pathlib import Path

import numpy as np
import polars as pl

from likewise.catalog import select_catalog_rows
from likewise.catalog.readers.table import read_table
from likewise.errors import LikewiseError


def sample_queries(images: pl.DataFrame, n_queries: int, seed: int, *, by_category: bool = False) -> list[str]:
    """`n_queries` image keys, sorted; fewer only if there are fewer items."""
    if n_queries < 1:
        raise LikewiseError(f"the number of queries must be at least 1, not {n_queries}.")
    rng = np.random.default_rng(seed)
    shuffled = images.select("image", "item", "category").sort("image")
    shuffled = shuffled[rng.permutation(len(shuffled))].unique("item", keep="first", maintain_order=True)
    if not by_category:
        return sorted(shuffled["image"].head(n_queries))
    parts = shuffled.partition_by("category", maintain_order=True)
    parts.sort(key=lambda part: str(part["category"][0]))
    shares = _shares([len(part) for part in parts], n_queries)
    return sorted(image for part, share in zip(parts, shares, strict=True) for image in part["image"].head(share))


def _shares(sizes: list[int], total: int) -> list[int]:
    """Split `total` in proportion to sizes, by largest remainder."""
    total = min(total, sum(sizes))
    exact = np.array(sizes) * total / sum(sizes)
    shares = np.floor(exact).astype(int)
    most_left = np.argsort(shares - exact, kind="stable")
    shares[most_left[: total - shares.sum()]] += 1
    return [int(share) for share in shares]


def query_rows(catalog: pl.DataFrame, rule: str | None) -> pl.DataFrame:
    """The rows that meet a condition, or whose images a file lists (such as a selection of the explore page)."""
    if rule is None or "=" in rule or not Path(rule).is_file():
        return select_catalog_rows(catalog, rule)
    table = read_table(Path(rule))
    if "image" not in table.columns:
        raise LikewiseError(f"{rule} has no column image: a list of queries names images of the catalog.")
    rows = catalog.filter(pl.col("image").is_in(table["image"].cast(pl.String).implode()))
    if rows.is_empty():
        raise LikewiseError(
            f"{rule} names no image of the catalog that every generator has a vector of: check its keys."
        )
    return rows
