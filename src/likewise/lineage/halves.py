"""Two halves of a catalog without a common item: one to learn from, the other to measure on.

The half of an item follows from a hash of its key and a seed, so it is the same in every command, on every machine, and
stays when a catalog grows. Items that share a picture file are in one half.
"""

import hashlib
from dataclasses import dataclass

import polars as pl

from likewise.errors import LikewiseError

PARTS = ("train", "test")


@dataclass(frozen=True)
class Half:
    """One half; its text is what `--half` takes: `train`, `test`, or with another seed `train:7`."""

    part: str
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.part}:{self.seed}" if self.seed else self.part


def parse_half(text: str) -> Half:
    """`train` or `test`, with a seed behind a colon where it is not 0."""
    part, colon, seed = text.partition(":")
    if part not in PARTS or (colon and not seed.isdecimal()):
        raise LikewiseError(f"there is no half {text!r}: write train or test, or with another seed train:7.")
    return Half(part, int(seed or 0))


def select_half(catalog: pl.DataFrame, half: str | None) -> pl.DataFrame:
    """The rows of one half; all rows for None."""
    if half is None:
        return catalog
    wanted = parse_half(half)
    group = _groups(catalog)
    parts = {name: _part(name, wanted.seed) for name in group.unique()}
    chosen = catalog.filter(group.replace_strict(parts, return_dtype=pl.String) == wanted.part)
    if chosen.is_empty():
        raise LikewiseError(
            f"the half {half} of {catalog['item'].n_unique()} items is empty: a catalog needs more items to be divided."
        )
    return chosen


def _part(name: str, seed: int) -> str:
    first = hashlib.blake2b(f"{seed}\t{name}".encode(), digest_size=1).digest()[0]
    return PARTS[first >= 128]


def _groups(catalog: pl.DataFrame) -> pl.Series:
    """The first item, by name, of all that are connected by equal picture files."""
    if "digest" not in catalog.columns:
        return catalog["item"]
    table = catalog.select("item", pl.coalesce(pl.col("digest").replace("", None), "image").alias("file"))
    group = table["item"]
    while True:
        joined = table.with_columns(group.alias("group")).with_columns(pl.col("group").min().over("file"))
        joined = joined.with_columns(pl.col("group").min().over("item"))
        if joined["group"].equals(group, null_equal=True):
            return joined["group"]
        group = joined["group"]
