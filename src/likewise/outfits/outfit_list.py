"""Very many outfits in little memory: a list of outfits whose objects are made only while they are looked at."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.outfits.protocol import Item, Outfit

BLOCK = 8192  # outfits that are objects at one time
Places = Sequence[int] | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OutfitList(Sequence[Outfit]):
    """A sequence like any other; an outfit costs its name and four bytes per item."""

    names: pl.Series
    items: tuple[Item, ...]
    """All different ones."""
    numbers: NDArray[np.int32]
    """Which of the items every outfit wears, one outfit after the other."""
    starts: NDArray[np.int64]
    """Where each outfit begins in `numbers`, and the end of the last."""

    @classmethod
    def from_outfits(cls, outfits: Sequence[Outfit]) -> "OutfitList":
        """The same outfits; a list of this kind is itself."""
        if isinstance(outfits, OutfitList):
            return outfits
        number: dict[Item, int] = {}
        worn = (number.setdefault(item, len(number)) for outfit in outfits for item in outfit.items)
        numbers = np.fromiter(worn, dtype=np.int32)
        length = np.fromiter((len(outfit) for outfit in outfits), dtype=np.int64, count=len(outfits))
        names = pl.Series([outfit.name for outfit in outfits], dtype=pl.String)
        return cls(names, tuple(number), numbers, np.concatenate([[0], np.cumsum(length)]))

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, place: int) -> Outfit: ...

    @overload
    def __getitem__(self, place: slice) -> "OutfitList": ...

    def __getitem__(self, place: int | slice) -> "Outfit | OutfitList":
        if isinstance(place, slice):
            return self.select(np.arange(len(self))[place])
        name, line = self.names[place], place + len(self) * (place < 0)
        worn = self.numbers[self.starts[line] : self.starts[line + 1]].tolist()
        return Outfit(name, tuple(self.items[number] for number in worn))

    def __iter__(self) -> Iterator[Outfit]:
        for first in range(0, len(self), BLOCK):
            starts = self.starts[first : first + BLOCK + 1]
            worn = [self.items[number] for number in self.numbers[starts[0] : starts[-1]].tolist()]
            places = (starts - starts[0]).tolist()
            for name, start, end in zip(self.names[first : first + BLOCK], places, places[1:], strict=False):
                yield Outfit(name, tuple(worn[start:end]))

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def select(self, places: Places) -> "OutfitList":
        """Some of the outfits, in the order of `places`."""
        lines = np.asarray(places, dtype=np.int64)
        length = self.lengths[lines]
        starts = np.concatenate([[0], np.cumsum(length)])
        taken = np.arange(starts[-1]) + np.repeat(self.starts[lines] - starts[:-1], length)
        return OutfitList(self.names.gather(lines), self.items, self.numbers[taken], starts)

    def holding(self, items: Collection[Item]) -> NDArray[np.bool_]:
        """Of every outfit, whether it wears one of them."""
        wanted = set(items)
        return self.any_worn(np.array([item in wanted for item in self.items], dtype=np.bool_))

    def any_worn(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Of every outfit, whether the flag of one of its items is set."""
        sums = np.concatenate([[0], np.cumsum(flags[self.numbers], dtype=np.int64)])
        return np.asarray(sums[self.starts[1:]] > sums[self.starts[:-1]])

    def worn(self) -> list[Item]:
        """The different items that the outfits wear."""
        return [self.items[number] for number in np.unique(self.numbers).tolist()]


def worn_items(*lists: Sequence[Outfit]) -> list[Item]:
    """The different items of some outfits."""
    return list(dict.fromkeys(chain.from_iterable(OutfitList.from_outfits(outfits).worn() for outfits in lists)))
