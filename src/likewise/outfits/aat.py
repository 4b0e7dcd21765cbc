"""Writing an AAT: drafts of designers, what the editor refuses, the vote, and the choice by quota (A100, sec. 3.3).

Every question tests one sub-dimension: its choices are of one category and differ in nothing but the dimension. Where
the catalog knows the items' attributes this is checked; where not, the designer has to say so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from likewise.errors import LikewiseError
from likewise.outfits.dimensions import PLAN, check_dimension
from likewise.outfits.protocol import Item, Question
from likewise.outfits.rules import PLACE, refusals

FEWEST_CHOICES, MOST_CHOICES = 3, 5
ATTRIBUTES_OF_DIMENSION: dict[str, tuple[str, ...]] = {
    "color": ("colour", "color", "second_colour"),
    "style": ("style",),
    "occasion": ("occasion",),
    "season": ("season",),
    "material": ("material", "pattern"),
    "balance": ("silhouette", "length", "sleeve", "neckline"),
}
Known = Mapping[str, Mapping[str, str | None]]


@dataclass(frozen=True)
class Draft:
    """A question as a designer proposes it; `choices[0]` is the right one."""

    name: str
    author: str
    dimension: str
    sub_dimension: str
    worn: tuple[str, ...]
    choices: tuple[str, ...]
    only_this_differs: bool = False
    idea: str = ""

    def body(self) -> dict[str, Any]:
        return asdict(self)


def draft_of(body: Mapping[str, Any]) -> Draft:
    return Draft(**{**body, "worn": tuple(body["worn"]), "choices": tuple(body["choices"])})


def check_draft(draft: Draft, items: Mapping[str, Item], attributes: Known) -> None:
    """Refuse a draft with one sentence, or let it pass."""
    check_dimension(draft.dimension, draft.sub_dimension)
    if absent := [name for name in (*draft.worn, *draft.choices) if name not in items]:
        raise LikewiseError(f"there is no item {absent[0]} in the catalog.")
    if not FEWEST_CHOICES <= len(draft.choices) <= MOST_CHOICES:
        raise LikewiseError(f"a question has {FEWEST_CHOICES} to {MOST_CHOICES} choices, not {len(draft.choices)}.")
    if len(set(draft.choices)) < len(draft.choices) or set(draft.choices) & set(draft.worn):
        raise LikewiseError("every choice must be another item, and none of them worn already: one answer is right.")
    categories = {items[name].category for name in draft.choices}
    if len(categories) > 1:
        raise LikewiseError(f"the choices are of different categories ({', '.join(sorted(categories))}).")
    worn = [items[name].category for name in (*draft.worn, draft.choices[0])]
    if reasons := refusals(worn):
        raise LikewiseError(f"this is no valid outfit: {reasons[0]}.")
    _check_one_dimension(draft, attributes)


def _check_one_dimension(draft: Draft, attributes: Known) -> None:
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
    if others := [name for name in differing if name not in allowed]:
        raise LikewiseError(f"the choices also differ in {others[0]}: nothing but {draft.dimension} may differ.")
    if not differing:
        raise LikewiseError(f"the choices do not differ in {draft.dimension} at all.")
    shown = [tuple(each.get(name) for name in differing) for each in known if each]
    if shown.count(shown[0]) > 1:
        raise LikewiseError(f"another choice has the right one's {differing[0]}: only one answer may be right.")


@dataclass(frozen=True)
class Selected:
    """The chosen drafts in the plan's order, with how many each sub-dimension still lacks."""

    drafts: list[Draft]
    votes: dict[str, tuple[int, int]]
    lacking: dict[tuple[str, str], int]


def select_drafts(
    drafts: Sequence[Draft],
    votes: Mapping[str, Mapping[str, bool]],
    plan: Mapping[str, Mapping[str, int]] = PLAN,
) -> Selected:
    """For every sub-dimension as many drafts as planned, those with most votes for less votes against first.

    `votes`: draft -> person -> for or against. A draft that nobody voted for, or more against than for, is not chosen.
    """
    counted = {
        draft.name: (sum(said.values()), len(said) - sum(said.values()))
        for draft in drafts
        for said in [votes.get(draft.name, {})]
    }
    chosen: list[Draft] = []
    lacking = {}
    for dimension, quotas in plan.items():
        for sub, quota in quotas.items():
            mine = [d for d in drafts if (d.dimension, d.sub_dimension) == (dimension, sub)]
            good = [d for d in mine if counted[d.name][0] >= max(1, counted[d.name][1])]
            good.sort(key=lambda d: (counted[d.name][1] - counted[d.name][0], d.name))
            chosen += good[:quota]
            if len(good) < quota:
                lacking[dimension, sub] = quota - len(good)
    return Selected(chosen, counted, lacking)


def questions_of_drafts(drafts: Sequence[Draft], items: Mapping[str, Item], seed: int = 0) -> list[Question]:
    """Drafts as questions: choices shuffled, the blank where its category stands in the order of an outfit."""
    import numpy as np

    rng = np.random.default_rng(seed)
    made = []
    for number, draft in enumerate(drafts, 1):
        worn = sorted((items[name] for name in draft.worn), key=lambda item: PLACE.get(item.category, 0))
        order = rng.permutation(len(draft.choices)).tolist()
        choices = tuple(items[draft.choices[place]] for place in order)
        blank = sum(PLACE.get(item.category, 0) < PLACE.get(choices[0].category, 0) for item in worn)
        name = f"AAT-{number:03d}"
        made.append(
            Question(name, "AAT", tuple(worn), choices, blank, draft.dimension, draft.sub_dimension, order.index(0))
        )
    return made
