"""Negatives: for every item of an outfit another one of the same type, never one of that outfit, all from training.

A negative of another type would be told apart by its type alone, and one from the outfit itself would be no negative.
"""

import numpy as np

from likewise.errors import LikewiseError
from likewise.outfits.models.batch import Padded, Rows

MOST_ROUNDS = 200


class Negatives:
    """Draws among the items of training, given by the type of each row."""

    def __init__(self, types: Rows, names: tuple[str, ...]) -> None:
        self.types = types
        self.names = names
        self.order = np.argsort(types, kind="stable")
        self.size = np.bincount(types, minlength=len(names))
        self.start = np.cumsum(self.size) - self.size

    def check(self, outfits: Padded) -> None:
        """Every type must have an item that a given outfit does not wear."""
        for number, name in enumerate(self.names):
            worn = int(((outfits.types == number) & outfits.there).sum(axis=1).max(initial=0))
            if worn and self.size[number] <= worn:
                raise LikewiseError(
                    f"training has {self.size[number]} items of the category {name!r}, and an outfit wears {worn} of "
                    "them, so there is no other to compare with: leave that category out, or bring more of its items."
                )

    def draw(self, outfits: Padded, k: int, rng: np.random.Generator) -> Rows:
        """(n, k, L) item rows; the outfit's own row at an empty place (NOTHING stays NOTHING)."""
        n, length = outfits.rows.shape
        types = np.broadcast_to(outfits.types[:, None], (n, k, length))
        there = np.broadcast_to(outfits.there[:, None], (n, k, length))
        drawn = np.where(there, self.any_of(types, rng), -1)
        for _ in range(MOST_ROUNDS):
            worn = there & (drawn[..., None] == outfits.rows[:, None, None, :]).any(axis=-1)
            if not worn.any():
                return drawn
            drawn[worn] = self.any_of(types[worn], rng)
        raise LikewiseError("no negatives were found: some category has hardly more items than its outfits wear.")

    def any_of(self, types: Rows, rng: np.random.Generator) -> Rows:
        """A random item of each type."""
        size = self.size[types]
        place = np.floor(rng.random(types.shape) * size).astype(np.int64)
        return np.asarray(self.order[np.minimum(self.start[types] + place, len(self.order) - 1)])
