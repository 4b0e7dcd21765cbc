"""The baseline of fashion: an outfit is as good as its items are popular, whatever they are combined with.

The popularity of an item is log(1 + the training outfits it is in). Items of a test are never in training, so an item
that training did not show has the popularity of the training item of its category that looks most like it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors
from likewise.lineage.record import Lineage
from likewise.outfits.protocol import Floats, Item, Outfit, OutfitQuestion, answer_by_score
from likewise.outfits.vectors import VectorLookup

BLOCK = 4096


@dataclass(frozen=True)
class ItemCounts:
    """What training leaves behind: one row per item of the training outfits."""

    categories: tuple[str, ...]
    counts: NDArray[np.int64]
    vectors: Vectors


def count_items(outfits: Sequence[Outfit], vectors: VectorLookup) -> ItemCounts:
    """How often each item is worn."""
    worn = Counter(item for outfit in outfits for item in outfit.items)
    items = sorted(worn, key=lambda item: item.image)
    return ItemCounts(
        tuple(item.category for item in items),
        np.array([worn[item] for item in items], dtype=np.int64),
        vectors.lookup([item.image for item in items]),
    )


@dataclass(frozen=True)
class PopularityModel:
    """Mean popularity of the items."""

    counted: ItemCounts
    vectors: VectorLookup
    name: str = "popular"
    lineage: Lineage | None = None

    def score(self, outfits: Sequence[Outfit]) -> Floats:
        items = list(dict.fromkeys(item for outfit in outfits for item in outfit.items))
        known = dict(zip(items, self._popularity(items), strict=True))
        means = [np.mean(sorted(known[item] for item in outfit.items)) for outfit in outfits]
        return np.array(means, dtype=np.float64)

    def answer(self, questions: Sequence[OutfitQuestion]) -> Floats:
        return answer_by_score(self, questions)

    def _popularity(self, items: Sequence[Item]) -> list[float]:
        popularity = np.zeros(len(items))
        seen = self.vectors.lookup([item.image for item in items])
        categories = np.array([item.category for item in items])
        for category in np.unique(categories):
            rows = np.flatnonzero(categories == category)
            known = self._of_category.get(str(category), np.arange(len(self.counted.counts)))
            for start in range(0, len(rows), BLOCK):
                part = rows[start : start + BLOCK]
                nearest = known[np.argmax(seen[part] @ self.counted.vectors[known].T, axis=1)]
                popularity[part] = np.log1p(self.counted.counts[nearest])
        return [float(value) for value in popularity]

    @cached_property
    def _of_category(self) -> dict[str, NDArray[np.int64]]:
        categories = np.array(self.counted.categories)
        return {str(name): np.flatnonzero(categories == name) for name in np.unique(categories)}
