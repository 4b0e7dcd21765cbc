"""What counts as one pair: a query and an item (the default), or a query and an image.

Experts are shown a query and one image of an item, and what they say is about the two things. So cost, prevalence and
recall count pairs of a query and an item: brute force would show one image of each. Equation 1 of the VSD paper ranks
images, and `images` counts as it does.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from likewise.errors import LikewiseError

Unit = Literal["items", "images"]
ITEMS: Unit = "items"
IMAGES: Unit = "images"
UNIT_NAMES: dict[Unit, str] = {ITEMS: "query–item", IMAGES: "query–image"}


@dataclass(frozen=True)
class PairCounter:
    """How many pairs there are in all, and how to count some of them; `item_of` (image, item) for items."""

    unit: Unit
    n_all_pairs: int
    item_of: pl.DataFrame | None = None

    def with_target(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Pairs with what they count as, beside the query: the candidate's item, or the candidate."""
        if self.item_of is None:
            return pairs.with_columns(target=pl.col("candidate"))
        named = self.item_of.rename({"image": "candidate", "item": "target"})
        return pairs.join(named, on="candidate", how="inner", maintain_order="left")

    def distinct(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Each pair (query, target) once; with labels, the highest of its images."""
        table = self.with_target(pairs)
        if "label" not in pairs.columns:
            return table.select("query", "target").unique(maintain_order=True)
        return table.group_by("query", "target", maintain_order=True).agg(pl.col("label").cast(pl.Int64).max())


def check_unit(unit: str) -> Unit:
    """The unit of this name."""
    for known in get_args(Unit):
        if unit == known:
            return known  # type: ignore[no-any-return]
    raise LikewiseError(f"pairs are counted by {' or '.join(get_args(Unit))}, not {unit!r}.")
