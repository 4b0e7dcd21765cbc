"""Triplets of similarity, the second kind of data of SCE-Net (A100, Tables 3 and 4): this looks more like the anchor
than that. A triplet is a pair that belongs together, with its negative given instead of drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.evaluation.screening import first_contents
from likewise.evaluation.triplet_file import ROLES, read_triplets
from likewise.lineage.digests import triplet_digest
from likewise.lineage.record import Lesson
from likewise.outfits.models.batch import Indices, PaddedOutfits
from likewise.outfits.protocol import Item, Outfit, OutfitQuestion
from likewise.outfits.training.examples import OutfitExamples, split_outfits

KIND = "sce-net"  # the model that was trained so
Triplet = tuple[Item, Item, Item]
"""Anchor, close, far."""


@dataclass(frozen=True)
class TripletExamples(OutfitExamples):
    """Pairs of anchor and close as outfits, each with what is farther."""

    far_by_pair: Mapping[tuple[str, str], tuple[str, ...]] | None = None
    """By the images of anchor and close: the images that are farther."""
    valid_triplets: tuple[Triplet, ...] = ()
    answers: frozenset[str] = frozenset()

    def lesson(self) -> Lesson:
        """What looks alike, which says nothing of what goes together."""
        learned = super().lesson()
        return replace(learned, task="triplets", examples=replace(learned.examples, answers=self.answers))

    def questions(self) -> list[OutfitQuestion]:
        """Of every triplet that training does not see: which of two belongs to the anchor?"""
        return [
            OutfitQuestion(f"triplet-{number}", "FITB", (anchor,), (close, far), 1, right=0)
            for number, (anchor, close, far) in enumerate(self.valid_triplets)
        ]


class TripletNegatives:
    """Stands in the place of `NegativeSampler`: one of the items that triplets call farther, for both places."""

    anchored = True

    def __init__(self, far_by_pair: Mapping[tuple[int, int], Indices]) -> None:
        self.far_by_pair = far_by_pair

    def sample(self, outfits: PaddedOutfits, k: int, rng: np.random.Generator) -> Indices:
        """(n, k, 2)"""
        far = [self.far_by_pair[anchor, close] for anchor, close in outfits.indices.tolist()]
        drawn = np.stack([rows[rng.integers(len(rows), size=k)] for rows in far])
        return np.repeat(drawn[..., None], 2, axis=2)


def triplet_examples(
    path: Path, order: str, catalog: pl.DataFrame, images: set[str], *, seed: int = 0
) -> TripletExamples:
    """Triplets about items or images of a catalog; those without a vector, and ties between people, are left out."""
    known = _items(catalog, images)
    content = first_contents(catalog, "image") | first_contents(catalog, "item")
    told: list[Triplet] = []
    answers = set()
    for row in read_triplets(path, order).iter_rows(named=True):
        names = [row[role] for role in ROLES]
        if row["votes_close"] == row["votes_far"] or any(name not in known for name in names):
            continue
        anchor, close, far = names if row["votes_close"] > row["votes_far"] else (names[0], names[2], names[1])
        told.append((known[anchor], known[close], known[far]))
        answers.add(triplet_digest(*(content.get(name, name) for name in names)))
    if not told:
        raise LikewiseError(f"{path}: no triplet is about items of the catalog that have vectors: check their names.")
    pairs = [Outfit(f"triplet-{number}", triplet[:2]) for number, triplet in enumerate(told)]
    train, valid = split_outfits(pairs, seed)
    far_by_pair: dict[tuple[str, str], tuple[str, ...]] = {}
    for place in train:
        anchor, close, far = (item.image for item in told[place])
        far_by_pair[anchor, close] = (*far_by_pair.get((anchor, close), ()), far)
    return TripletExamples(
        tuple(pairs[place] for place in train),
        tuple(pairs[place] for place in valid),
        extra_items=tuple(dict.fromkeys(told[place][2] for place in train)),
        far_by_pair=far_by_pair,
        valid_triplets=tuple(told[place] for place in valid),
        answers=frozenset(answers),
    )


def _items(catalog: pl.DataFrame, images: set[str]) -> dict[str, Item]:
    """By item (its first image) and by image key."""
    rows = catalog.filter(pl.col("image").is_in(sorted(images))).select("item", "category", "image")
    made = [Item(item, category or "", image) for item, category, image in rows.iter_rows()]
    return {item.item: item for item in reversed(made)} | {item.image: item for item in made}
