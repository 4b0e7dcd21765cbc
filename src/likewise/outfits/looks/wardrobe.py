"""What looks are made from: the items of a catalog, each with its category and one of the twenty that rules know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.table import select_all
from likewise.errors import LikewiseError
from likewise.outfits.category_mapping import map_category, map_items
from likewise.outfits.protocol import Item

Indices = NDArray[np.int64]
NEAR_FACTOR = 2.0
"""A number such as a price is near another that is at most so many times as large."""


@dataclass(frozen=True)
class Wardrobe:
    """One row per item; `slots` is one of the twenty categories, or "" for things that no rule of outfits knows."""

    items: tuple[Item, ...]
    slots: tuple[str, ...]
    about: pl.DataFrame
    """The catalog's columns, in the order of the items."""
    hidden: frozenset[int] = frozenset()
    """Rows that are never suggested."""

    @staticmethod
    def from_catalog(
        catalog: pl.DataFrame, images: Sequence[str] | None = None, mapping: Mapping[str, str] | None = None
    ) -> "Wardrobe":
        """The items of a catalog by their first picture; only those with one of `images`, where these are given."""
        rows = catalog if images is None else catalog.filter(pl.col("image").is_in(sorted(set(images))))
        rows = rows.sort("image").unique("item", keep="first", maintain_order=True)
        slots = map_items(rows, mapping).fill_null("").to_list()
        known = zip(rows["item"].to_list(), rows["category"].to_list(), rows["image"].to_list(), strict=True)
        items = tuple(Item(item, category or "", image) for item, category, image in known)
        return Wardrobe(items, tuple(slots), rows)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """By item and by image."""
        by_image = {item.image: row for row, item in enumerate(self.items)}
        return by_image | {item.item: row for row, item in enumerate(self.items)}

    @cached_property
    def _rows_of_slot(self) -> dict[str, Indices]:
        slots = np.array(self.slots)
        return {str(name): np.flatnonzero(slots == name) for name in np.unique(slots)}

    @cached_property
    def _rows_of_category(self) -> dict[str, Indices]:
        categories = np.array([item.category for item in self.items])
        return {str(name): np.flatnonzero(categories == name) for name in np.unique(categories)}

    def row(self, name: str) -> int:
        if name not in self.row_of:
            raise LikewiseError(f"there is no item {name!r} in the catalog: give an item, an image key or a picture.")
        return self.row_of[name]

    def find_slot(self, word: str) -> str:
        """What somebody asks for: a category of the catalog, or one of the twenty by any of its names."""
        if word in self._rows_of_category:
            return word
        slot = map_category(word)
        if slot is None or slot not in self._rows_of_slot:
            there = sorted(set(self._rows_of_slot) - {""}) or sorted(self._rows_of_category)
            raise LikewiseError(f"the catalog has nothing to wear called {word!r}: ask for {', '.join(there)}.")
        return slot

    def candidates(self, slot: str) -> Indices:
        """The rows of a slot, or of a category of the catalog."""
        found = self._rows_of_category.get(slot)
        if found is None:
            found = self._rows_of_slot.get(slot, np.zeros(0, np.int64))
        return np.setdiff1d(found, list(self.hidden)) if self.hidden else found

    def allowed(self, conditions: Sequence[str] = (), anchors: Sequence[str] = (), worn: Sequence[int] = ()) -> Indices:
        """Rows that meet every `COLUMN=VALUE`, and in each anchor column go with what is worn: of an equal text (a
        season), or a number (a price) of at most twice and at least half."""
        mask = np.ones(len(self.items), dtype=np.bool_)
        if conditions:
            chosen = set(select_all(self.about, list(conditions))["item"].to_list())
            mask &= np.array([item.item in chosen for item in self.items])
        for column in anchors:
            if column not in self.about.columns:
                raise LikewiseError(f"there is no column {column!r} to go by: {', '.join(self.about.columns)}.")
            own = self.about[column].gather(list(worn)).drop_nulls()
            if not len(own):
                continue
            if self.about.schema[column].is_numeric():
                middle, value = float(own.cast(pl.Float64).median() or 0.0), self.about[column].cast(pl.Float64)  # type: ignore[arg-type]
                near = (value <= middle * NEAR_FACTOR) & (value >= middle / NEAR_FACTOR)
            else:
                near = self.about[column].is_in(own.unique().to_list())
            mask &= near.fill_null(value=False).to_numpy()
        return np.flatnonzero(mask)
