"""The pairs that a round may draw, in a catalog that lives: those an update brought into play, or those of before.

Every image has a bit for each version of the catalog that the pool was made for or grown to, and in which it was there
(64 bits to a column). A pair was in play from the first version on that has both of its images.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.discovery.designs.drawing import Ints, UnlistedPairs

Masks = NDArray[np.uint64]


@dataclass(frozen=True)
class PairFrame:
    """Pairs of queries and units whose images share a version (`shared`), or share none."""

    of_query: Masks
    of_unit: Masks
    shared: bool

    def holds(self, query: Ints, unit: Ints) -> NDArray[np.bool_]:
        return np.asarray((self.of_query[query] & self.of_unit[unit]).any(axis=1) == self.shared)

    def units(self, query: int) -> NDArray[np.bool_]:
        """Which units the frame holds for a query."""
        return np.asarray((self.of_query[query] & self.of_unit).any(axis=1) == self.shared)

    def first_version(self) -> "PairFrame":
        """The pairs that were there from the beginning."""
        first = np.zeros(self.of_unit.shape[1], dtype=np.uint64)
        first[0] = 1
        return PairFrame(self.of_query & first, self.of_unit & first, shared=True)


@dataclass(frozen=True)
class UnlistedInFrame(UnlistedPairs):
    """Admissible pairs of a frame that a design does not list."""

    frame: PairFrame

    def free(self, query: int) -> NDArray[np.bool_]:
        first, last = np.searchsorted(self.listed_query, [query, query + 1])
        free = (self.gallery_items != self.query_items[query]) & self.frame.units(query)
        free[self.listed_candidate[first:last]] = False
        return np.asarray(free)

    def sizes(self) -> Ints:
        return np.array([int(self.free(row).sum()) for row in range(len(self.query_items))], dtype=np.int64)

    def pick(self, query: int, n_pairs: int, rng: np.random.Generator) -> Ints:
        return rng.choice(np.flatnonzero(self.free(query)), n_pairs, replace=False)
