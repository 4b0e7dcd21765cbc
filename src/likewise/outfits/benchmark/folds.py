"""Item-disjoint folds: every item belongs to one fold, and an outfit counts only on the side where all its items are.

Items recur, so the outfits of a shop hang together as one component: with items dealt at random hardly an outfit would
lie within one fold. Items that are worn together are therefore brought together: each item in turn moves to the fold
that raises the sum over outfits of (share of its items in the fold)^p most, p growing from 1.5 to 6, while no fold may
hold much more than its part of what is worn. Outfits that mix folds are tested nowhere; they still teach where none of
their items is tested.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.perceptual_hash import COPY_BITS, read_hashes
from likewise.errors import LikewiseError
from likewise.neighbours.copies import connected_groups, hash_pairs
from likewise.outfits.protocol import Outfit
from likewise.workspace import WorkspaceFolder

Indices = NDArray[np.int64]
N_FOLDS, MIN_OUTFITS = 5, 10
FIRST_POWER, LAST_POWER, N_ROUNDS, N_STARTS = 1.5, 6.0, 30, 3
SLACK = 1.1  # a fold may hold this much more than its part


@dataclass(frozen=True)
class OutfitFolds:
    """The fold of every item, and the outfits that were divided."""

    outfits: tuple[Outfit, ...]
    fold_by_item: Mapping[str, int]
    n_folds: int

    @cached_property
    def _counts(self) -> Indices:
        """(outfits, folds): how many items of each outfit are in each fold."""
        return _fold_counts(
            [[self.fold_by_item[item.item] for item in one.items] for one in self.outfits], self.n_folds
        )

    def test(self, fold: int) -> list[Outfit]:
        """The outfits that lie in a fold with all their items."""
        inside = self._counts[:, fold] == self._counts.sum(axis=1)
        return [self.outfits[place] for place in np.flatnonzero(inside).tolist()]

    def train(self, fold: int) -> list[Outfit]:
        """The outfits without any item of a fold."""
        return [self.outfits[place] for place in np.flatnonzero(self._counts[:, fold] == 0).tolist()]

    @property
    def n_tested(self) -> int:
        """Outfits that lie within one fold."""
        return int((self._counts.max(axis=1) == self._counts.sum(axis=1)).sum())


def split_items(
    outfits: Sequence[Outfit], n_folds: int = N_FOLDS, *, groups: Mapping[str, str] | None = None, seed: int = 0
) -> OutfitFolds:
    """Folds of items; items of one group (copies of one picture, views of one thing) stay together."""
    if n_folds < 2 or len(outfits) < MIN_OUTFITS * n_folds:
        raise LikewiseError(
            f"{len(outfits)} outfits cannot be divided into {n_folds} folds: it takes 2 folds or more, "
            f"and {MIN_OUTFITS} outfits for each."
        )
    known = groups or {}
    names = sorted({known.get(item.item, item.item) for outfit in outfits for item in outfit.items})
    number = {name: place for place, name in enumerate(names)}
    worn = [[number[known.get(item.item, item.item)] for item in outfit.items] for outfit in outfits]
    found = [_assign(worn, len(names), n_folds, np.random.default_rng([seed, 31, k])) for k in range(N_STARTS)]
    best = max(found, key=lambda fold: _n_within(worn, fold))
    by_item = {item.item: int(best[number[known.get(item.item, item.item)]]) for one in outfits for item in one.items}
    return OutfitFolds(tuple(outfits), by_item, n_folds)


def _n_within(worn: Sequence[Sequence[int]], fold: Indices) -> int:
    return sum(len({int(fold[item]) for item in outfit}) == 1 for outfit in worn)


def _fold_counts(folds: Sequence[Sequence[int]], n_folds: int) -> Indices:
    counts = np.zeros((len(folds), n_folds), dtype=np.int64)
    for line, row in enumerate(folds):
        np.add.at(counts[line], row, 1)
    return counts


def _assign(worn: Sequence[Sequence[int]], n_items: int, n_folds: int, rng: np.random.Generator) -> Indices:
    """The fold of every item, by local moves from a random start."""
    fold = rng.integers(n_folds, size=n_items)
    lines: list[list[int]] = [[] for _ in range(n_items)]
    for line, outfit in enumerate(worn):
        for item in outfit:
            lines[item].append(line)
    length = np.array([[len(outfit)] for outfit in worn], dtype=np.float64)
    counts = _fold_counts([fold[outfit].tolist() for outfit in worn], n_folds).astype(np.float64)
    weight = np.array([len(each) for each in lines], dtype=np.float64)
    load = np.bincount(fold, weights=weight, minlength=n_folds)
    most = SLACK * weight.sum() / n_folds
    for turn in range(N_ROUNDS):
        power = FIRST_POWER + (LAST_POWER - FIRST_POWER) * min(1.0, 2.0 * turn / N_ROUNDS)
        moved = False
        for item in rng.permutation(n_items).tolist():
            own, mine = int(fold[item]), lines[item]
            others = counts[mine]
            others[:, own] -= 1.0
            gain = (((others + 1.0) / length[mine]) ** power - (others / length[mine]) ** power).sum(axis=0)
            full = load + weight[item] > most
            full[own] = False
            best = int(np.argmax(np.where(full, -np.inf, gain)))
            if gain[best] > gain[own] + 1e-12:
                counts[mine, own] -= 1.0
                counts[mine, best] += 1.0
                load[own] -= weight[item]
                load[best] += weight[item]
                fold[item], moved = best, True
        if not moved and power >= LAST_POWER:
            break
    return fold


def copy_groups(workspace: WorkspaceFolder, catalog: pl.DataFrame) -> dict[str, str]:
    """Items that look the same by their pictures (equal files, or perceptual hashes that hardly differ): one name each.

    Two outfits that share all but one item cannot be on different sides of item-disjoint folds; with this neither can
    two whose items are copies.
    """
    rows = catalog.sort("image").unique("item", keep="first", maintain_order=True)
    found = hash_pairs(read_hashes(workspace, rows), COPY_BITS)
    group = connected_groups(len(rows), found.first, found.second)
    items = rows["item"].to_list()
    return {item: items[first] for item, first in zip(items, group.tolist(), strict=True)}
