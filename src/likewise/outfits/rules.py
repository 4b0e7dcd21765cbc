"""What a valid outfit is: twenty categories and seven rules, each with the reason it gives for a refusal.

A rule looks at how many items of each category an outfit has, one row of counts per outfit, so the same few lines judge
one outfit and a million. The section is 3.1 of A100: exactly one pair of shoes, the whole body covered, one lower half,
nothing twice, two to eight items; a top may go with a one-piece.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]

GROUPS: dict[str, tuple[str, ...]] = {
    "top": ("tops",),
    "bottom": ("skirts", "pants"),
    "outwear": ("outwear",),
    "one-piece": ("dresses", "jumpsuits"),
    "shoes": ("shoes",),
    "bags": ("bags",),
    "accessories": (
        *("earrings", "necklaces", "rings", "bracelets", "watches", "hats"),
        *("eyewear", "gloves", "legwear", "neckwear", "hair wear", "brooch"),
    ),
}
CATEGORIES: tuple[str, ...] = tuple(name for names in GROUPS.values() for name in names)
GROUP_OF: dict[str, str] = {name: group for group, names in GROUPS.items() for name in names}
CATEGORY_INDEX: dict[str, int] = {name: place for place, name in enumerate(CATEGORIES)}
MIN_ITEMS, MAX_ITEMS = 2, 8


@dataclass(frozen=True)
class Rule:
    """`holds` is True for the rows of counts that satisfy the rule; `reason` is said of those that do not."""

    name: str
    reason: str
    holds: Callable[[Counts], Mask]


def _n(counts: Counts, *names: str) -> Counts:
    """How many items of these categories or groups each outfit has."""
    categories = [category for name in names for category in GROUPS.get(name, (name,))]
    return np.asarray(counts[..., [CATEGORY_INDEX[category] for category in categories]].sum(axis=-1))


def _covered(counts: Counts) -> Mask:
    return np.asarray((_n(counts, "one-piece") > 0) | ((_n(counts, "top") > 0) & (_n(counts, "bottom") > 0)))


def _at_most_one_each(*names: str) -> Callable[[Counts], Mask]:
    places = [CATEGORY_INDEX[category] for name in names for category in GROUPS[name]]
    return lambda counts: np.asarray((counts[..., places] <= 1).all(axis=-1))


RULES: tuple[Rule, ...] = (
    Rule(
        "size",
        f"an outfit has {MIN_ITEMS} to {MAX_ITEMS} items",
        lambda c: np.asarray((c.sum(axis=-1) >= MIN_ITEMS) & (c.sum(axis=-1) <= MAX_ITEMS)),
    ),
    Rule("shoes", "an outfit has exactly one pair of shoes", lambda c: np.asarray(_n(c, "shoes") == 1)),
    Rule("covered", "the body is not covered: it takes a top with a skirt or pants, or a one-piece", _covered),
    Rule(
        "one lower half",
        "skirts, pants, dresses and jumpsuits exclude each other",
        lambda c: np.asarray(_n(c, "bottom", "one-piece") <= 1),
    ),
    Rule("one top", "at most one top and one piece of outwear", _at_most_one_each("top", "outwear")),
    Rule("one bag", "at most one bag", _at_most_one_each("bags")),
    Rule("one of each accessory", "at most one of each kind of accessory", _at_most_one_each("accessories")),
)


def count_categories(categories: Sequence[str]) -> Counts:
    """How many items of each of the twenty categories; a category that is none of them is refused."""
    if unknown := sorted({category for category in categories if category not in CATEGORY_INDEX}):
        raise LikewiseError(f"{unknown[0]!r} is none of the twenty categories ({', '.join(CATEGORIES)}).")
    return np.bincount([CATEGORY_INDEX[category] for category in categories], minlength=len(CATEGORIES)).astype(
        np.int64
    )


def broken_rules(categories: Sequence[str]) -> list[str]:
    """Why these items are no valid outfit; empty when they are one."""
    counts = count_categories(categories)
    return [rule.reason for rule in RULES if not rule.holds(counts)]


def check_rules(counts: Counts) -> dict[str, Mask]:
    """Rule by rule, which rows of counts satisfy it."""
    return {rule.name: rule.holds(counts) for rule in RULES}
