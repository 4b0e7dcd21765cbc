"""Outfits that people of the wardrobe would put together: the training data of a world whose taste is known.

Each simulated stylist starts from a random valid outfit and goes over its items some times, each time taking the
best of a rack of the same category, by their own weights of the six dimensions. What they make is good, not
perfect, and people differ: every other one loves colours and takes a bright piece over a neutral one, for black and
white go with everything and say nothing of what becomes of red beside green. With `focus` one dimension counts more,
which is how outfits for a weak dimension are made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.outfits.generate import sample_outfits
from likewise.outfits.models.batch import Indices, pad_outfits
from likewise.outfits.protocol import Item, Outfit
from likewise.outfits.training.negatives import NegativeSampler
from likewise.synthetic import (
    ATTRIBUTE_NAMES,
    DIMENSIONS,
    Taste,
    sample_taste,
)
from likewise.synthetic.codes import Codes, encode_items
from likewise.synthetic.compatibility import compatibility_of_codes
from likewise.synthetic.harmony import NEUTRALS

PEOPLE = 8
TRIES = 32
ROUNDS = 3
FOCUS_WEIGHT = 6.0
DULLNESS = 1.0  # what an outfit of neutral pieces alone costs those who love colours, in units of overall


@dataclass(frozen=True)
class Styled:
    """Outfits and, for each, who made it."""

    outfits: tuple[Outfit, ...]
    users: tuple[str, ...]


def style_outfits(
    items: pl.DataFrame,
    n_outfits: int,
    *,
    seed: int = 0,
    people: int = PEOPLE,
    tries: int = TRIES,
    rounds: int = ROUNDS,
    focus: str | None = None,
) -> Styled:
    """`n_outfits` outfits of wardrobe items (`item, image, category` and the attributes), made by `people` in turn."""
    if absent := [name for name in ("item", "image", "category", *ATTRIBUTE_NAMES) if name not in items.columns]:
        raise LikewiseError(f"only a wardrobe knows its taste: these items have no column {absent[0]!r}.")
    if focus is not None and focus not in DIMENSIONS:
        raise LikewiseError(f"there is no dimension {focus!r}: choose one of {', '.join(DIMENSIONS)}.")
    rng = np.random.default_rng([seed, 31])
    categories = tuple(sorted(items["category"].unique().to_list()))
    types = items["category"].replace_strict({name: i for i, name in enumerate(categories)}, return_dtype=pl.Int64)
    shelf = NegativeSampler(types.to_numpy(), categories)
    row = {image: place for place, image in enumerate(items["image"].to_list())}
    table = sample_outfits(items.select("item", "image", "category"), n_outfits, seed=seed).table
    drawn = table.group_by("outfit", maintain_order=True).agg("image")["image"].to_list()
    outfits = pad_outfits([[row[image] for image in images] for images in drawn], types.to_numpy()).indices
    maker = rng.permutation(n_outfits) % people
    tastes = [_taste(rng, focus) for _ in range(people)]
    outfits = _improve(Judges(items, tastes), outfits, maker, types.to_numpy(), shelf, tries, rounds, rng)
    found = [Item(*values) for values in items.select("item", "category", "image").iter_rows()]
    made = [
        Outfit(f"styled-{seed}-{number}", tuple(found[place] for place in line if place >= 0))
        for number, line in enumerate(outfits.tolist())
    ]
    return Styled(tuple(made), tuple(f"stylist-{person}" for person in maker.tolist()))


def _taste(rng: np.random.Generator, focus: str | None) -> Taste:
    """Somebody's weights; a focus counts more than all others."""
    return Taste(dict(sample_taste(rng).weights) | ({focus: FOCUS_WEIGHT} if focus else {}))


def prefers_colours(person: int) -> bool:
    return person % 2 == 1


@dataclass(frozen=True)
class Judges:
    """The people, and what they look at."""

    items: pl.DataFrame
    tastes: Sequence[Taste]

    @cached_property
    def codes(self) -> Codes:
        return encode_items(self.items)

    def rate(self, outfits: Indices, maker: Indices) -> NDArray[np.float64]:
        """Every outfit by the one who makes it; those of one length together, so that none is padded."""
        rated = np.empty(len(outfits))
        codes, neutral = self.codes, self.items["colour"].is_in(NEUTRALS).to_numpy()
        still = np.random.default_rng(0)  # a taste without noise draws nothing that counts
        length = (outfits >= 0).sum(axis=1)
        for size in np.unique(length).tolist():
            alike = np.flatnonzero(length == size)
            worn = outfits[alike][:, :size]
            scores, dull = compatibility_of_codes(codes, worn.tolist()), DULLNESS * neutral[worn].mean(axis=1)
            for person, taste in enumerate(self.tastes):
                mine = maker[alike] == person
                rated[alike[mine]] = taste.rate(scores.filter(pl.Series(mine)), still)
                if prefers_colours(person):
                    rated[alike[mine]] -= dull[mine]
        return rated


def _improve(
    judges: Judges,
    outfits: Indices,
    maker: Indices,
    types: Indices,
    shelf: NegativeSampler,
    tries: int,
    rounds: int,
    rng: np.random.Generator,
) -> Indices:
    """Place by place, the best of `tries` others and what is there; in a new order every round."""
    outfits = outfits.copy()
    best = judges.rate(outfits, maker)
    for _ in range(rounds):
        for place in rng.permutation(outfits.shape[1]).tolist():
            lines = np.flatnonzero(outfits[:, place] >= 0)
            if not len(lines):
                continue
            tried = np.repeat(outfits[lines][None], tries, axis=0)
            tried[:, :, place] = shelf.sample_of_type(types[tried[:, :, place]], rng)
            flat = tried.reshape(-1, tried.shape[2])
            scores = judges.rate(flat, np.tile(maker[lines], tries)).reshape(tries, len(lines))
            better = scores.max(axis=0) > best[lines]
            winner = tried[scores.argmax(axis=0), np.arange(len(lines))]
            outfits[lines[better]] = winner[better]
            best[lines[better]] = scores.max(axis=0)[better]
    return outfits
