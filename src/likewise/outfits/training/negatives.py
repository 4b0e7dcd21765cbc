"""Negatives: for every item of an outfit another one of the same type, never one of that outfit, all from training.

A negative of another type would be told apart by its type alone, and one from the outfit itself would be no negative.
Negatives at random differ in everything at once, so a model may get by with whatever is easiest to see; some are
therefore drawn among the items most like the one they replace, which differ from it in little.
"""

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.outfits.models.batch import Padded, Rows

MOST_ROUNDS = 200
MOST_NEAR, NEAR_SHARE = 24, 0.25  # so many of the items most alike, but no more than this share of a type
AT_ONCE = 1024  # rows of similarities held in memory
Features = NDArray[np.float32]


class Negatives:
    """Draws among the items of training, given by the type of each row."""

    def __init__(self, types: Rows, names: tuple[str, ...], near: Rows | None = None, near_share: float = 0.0) -> None:
        self.types = types
        self.near = near
        self.near_share = near_share
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
                return self._nearer(drawn, outfits, rng)
            drawn[worn] = self.any_of(types[worn], rng)
        raise LikewiseError("no negatives were found: some category has hardly more items than its outfits wear.")

    def _nearer(self, drawn: Rows, outfits: Padded, rng: np.random.Generator) -> Rows:
        """The first ones of the k negatives exchanged for items like the outfit's own, where these are not worn too."""
        n_near = round(self.near_share * drawn.shape[1])
        if self.near is None or not n_near:
            return drawn
        own = np.broadcast_to(outfits.rows[:, None], drawn.shape)[:, :n_near]
        like = self.near[own, rng.integers(self.near.shape[1], size=own.shape)]
        worn = (like[..., None] == outfits.rows[:, None, None, :]).any(axis=-1)
        drawn[:, :n_near] = np.where((own < 0) | (like < 0) | worn, drawn[:, :n_near], like)
        return drawn

    def any_of(self, types: Rows, rng: np.random.Generator) -> Rows:
        """A random item of each type."""
        size = self.size[types]
        place = np.floor(rng.random(types.shape) * size).astype(np.int64)
        return np.asarray(self.order[np.minimum(self.start[types] + place, len(self.order) - 1)])


def most_alike(features: Features, types: Rows, things: Rows) -> Rows:
    """(m, MOST_NEAR): for every image those of its type with the largest cosine, -1 where there are fewer.

    Other views of the same thing are left out, and so are equal features: the same thing twice is no negative.
    """
    near = np.full((len(features), MOST_NEAR), -1, dtype=np.int64)
    unit = features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
    for number in np.unique(types).tolist():
        rows = np.flatnonzero(types == number)
        most = min(MOST_NEAR, int(NEAR_SHARE * len(rows)))
        for start in range(0, len(rows), AT_ONCE):
            some = rows[start : start + AT_ONCE]
            alike = unit[some] @ unit[rows].T
            alike[(alike > 1 - 1e-5) | (things[some][:, None] == things[rows])] = -np.inf
            order = np.argsort(-alike, axis=1, kind="stable")[:, :most]
            there = np.isfinite(np.take_along_axis(alike, order, axis=1))
            near[some, :most] = np.where(there, rows[order], -1)
    return near
