"""Outfits as padded arrays: which row of a table of items stands at each place, and of which type it is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.outfits.protocol import Outfit

Rows = NDArray[np.int64]
NOTHING = -1  # the row of an empty place
UNKNOWN_TYPE = 0  # of a category that training did not show


@dataclass(frozen=True)
class Padded:
    """One line per outfit; `rows` is NOTHING where an outfit is shorter than the longest."""

    rows: Rows
    types: Rows

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def there(self) -> NDArray[np.bool_]:
        return np.asarray(self.rows != NOTHING)

    def take(self, lines: Rows | slice) -> "Padded":
        """Some of the outfits, no wider than they need."""
        rows, types = self.rows[lines], self.types[lines]
        width = int((rows != NOTHING).sum(axis=1).max(initial=1))
        return Padded(rows[:, :width], types[:, :width])


def pad(outfits: Sequence[Sequence[int]], types: Rows) -> Padded:
    """Lists of item rows to arrays; `types` is the type of every item row."""
    width = max((len(outfit) for outfit in outfits), default=1)
    rows = np.full((len(outfits), max(1, width)), NOTHING, dtype=np.int64)
    for line, outfit in enumerate(outfits):
        rows[line, : len(outfit)] = outfit
    return Padded(rows, np.where(rows == NOTHING, UNKNOWN_TYPE, types[rows]))


def in_type_order(padded: Padded) -> Padded:
    """Every outfit sorted by type, items of one type by row: the one order in which an order-free model sees it."""
    last = np.iinfo(np.int64).max
    types = np.where(padded.there, padded.types, last)
    rows = np.where(padded.there, padded.rows, last)
    order = np.lexsort((rows, types), axis=1)
    return Padded(np.take_along_axis(padded.rows, order, 1), np.take_along_axis(padded.types, order, 1))


def item_keys(outfits: Sequence[Outfit]) -> dict[str, str]:
    """image -> category of every item that the outfits show."""
    return {item.image: item.category for outfit in outfits for item in outfit.items}
