"""A test of taste from real outfits: what stylists put together is right, and no crowd is needed.

LAT: one item of an outfit is left out and offered among others of its category; the stylists' choice counts as one
person's. AAT: the choices share every column that describes an item but those of one dimension (colour, fabric), so the
question tests this dimension alone. `make-test` with people stays the way to what a crowd thinks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.outfits.aat import ATTRIBUTES_OF_DIMENSION, N_CHOICES
from likewise.outfits.benchmark.questions import DistractorPool, blank_questions
from likewise.outfits.looks.columns import MAX_VALUES, describing_columns
from likewise.outfits.protocol import Item, Outfit, OutfitQuestion

WARM = frozenset({"red", "orange", "yellow", "pink", "brown", "gold", "beige"})
COOL = frozenset({"blue", "green", "purple", "turquoise", "navy", "silver"})


def stylists_lat(
    outfits: Sequence[Outfit], n: int, groups: Mapping[str, str] | None = None, seed: int = 0
) -> list[OutfitQuestion]:
    """At most `n` questions of five choices, one per outfit."""
    pool = DistractorPool(outfits, lambda item: item.category, groups)
    asked = _one_per_outfit(blank_questions(outfits, pool, N_CHOICES, seed=seed), seed)[:n]
    return [
        replace(question, name=f"LAT-{number:03d}", kind="LAT", people=_chosen(question))
        for number, question in enumerate(asked, 1)
    ]


def _chosen(question: OutfitQuestion) -> tuple[int, ...]:
    return tuple(int(place == question.right) for place in range(len(question.choices)))


def _one_per_outfit(questions: Sequence[OutfitQuestion], seed: int) -> list[OutfitQuestion]:
    """One question of every outfit, in a random order."""
    order = np.random.default_rng([seed, 53]).permutation(len(questions)).tolist()
    first = {questions[place].name.rpartition(":")[0]: questions[place] for place in reversed(order)}
    return [first[name] for name in dict.fromkeys(questions[place].name.rpartition(":")[0] for place in order)]


def stylists_aat(
    outfits: Sequence[Outfit], catalog: pl.DataFrame, n: int, groups: Mapping[str, str] | None = None, seed: int = 0
) -> list[OutfitQuestion]:
    """At most `n` questions of five choices over the dimensions that the catalog has columns of."""
    describing, every = describing_columns(catalog), describing_columns(catalog, max(MAX_VALUES, len(catalog) // 10))
    about = {row["item"]: row for row in catalog.select("item", *every).iter_rows(named=True)}
    made: dict[str, list[OutfitQuestion]] = {}
    for dimension in ("color", "material"):
        own = [name for name in describing if name in ATTRIBUTES_OF_DIMENSION[dimension]]
        if not own:
            continue
        shared = [name for name in every if name not in ATTRIBUTES_OF_DIMENSION[dimension]]
        pool = _OneDimension(outfits, about, own, shared, groups)
        asked = _one_per_outfit(blank_questions(outfits, pool, N_CHOICES, seed=seed), seed)
        made[dimension] = [
            replace(question, kind="AAT", dimension=dimension, sub_dimension=_sub(dimension, question, about, own[0]))
            for question in asked
        ]
    if not made:
        raise LikewiseError("the catalog has no column of colours or fabrics, so there is nothing to ask about alone.")
    share = -(-n // len(made))
    chosen = [question for each in made.values() for question in each[:share]][:n]
    return [replace(question, name=f"AAT-{number:03d}") for number, question in enumerate(chosen, 1)]


class _OneDimension(DistractorPool):
    """Items of one category that are equal in all columns but those of the dimension, and in those all different."""

    def __init__(
        self,
        outfits: Sequence[Outfit],
        about: Mapping[str, Mapping[str, object]],
        own: Sequence[str],
        shared: Sequence[str],
        groups: Mapping[str, str] | None,
    ) -> None:
        self.value = {name: tuple(row[column] for column in own) for name, row in about.items()}
        super().__init__(
            outfits, lambda item: (item.category, *(about[item.item][column] for column in shared)), groups
        )

    def draw(self, asked: Item, worn: Sequence[Item], n: int, rng: np.random.Generator) -> list[Item]:
        drawn: dict[object, Item] = {}
        for item in super().draw(asked, worn, len(self.of_kind[self.kind(asked)]), rng):
            if self.value[item.item][0] != self.value[asked.item][0]:
                drawn.setdefault(self.value[item.item][0], item)
        return list(drawn.values())[:n]


def _sub(dimension: str, question: OutfitQuestion, about: Mapping[str, Mapping[str, object]], column: str) -> str:
    """Which sub-dimension it is about, as far as the words of the column tell."""
    if dimension == "material":
        return "texture"
    assert question.right is not None
    own = str(about[question.choices[question.right].item][column]).lower()
    if any(str(about[item.item][column]).lower() == own for item in question.items):
        return "same color"
    return "warm tone" if own in WARM else "cool tone" if own in COOL else "contrast color"
