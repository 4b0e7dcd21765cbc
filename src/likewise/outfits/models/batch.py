"""Outfits as padded arrays: which row of a table of items stands at each place, and of which type it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.outfits.outfit_list import OutfitList, worn_items
from likewise.outfits.protocol import Outfit

Indices = NDArray[np.int64]
PADDING = -1  # the row of an empty place
UNKNOWN_TYPE = 0  # of a category that training did not show
BLOCK = 16_384  # outfits that are padded at one time


@dataclass(frozen=True)
class PaddedOutfits:
    """One line per outfit; `indices` is PADDING where an outfit is shorter than the longest."""

    indices: Indices
    types: Indices

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def mask(self) -> NDArray[np.bool_]:
        return np.asarray(self.indices != PADDING)

    def select(self, lines: Indices | slice) -> "PaddedOutfits":
        """Some of the outfits, no wider than they need."""
        indices, types = self.indices[lines], self.types[lines]
        width = int((indices != PADDING).sum(axis=1).max(initial=1))
        return PaddedOutfits(indices[:, :width], types[:, :width])


def pad_outfits(outfits: Sequence[Sequence[int]], types: Indices) -> PaddedOutfits:
    """Lists of item rows to arrays; `types` is the type of every item row."""
    width = max((len(outfit) for outfit in outfits), default=1)
    indices = np.full((len(outfits), max(1, width)), PADDING, dtype=np.int64)
    for line, outfit in enumerate(outfits):
        indices[line, : len(outfit)] = outfit
    return PaddedOutfits(indices, np.where(indices == PADDING, UNKNOWN_TYPE, types[indices]))


@dataclass(frozen=True)
class StoredOutfits:
    """Any number of outfits as rows of items, one after the other; padded where they are looked at."""

    rows: NDArray[np.int32]
    starts: Indices
    types: Indices
    """Of every item row."""

    @classmethod
    def from_outfits(cls, outfits: Sequence[Outfit], row_by_image: dict[str, int], types: Indices) -> "StoredOutfits":
        listed = OutfitList.from_outfits(outfits)
        row = np.array([row_by_image.get(item.image, PADDING) for item in listed.items], dtype=np.int32)
        return cls(row[listed.numbers], listed.starts, types)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def select(self, lines: Indices) -> PaddedOutfits:
        """Some of the outfits, no wider than they need."""
        start, length = self.starts[lines], self.starts[lines + 1] - self.starts[lines]
        place = np.arange(int(length.max(initial=1)))
        mask = place < length[:, None]
        indices = np.full(mask.shape, PADDING, dtype=np.int64)
        indices[mask] = self.rows[(start[:, None] + place)[mask]]
        return PaddedOutfits(indices, np.where(mask, self.types[indices], UNKNOWN_TYPE))

    def blocks(self) -> Iterator[PaddedOutfits]:
        """All of them, some at a time."""
        for first in range(0, len(self), BLOCK):
            yield self.select(np.arange(first, min(first + BLOCK, len(self))))


def sort_by_type(padded: PaddedOutfits) -> PaddedOutfits:
    """Every outfit sorted by type, items of one type by row: the one order in which an order-free model sees it."""
    last = np.iinfo(np.int64).max
    types = np.where(padded.mask, padded.types, last)
    indices = np.where(padded.mask, padded.indices, last)
    order = np.lexsort((indices, types), axis=1)
    return PaddedOutfits(np.take_along_axis(padded.indices, order, 1), np.take_along_axis(padded.types, order, 1))


def category_by_image(outfits: Sequence[Outfit]) -> dict[str, str]:
    """image -> category of every item that the outfits show."""
    return {item.image: item.category for item in worn_items(outfits)}
