"""Negatives: for every item of an outfit another one of the same type, never one of that outfit, all from training.

A negative of another type would be told apart by its type alone, and one from the outfit itself would be no negative.
Negatives at random differ in everything at once, so a model may get by with whatever is easiest to see; some are
therefore drawn among the items most like the one they replace, which differ from it in little.
"""

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.neighbours.index import index_top_k
from likewise.outfits.models.batch import Indices, PaddedOutfits, StoredOutfits

MAX_ROUNDS = 200
MAX_NEAR, NEAR_SHARE = 24, 0.25  # so many of the items most alike, but no more than this share of a type
BATCH_ROWS = 1024  # rows of similarities held in memory
MIN_INDEXED = 20_000  # items of a type, from which on an index finds those alike
MAX_COPIES = 8  # equal features that an index may list first
Features = NDArray[np.float32]


class NegativeSampler:
    """Draws among the items of training, given by the type of each row."""

    anchored = False

    def __init__(
        self, types: Indices, names: tuple[str, ...], near: Indices | None = None, near_share: float = 0.0
    ) -> None:
        self.types = types
        self.near = near
        self.near_share = near_share
        self.names = names
        self.order = np.argsort(types, kind="stable")
        self.size = np.bincount(types, minlength=len(names))
        self.start = np.cumsum(self.size) - self.size

    def check_outfits(self, outfits: StoredOutfits) -> None:
        """Every type must have an item that a given outfit does not wear."""
        most = np.zeros(len(self.names), dtype=np.int64)
        for block in outfits.blocks():
            for number in range(len(most)):
                of_type = ((block.types == number) & block.mask).sum(axis=1)
                most[number] = max(most[number], of_type.max(initial=0))
        for number, (name, worn) in enumerate(zip(self.names, most.tolist(), strict=True)):
            if worn and self.size[number] <= worn:
                raise LikewiseError(
                    f"training has {self.size[number]} items of the category {name!r}, and an outfit wears {worn} of "
                    "them, so there is no other to compare with: leave that category out, or bring more of its items."
                )

    def sample(self, outfits: PaddedOutfits, k: int, rng: np.random.Generator) -> Indices:
        """(n, k, L) item rows; the outfit's own row at an empty place (NOTHING stays NOTHING)."""
        n, length = outfits.indices.shape
        types = np.broadcast_to(outfits.types[:, None], (n, k, length))
        mask = np.broadcast_to(outfits.mask[:, None], (n, k, length))
        drawn = np.where(mask, self.sample_of_type(types, rng), -1)
        for _ in range(MAX_ROUNDS):
            worn = mask & (drawn[..., None] == outfits.indices[:, None, None, :]).any(axis=-1)
            if not worn.any():
                return self._replace_with_near(drawn, outfits, rng)
            drawn[worn] = self.sample_of_type(types[worn], rng)
        raise LikewiseError("no negatives were found: some category has hardly more items than its outfits wear.")

    def _replace_with_near(self, drawn: Indices, outfits: PaddedOutfits, rng: np.random.Generator) -> Indices:
        """The first ones of the k negatives exchanged for items like the outfit's own, where these are not worn too."""
        n_near = round(self.near_share * drawn.shape[1])
        if self.near is None or not n_near:
            return drawn
        own = np.broadcast_to(outfits.indices[:, None], drawn.shape)[:, :n_near]
        like = self.near[own, rng.integers(self.near.shape[1], size=own.shape)]
        worn = (like[..., None] == outfits.indices[:, None, None, :]).any(axis=-1)
        drawn[:, :n_near] = np.where((own < 0) | (like < 0) | worn, drawn[:, :n_near], like)
        return drawn

    def sample_of_type(self, types: Indices, rng: np.random.Generator) -> Indices:
        """A random item of each type."""
        size = self.size[types]
        place = np.floor(rng.random(types.shape) * size).astype(np.int64)
        return np.asarray(self.order[np.minimum(self.start[types] + place, len(self.order) - 1)])


def nearest_of_type(features: Features, types: Indices, item_ids: Indices) -> Indices:
    """(m, MAX_NEAR): for every image those of its type with the largest cosine, -1 where there are fewer.

    Other views of the same thing are left out, and so are equal features: the same thing twice is no negative. Of large
    types an index finds nearly all of them.
    """
    near = np.full((len(features), MAX_NEAR), -1, dtype=np.int64)
    unit = features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
    for number in np.unique(types).tolist():
        rows = np.flatnonzero(types == number)
        most = min(MAX_NEAR, int(NEAR_SHARE * len(rows)))
        if len(rows) >= MIN_INDEXED:
            near[rows] = _indexed(unit[rows], rows, item_ids[rows])
            continue
        for start in range(0, len(rows), BATCH_ROWS):
            some = rows[start : start + BATCH_ROWS]
            similarity = unit[some] @ unit[rows].T
            similarity[(similarity > 1 - 1e-5) | (item_ids[some][:, None] == item_ids[rows])] = -np.inf
            first = min(most + MAX_COPIES, len(rows) - 1)  # a few more: equal ones are listed in their order
            order = np.sort(np.argpartition(-similarity, first, axis=1)[:, : first + 1], axis=1)
            best = np.argsort(-np.take_along_axis(similarity, order, axis=1), axis=1, kind="stable")[:, :most]
            order = np.take_along_axis(order, best, axis=1)
            mask = np.isfinite(np.take_along_axis(similarity, order, axis=1))
            near[some, :most] = np.where(mask, rows[order], -1)
    return near


def _indexed(unit: Features, rows: Indices, item_ids: Indices) -> Indices:
    """The same for one large type, through an index."""
    listed, _ = index_top_k(unit, unit, MAX_NEAR + MAX_COPIES, "ivf", query_groups=item_ids, gallery_groups=item_ids)
    wanted = (listed.indices >= 0) & (listed.scores <= 1 - 1e-5)
    first = np.argsort(~wanted, axis=1, kind="stable")[:, :MAX_NEAR]
    found = np.where(wanted, rows[listed.indices], -1)
    return np.take_along_axis(found, first, axis=1)
