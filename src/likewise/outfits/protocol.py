"""What everybody in this room agrees on: items, outfits, questions with a blank, and what a compatibility model does.

An outfit as a table has one row per item: `outfit, item, image, category, position` (from 1). A model is anything that
scores outfits, a larger score meaning that the items go together better; how it looks at pictures is its own business
(most look up the vector of `Item.image`). A question is an outfit with a blank and choices for it:

- LAT: people answered; `people` counts who chose what, and the most chosen one is the answer;
- AAT: a designer made it for one sub-dimension; `right` is the answer;
- FITB: the fill-in-the-blank questions of data sets; `right` is the item that was really there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
QuestionKind = Literal["LAT", "AAT", "FITB"]


@dataclass(frozen=True, slots=True)
class Item:
    """A thing to wear; `image` is the key of the picture that shows it."""

    item: str
    category: str
    image: str


@dataclass(frozen=True, slots=True)
class Outfit:
    """Items worn together, in the order that a model which reads them in order sees."""

    name: str
    items: tuple[Item, ...]

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class OutfitQuestion:
    """`items` are what is left of the outfit; the blank stood before `items[blank]` (zero-based)."""

    name: str
    kind: QuestionKind
    items: tuple[Item, ...]
    choices: tuple[Item, ...]
    blank: int = 0
    dimension: str | None = None
    sub_dimension: str | None = None
    right: int | None = None
    people: tuple[int, ...] = ()

    def filled(self, choice: int) -> Outfit:
        """The whole outfit with one of the choices in the blank."""
        whole = (*self.items[: self.blank], self.choices[choice], *self.items[self.blank :])
        return Outfit(f"{self.name}:{choice}", whole)

    @property
    def category(self) -> str:
        """What is asked for: the category of the choices."""
        return self.choices[0].category


@runtime_checkable
class OutfitModel(Protocol):
    """A compatibility model; `score` and `answer` never look at `right` or `people`."""

    @property
    def name(self) -> str:
        """What tables call it."""

    def score(self, outfits: Sequence[Outfit]) -> Floats:
        """One number per outfit; larger means a better match."""

    def answer(self, questions: Sequence[OutfitQuestion]) -> Floats:
        """(len(questions), most choices): a score for every choice, NaN beyond a question's last choice."""


def answer_by_score(model: "OutfitScorer", questions: Sequence[OutfitQuestion]) -> Floats:
    """Answers of a model that has no own way with questions: each choice is put in the blank and the outfit scored."""
    filled = [question.filled(choice) for question in questions for choice in range(len(question.choices))]
    scores = model.score(filled) if filled else np.zeros(0)
    return pad_scores([len(question.choices) for question in questions], scores)


def pad_scores(n_choices: Sequence[int], scores: Floats) -> Floats:
    """Scores of all choices, one question after the other, as one row per question, NaN where there is no choice."""
    table = np.full((len(n_choices), max(n_choices, default=0)), np.nan)
    table[np.arange(table.shape[1]) < np.asarray(n_choices, dtype=np.int64)[:, None]] = scores
    return table


def best_choices(answers: Floats) -> NDArray[np.bool_]:
    """Which choices a model picks: True at the best score. Several are True where it cannot tell them apart.

    A model that is blind to what differs gives all choices one score; counting its first choice would reward or punish
    it for the order of the choices, so every tied choice gets an equal share of the credit.
    """
    with np.errstate(invalid="ignore"):
        best = np.nanmax(np.where(np.isnan(answers).all(axis=1, keepdims=True), 0.0, answers), axis=1, keepdims=True)
        return np.asarray((answers >= best - 1e-9 * np.maximum(1.0, np.abs(best))) & ~np.isnan(answers))


class OutfitScorer(Protocol):
    """The half of a model that `answer_by_score` needs."""

    def score(self, outfits: Sequence[Outfit]) -> Floats:
        """One number per outfit."""
