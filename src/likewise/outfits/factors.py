"""Figure 3 of A100: which factors make the wrong answers of existing questions wrong, tagged by people and counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from likewise.errors import LikewiseError
from likewise.outfits.dimensions import DIMENSIONS

FACTORS: tuple[str, ...] = (*DIMENSIONS, "category", "other")


@dataclass(frozen=True)
class FactorCounts:
    """How many questions a factor was found in, and how many questions rest on one factor, two, and so on."""

    n_questions: int
    n_people: int
    questions_by_factor: dict[str, int]
    questions_by_number: dict[int, int]


def check_factors(factors: Sequence[str]) -> list[str]:
    """The factors in their own order, each once."""
    if unknown := [name for name in factors if name not in FACTORS]:
        raise LikewiseError(f"there is no factor {unknown[0]!r}: use {', '.join(FACTORS)}.")
    return [name for name in FACTORS if name in factors]


def count_factors(tags: Mapping[str, Mapping[str, Sequence[str]]]) -> FactorCounts:
    """`tags`: question -> person -> factors. A question has a factor if at least half of its people named it."""
    by_factor: Counter[str] = Counter()
    by_number: Counter[int] = Counter()
    people = set()
    for tagged in tags.values():
        people |= set(tagged)
        named = Counter(factor for factors in tagged.values() for factor in check_factors(factors))
        held = [factor for factor in FACTORS if 2 * named[factor] >= len(tagged) > 0 and named[factor]]
        by_factor.update(held)
        by_number[len(held)] += 1
    counts = {factor: by_factor[factor] for factor in FACTORS}
    return FactorCounts(len(tags), len(people), counts, dict(sorted(by_number.items())))
