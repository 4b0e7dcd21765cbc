"""Writing an AAT: drafts of designers, what the editor refuses, the vote, and the choice by quota (A100, sec. 3.3).

Every question tests one sub-dimension: its choices are of one category and differ in nothing but the dimension. Where
the catalog knows the items' attributes this is checked; where not, the designer has to say so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from likewise.errors import LikewiseError
from likewise.outfits.dimensions import AAT_PLAN, check_dimension
from likewise.outfits.protocol import Item, OutfitQuestion
from likewise.outfits.rules import CATEGORY_INDEX, broken_rules

N_CHOICES = 5
ATTRIBUTES_OF_DIMENSION: dict[str, tuple[str, ...]] = {
    "color": ("colour", "color", "second_colour", "baseColour", "colour_name", "color_name"),
    "style": ("style",),
    "occasion": ("occasion", "usage"),
    "season": ("season",),
    "material": ("material", "pattern", "fabric"),
    "balance": ("silhouette", "length", "sleeve", "neckline"),
}
DIMENSION_ATTRIBUTES = frozenset(name for names in ATTRIBUTES_OF_DIMENSION.values() for name in names)
ItemAttributes = Mapping[str, Mapping[str, str | None]]


@dataclass(frozen=True)
class QuestionDraft:
    """A question as a designer proposes it; `choices[0]` is the right one."""

    name: str
    author: str
    dimension: str
    sub_dimension: str
    worn: tuple[str, ...]
    choices: tuple[str, ...]
    only_this_differs: bool = False
    idea: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def parse_question_draft(body: Mapping[str, Any]) -> QuestionDraft:
    return QuestionDraft(**{**body, "worn": tuple(body["worn"]), "choices": tuple(body["choices"])})


def check_draft(draft: QuestionDraft, items: Mapping[str, Item], attributes: ItemAttributes) -> None:
    """Refuse a draft with one sentence, or let it pass."""
    check_dimension(draft.dimension, draft.sub_dimension)
    if absent := [name for name in (*draft.worn, *draft.choices) if name not in items]:
        raise LikewiseError(f"there is no item {absent[0]} in the catalog.")
    if len(draft.choices) != N_CHOICES:
        raise LikewiseError(
            f"a question has {N_CHOICES} choices, one right and {N_CHOICES - 1} wrong, not {len(draft.choices)} in all."
        )
    if len(set(draft.choices)) < len(draft.choices) or set(draft.choices) & set(draft.worn):
        raise LikewiseError("every choice must be another item, and none of them worn already: one answer is right.")
    categories = {items[name].category for name in draft.choices}
    if len(categories) > 1:
        raise LikewiseError(f"the choices are of different categories ({', '.join(sorted(categories))}).")
    worn = [items[name].category for name in (*draft.worn, draft.choices[0])]
    if reasons := broken_rules(worn):
        raise LikewiseError(f"this is no valid outfit: {reasons[0]}.")
    _check_one_dimension(draft, attributes)


def _check_one_dimension(draft: QuestionDraft, attributes: ItemAttributes) -> None:
    allowed = set(ATTRIBUTES_OF_DIMENSION[draft.dimension])
    known = [attributes.get(name) for name in draft.choices]
    if any(not each for each in known):
        if not draft.only_this_differs:
            raise LikewiseError(
                f"confirm that the choices differ in {draft.dimension} only: the catalog does not know attributes."
            )
        return
    names = sorted({name for each in known if each for name in each})
    differing = [name for name in names if len({each.get(name) for each in known if each}) > 1]
    if others := [name for name in differing if name in DIMENSION_ATTRIBUTES - allowed]:
        raise LikewiseError(f"the choices also differ in {others[0]}: nothing but {draft.dimension} may differ.")
    mine = [name for name in differing if name in allowed]
    unknown = [name for name in differing if name not in DIMENSION_ATTRIBUTES]  # a brand, a year: who knows
    if not draft.only_this_differs and (unknown or not mine):
        said = f"also differ in {unknown[0]}" if unknown else f"do not differ in {draft.dimension} by the catalog"
        raise LikewiseError(f"the choices {said}: confirm that for the eye they differ in {draft.dimension} only.")
    shown = [tuple(each.get(name) for name in mine) for each in known if each]
    if mine and shown.count(shown[0]) > 1:
        raise LikewiseError(f"another choice has the right one's {mine[0]}: only one answer may be right.")


@dataclass(frozen=True)
class SelectedDrafts:
    """The chosen drafts in the plan's order, with how many each sub-dimension still lacks."""

    drafts: list[QuestionDraft]
    votes: dict[str, tuple[int, int]]
    lacking: dict[tuple[str, str], int]


def select_drafts(
    drafts: Sequence[QuestionDraft],
    votes: Mapping[str, Mapping[str, bool]],
    plan: Mapping[str, Mapping[str, int]] = AAT_PLAN,
) -> SelectedDrafts:
    """For every sub-dimension as many drafts as planned, those with most votes for less votes against first.

    `votes`: draft -> person -> for or against. A draft that nobody voted for, or more against than for, is not chosen.
    """
    counted = {
        draft.name: (sum(ballots.values()), len(ballots) - sum(ballots.values()))
        for draft in drafts
        for ballots in [votes.get(draft.name, {})]
    }
    chosen: list[QuestionDraft] = []
    lacking = {}
    for dimension, quotas in plan.items():
        for sub, quota in quotas.items():
            mine = [d for d in drafts if (d.dimension, d.sub_dimension) == (dimension, sub)]
            good = [d for d in mine if counted[d.name][0] >= max(1, counted[d.name][1])]
            good.sort(key=lambda d: (counted[d.name][1] - counted[d.name][0], d.name))
            chosen += good[:quota]
            if len(good) < quota:
                lacking[dimension, sub] = quota - len(good)
    return SelectedDrafts(chosen, counted, lacking)


def questions_from_drafts(
    drafts: Sequence[QuestionDraft], items: Mapping[str, Item], seed: int = 0
) -> list[OutfitQuestion]:
    """Drafts as questions: choices shuffled, the blank where its category stands in the order of an outfit."""
    import numpy as np

    rng = np.random.default_rng(seed)
    made = []
    for number, draft in enumerate(drafts, 1):
        worn = sorted((items[name] for name in draft.worn), key=lambda item: CATEGORY_INDEX.get(item.category, 0))
        order = rng.permutation(len(draft.choices)).tolist()
        choices = tuple(items[draft.choices[place]] for place in order)
        blank = sum(CATEGORY_INDEX.get(item.category, 0) < CATEGORY_INDEX.get(choices[0].category, 0) for item in worn)
        name = f"AAT-{number:03d}"
        made.append(
            OutfitQuestion(
                name, "AAT", tuple(worn), choices, blank, draft.dimension, draft.sub_dimension, order.index(0)
            )
        )
    return made
