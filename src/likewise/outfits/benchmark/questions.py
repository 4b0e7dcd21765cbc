"""Questions from real outfits: every item of an outfit is blanked once, and offered among others of its category.

Distractors are drawn as often as stylists wear them. Drawn evenly, most of them would be things that are hardly ever
worn, and whoever knows what is popular would answer without looking at the outfit.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

from likewise.outfits.protocol import Item, Outfit, OutfitQuestion

N_CHOICES = 4
Kind = Callable[[Item], Hashable]
"""What the choices of a question have in common, such as the category."""


class DistractorPool:
    """The items of some outfits, by what they have in common, with how often each is worn."""

    def __init__(self, outfits: Sequence[Outfit], kind: Kind, groups: Mapping[str, str] | None = None) -> None:
        self.kind = kind
        self.groups = groups or {}
        worn = Counter(item for outfit in outfits for item in outfit.items)
        self.of_kind: dict[Hashable, list[Item]] = defaultdict(list)
        for item in sorted(worn, key=lambda item: item.image):
            self.of_kind[kind(item)].append(item)
        self.weights = {name: np.array([worn[item] for item in items], float) for name, items in self.of_kind.items()}

    def draw(self, asked: Item, worn: Sequence[Item], n: int, rng: np.random.Generator) -> list[Item]:
        """`n` different items that could stand for `asked`: none that is worn, and no copy of one; fewer if need be."""
        items = self.of_kind.get(self.kind(asked), [])
        taken = {self._name(item) for item in worn}
        weights = self.weights.get(self.kind(asked), np.zeros(0)) * [self._name(item) not in taken for item in items]
        n_possible = int((weights > 0).sum())
        if not n_possible:
            return []
        drawn = rng.choice(len(items), min(n, n_possible), replace=False, p=weights / weights.sum())
        return [items[place] for place in drawn.tolist()]

    def shelf(self, asked: Item, worn: Sequence[Item]) -> list[Item]:
        """Everything that could stand for `asked`, but what is worn and copies of it."""
        taken = {self._name(item) for item in worn}
        return [item for item in self.of_kind.get(self.kind(asked), []) if self._name(item) not in taken]

    def _name(self, item: Item) -> str:
        return self.groups.get(item.item, item.item)


def blank_questions(
    outfits: Sequence[Outfit], pool: DistractorPool, n_choices: int = N_CHOICES, *, seed: int = 0
) -> list[OutfitQuestion]:
    """Questions `OUTFIT:PLACE`, one per item for which there are enough distractors."""
    rng = np.random.default_rng([seed, 41])
    made = []
    for outfit in outfits:
        for blank, asked in enumerate(outfit.items):
            others = pool.draw(asked, outfit.items, n_choices - 1, rng)
            if len(others) < n_choices - 1:
                continue
            mixed = rng.permutation(n_choices)
            choices = tuple([asked, *others][place] for place in mixed.tolist())
            rest = outfit.items[:blank] + outfit.items[blank + 1 :]
            right = int(np.flatnonzero(mixed == 0)[0])
            made.append(OutfitQuestion(f"{outfit.name}:{blank}", "FITB", rest, choices, blank, right=right))
    return made


def replaced_outfits(outfits: Sequence[Outfit], pool: DistractorPool, *, seed: int = 0) -> list[Outfit]:
    """Each outfit with every item replaced by another of its kind; those without a substitute are left out."""
    rng = np.random.default_rng([seed, 43])
    made = []
    for outfit in outfits:
        items: list[Item] = []
        for asked in outfit.items:
            items += pool.draw(asked, (*outfit.items, *items), 1, rng)
        if len(items) == len(outfit):
            made.append(Outfit(f"{outfit.name}:replaced", tuple(items)))
    return made
