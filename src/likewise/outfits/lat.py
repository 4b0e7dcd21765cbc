"""The decisions of the Liberalism Aesthetic Test, one function per step (A100, sec. 3.2), wherever answers come from.

Answers are a table `question, person, value` (rounds add `round`): keep or delete, a rating from 1 to 10, or the number
of the chosen choice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.outfits.protocol import Item, Outfit, OutfitQuestion
from likewise.outfits.rules import GROUP_OF, GROUPS

N_DISTRACTORS = 4
QUOTAS: dict[str, int] = {
    "top": 1,
    "bottom": 2,
    "one-piece": 1,
    "outwear": 2,
    "shoes": 2,
    "bags": 1,
    "accessories": 1,
}
"""Ours: the paper prints six numbers (1:2:1:2:2:1) for seven groups."""


def kept_outfits(answers: pl.DataFrame) -> list[str]:
    """The outfits that more people kept than deleted, by name."""
    votes = answers.group_by("question").agg((pl.col("value") == "keep").mean().alias("share"))
    return votes.filter(pl.col("share") > 0.5)["question"].sort().to_list()


def top_rated(answers: pl.DataFrame, n: int) -> pl.DataFrame:
    """The `n` best rated: `question, rating, centred, n_people`.

    A rating counts by how far it lies above its author's own mean, so a share dealt to a strict person loses nothing.
    """
    numbers = answers.with_columns(pl.col("value").cast(pl.Float64))
    centred = numbers.with_columns((pl.col("value") - pl.col("value").mean().over("person")).alias("centred"))
    rated = centred.group_by("question").agg(
        pl.col("value").mean().alias("rating"), pl.col("centred").mean(), pl.len().alias("n_people")
    )
    return rated.sort(["centred", "rating", "question"], descending=[True, True, False]).head(n)


def make_questions(
    outfits: Sequence[Outfit],
    items: pl.DataFrame,
    *,
    seed: int = 0,
    n_distractors: int = N_DISTRACTORS,
    quotas: Mapping[str, int] | None = None,
) -> list[OutfitQuestion]:
    """Blank one item of each outfit and offer it among others of its category; `right` is the item itself.

    The blank is the item whose group is furthest behind its quota so far, by chance among equals: a group that few
    good outfits wear (outwear) would otherwise be asked for too rarely to fill its part of the final test. An outfit
    whose every category has too few other items gives no question.
    """
    rng = np.random.default_rng(seed)
    weights = _checked_quotas(quotas)
    by_category: dict[str, list[Item]] = {}
    for name, image, category in items.select("item", "image", "category").sort("item").iter_rows():
        by_category.setdefault(category, []).append(Item(name, category, image))
    asked = dict.fromkeys(GROUPS, 0)
    made = []
    for outfit in outfits:
        worn = {item.item for item in outfit.items}
        for blank in _blanks(outfit, asked, weights, rng):
            answer = outfit.items[blank]
            others = [item for item in by_category.get(answer.category, []) if item.item not in worn]
            if len(others) < n_distractors:
                continue
            wrong = [others[place] for place in rng.choice(len(others), n_distractors, replace=False).tolist()]
            order = rng.permutation(n_distractors + 1).tolist()
            choices = tuple([answer, *wrong][place] for place in order)
            rest = (*outfit.items[:blank], *outfit.items[blank + 1 :])
            made.append(OutfitQuestion(outfit.name, "LAT", rest, choices, blank, right=order.index(0)))
            asked[GROUP_OF[answer.category]] += 1
            break
    return made


def _blanks(outfit: Outfit, asked: Mapping[str, int], quotas: Mapping[str, int], rng: np.random.Generator) -> list[int]:
    """The places of an outfit, those of the groups furthest behind their quota first."""

    def served(place: int) -> float:
        group = GROUP_OF[outfit.items[place].category]
        return asked[group] / quotas[group] if quotas.get(group) else float("inf")

    return sorted(rng.permutation(len(outfit.items)).tolist(), key=served)


def _checked_quotas(quotas: Mapping[str, int] | None) -> dict[str, int]:
    weights = dict(quotas or QUOTAS)
    if unknown := sorted(set(weights) - set(GROUPS)):
        raise LikewiseError(f"there is no group {unknown[0]!r}: quotas are for {', '.join(GROUPS)}.")
    if min(weights.values()) < 0 or not sum(weights.values()):
        raise LikewiseError("quotas are 0 or more, and not all 0.")
    return weights


def replace_choice(question: OutfitQuestion, old: str, new: Item) -> OutfitQuestion:
    """The question with one distractor changed by hand; the answer and the outfit stay as they are."""
    places = [place for place, item in enumerate(question.choices) if item.item == old]
    if not places:
        raise LikewiseError(f"question {question.name} has no choice {old}.")
    if places[0] == question.right:
        raise LikewiseError(f"{old} is the answer of question {question.name}: only the other choices can be replaced.")
    if new.category != question.category:
        raise LikewiseError(f"{new.item} is of {new.category}; the choices of {question.name} are {question.category}.")
    if new.item in {item.item for item in (*question.items, *question.choices)}:
        raise LikewiseError(f"{new.item} is already part of question {question.name}.")
    choices = list(question.choices)
    choices[places[0]] = new
    return replace(question, choices=tuple(choices))


def rank_by_consistency(answers: pl.DataFrame) -> pl.DataFrame:
    """Questions by how much people agree: `question, value` (the most chosen), `share, n_answers`, best first."""
    counts = answers.group_by("question", "value").len().with_columns(pl.col("len").sum().over("question").alias("n"))
    top = (
        counts.sort(["question", "len", "value"], descending=[False, True, False])
        .group_by("question", maintain_order=True)
        .agg(pl.col("value").first(), (pl.col("len").first() / pl.col("n").first()).alias("share"), pl.col("n").first())
        .rename({"n": "n_answers"})
    )
    return top.sort(["share", "n_answers", "question"], descending=[True, True, False])


def fully_consistent(answers: pl.DataFrame) -> pl.DataFrame:
    """The questions to which every person gave one and the same answer in every round: `question, value, n_answers`."""
    same = answers.group_by("question").agg(
        pl.col("value").n_unique().alias("different"), pl.col("value").first(), pl.len().alias("n_answers")
    )
    return same.filter(pl.col("different") == 1).drop("different").sort("question")


@dataclass(frozen=True)
class BalancedQuestions:
    """The chosen questions, how many each group was to have, has, and lacks."""

    questions: list[OutfitQuestion]
    quotas: dict[str, int]
    chosen: dict[str, int]

    @property
    def shortfalls(self) -> dict[str, int]:
        lacking = {group: self.quotas[group] - n for group, n in self.chosen.items()}
        return {group: n for group, n in lacking.items() if n > 0}


def balance_questions(
    questions: Sequence[OutfitQuestion], n: int, quotas: Mapping[str, int] | None = None
) -> BalancedQuestions:
    """`n` questions, best first as given, in the proportions of `quotas` per group of the blank's category.

    A group that has too few leaves its places to the best of the rest, and is reported.
    """
    wanted = _shares(n, _checked_quotas(quotas))
    picked: list[int] = []
    counts = dict.fromkeys(wanted, 0)
    for place, question in enumerate(questions):
        group = GROUP_OF.get(question.category, "")
        if counts.get(group, 0) < wanted.get(group, 0):
            counts[group] += 1
            picked.append(place)
    spare = [place for place in range(len(questions)) if place not in set(picked)]
    picked = sorted([*picked, *spare[: max(0, n - len(picked))]])
    return BalancedQuestions([questions[place] for place in picked], wanted, counts)


def _shares(n: int, weights: Mapping[str, int]) -> dict[str, int]:
    exact = {group: n * weight / sum(weights.values()) for group, weight in weights.items()}
    counts = {group: int(value) for group, value in exact.items()}
    for group in sorted(exact, key=lambda group: counts[group] - exact[group])[: n - sum(counts.values())]:
        counts[group] += 1
    return counts


def add_people_counts(questions: Sequence[OutfitQuestion], answers: pl.DataFrame) -> list[OutfitQuestion]:
    """The questions with how many people chose what; one person counts once per question (their last answer)."""
    once = answers.unique(["question", "person"], keep="last", maintain_order=True)
    counts = {(name, value): n for name, value, n in once.group_by("question", "value").len().iter_rows()}
    return [
        replace(question, people=tuple(counts.get((question.name, str(k)), 0) for k in range(len(question.choices))))
        for question in questions
    ]
