"""Complete a look, change one piece, or rate it: by the rules of valid outfits, a model's score, and variety."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors
from likewise.errors import LikewiseError
from likewise.outfits.looks.scorer import LookScorer
from likewise.outfits.looks.variety import VARIETY, diversify
from likewise.outfits.looks.wardrobe import Wardrobe
from likewise.outfits.protocol import Floats
from likewise.outfits.rules import broken_rules

Indices = NDArray[np.int64]
BEAM = 8
N_COMPARED = 400
"""Other items of its category that an item is compared with; all of them where there are fewer."""
BESIDE_WORN = 400
"""Of a slot after the first, those that go best with what is worn; all of them where there are fewer."""
SHORTLIST = 100
"""Of a slot, for every look that grows but the first; all of them where there are fewer."""
MAX_WHY = 3


@dataclass(frozen=True)
class LookFilter:
    """Which items may be suggested, and how varied they are."""

    conditions: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    variety: float = VARIETY
    k: int = 10


USUAL, FEW = LookFilter(), LookFilter(k=3)


@dataclass(frozen=True)
class Suggestion:
    """An item for a slot; `fit` is the share of the slot's items that fit less well."""

    row: int
    slot: str
    fit: float


PartialLook = tuple[tuple[int, ...], tuple[Suggestion, ...]]
"""The rows of a look that grows, and what was added."""


@dataclass(frozen=True)
class CompletedLook:
    """Rows of the wardrobe: what was given, then what was added; why it is not valid, where it is not."""

    rows: tuple[int, ...]
    added: tuple[Suggestion, ...]
    score: float
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Reason:
    """What speaks against an item: a companion, or a value of a column; `share` says how much."""

    kind: str
    name: str
    share: float
    sentence: str


@dataclass(frozen=True)
class RatedItem:
    """`fit`: the share of other items of its slot that would fit less well in its place."""

    row: int
    slot: str
    fit: float
    better: tuple[Suggestion, ...] = ()
    why: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class LookRating:
    """The mean fit of the items, each item's, weakest first, and the rules that the look breaks."""

    fit: float
    items: tuple[RatedItem, ...]
    broken: tuple[str, ...]


@dataclass(frozen=True)
class LookStylist:
    """A wardrobe, a model's scores of looks from it, and vectors that say which items look alike."""

    wardrobe: Wardrobe
    scorer: LookScorer
    vectors: Vectors = field(repr=False)

    def slot_of(self, row: int) -> str:
        """One of the twenty categories, or the item's own where it is none of them."""
        return self.wardrobe.slots[row] or self.wardrobe.items[row].category

    def suggest(self, worn: Sequence[int], slot: str, limit: LookFilter = USUAL) -> list[Suggestion]:
        """Items for a slot beside what is worn, best and varied."""
        candidates = self._candidates(worn, slot, limit)
        if not len(candidates):
            return []
        return self._choose(slot, candidates, self.scorer.score_with(worn, candidates), limit)

    def _choose(
        self, slot: str, candidates: Indices, scores: Floats, limit: LookFilter, n_worse: int = 0
    ) -> list[Suggestion]:
        """The best and varied of scored candidates; `n_worse` others of the slot, not scored, count as worse."""
        fits = (_shares_below(scores) * (len(scores) - 1) + n_worse) / max(1, len(scores) - 1 + n_worse)
        chosen = diversify(scores, self.vectors[candidates], limit.k, limit.variety)
        return [Suggestion(int(candidates[place]), slot, float(fits[place])) for place in chosen.tolist()]

    def complete(
        self, worn: Sequence[int], want: Sequence[str] = (), limit: LookFilter = USUAL, n_looks: int = 5
    ) -> list[CompletedLook]:
        """Whole looks: what is wanted, or what the rules miss, filled slot by slot, the best few kept at each."""
        slots = [self.wardrobe.find_slot(word) for word in want] or self.missing_slots(worn)
        beam: list[PartialLook] = [(tuple(worn), ())]
        wide = LookFilter(limit.conditions, limit.anchors, limit.variety, max(BEAM, n_looks))
        for slot in slots:
            grown = self._grow(beam, slot, wide, worn)
            if not grown:
                raise LikewiseError(f"no item for {slot} meets the conditions: relax --where or --anchor.")
            scores = self.scorer.score([rows for rows, _ in grown])
            mean = np.array([self.vectors[[one.row for one in added]].mean(axis=0) for _, added in grown])
            beam = [grown[place] for place in diversify(scores, mean, max(BEAM, n_looks), limit.variety).tolist()]
        scores = self.scorer.score([rows for rows, _ in beam])
        looks = [
            CompletedLook(rows, added, float(score), tuple(self.broken(rows)))
            for (rows, added), score in zip(beam, scores.tolist(), strict=True)
        ]
        return looks[:n_looks]

    def _grow(
        self, beam: Sequence[PartialLook], slot: str, limit: LookFilter, worn: Sequence[int]
    ) -> list[PartialLook]:
        """Every look with each of its suggestions: the first look's of the items that go best with what is worn, those
        of the others of the items that go best with the first, or a large catalog would be scored once for each."""
        grown: list[PartialLook] = []
        shortlist: Indices | None = None
        for rows, added in beam:
            candidates = self._candidates(rows, slot, limit)
            n_all = len(candidates)
            if shortlist is not None:
                near = np.intersect1d(candidates, shortlist)
                candidates = near if len(near) >= limit.k else candidates
            elif added and worn:
                candidates = self._best_beside(worn, candidates, BESIDE_WORN)
            if not n_all:
                continue
            scores = self.scorer.score_with(rows, candidates)
            if shortlist is None:
                shortlist = candidates[np.argsort(-scores, kind="stable")[:SHORTLIST]]
            found = self._choose(slot, candidates, scores, limit, n_all - len(candidates))
            grown += [((*rows, one.row), (*added, one)) for one in found]
        return grown

    def _best_beside(self, worn: Sequence[int], candidates: Indices, n: int) -> Indices:
        if len(candidates) <= n:
            return candidates
        return candidates[np.argsort(-self.scorer.score_with(worn, candidates), kind="stable")[:n]]

    def missing_slots(self, worn: Sequence[int]) -> list[str]:
        """What a valid outfit still needs, and a bag: by the rules' groups, whatever the wardrobe has most of first."""
        have = {self.wardrobe.slots[row] for row in worn}
        missing = []
        if not have & {"dresses", "jumpsuits"}:
            if not have & {"pants", "skirts"}:
                missing.append(self._fuller(("pants", "skirts")))
            if "tops" not in have:
                missing.append("tops")
        missing += [slot for slot in ("shoes", "bags") if slot not in have]
        return [slot for slot in missing if len(self.wardrobe.candidates(slot))]

    def _fuller(self, slots: Sequence[str]) -> str:
        return max(slots, key=lambda slot: len(self.wardrobe.candidates(slot)))

    def broken(self, rows: Sequence[int]) -> list[str]:
        """The rules that a look breaks; things that no rule knows are not counted."""
        return broken_rules([self.wardrobe.slots[row] for row in rows if self.wardrobe.slots[row]])

    def rate(self, rows: Sequence[int], limit: LookFilter = FEW) -> LookRating:
        """Every item against the others of its slot in its place; the weakest first, with what would fit better."""
        if len(rows) < 2:
            raise LikewiseError("a look of one item cannot be rated: give two items or more.")
        rated = sorted((self._rate_item(rows, place) for place in range(len(rows))), key=lambda each: each.fit)
        weakest = rated[0]
        rest = [row for row in rows if row != weakest.row]
        better = [one for one in self.suggest(rest, weakest.slot, limit) if one.fit > weakest.fit]
        why = self.why(rows, weakest.row)
        told = RatedItem(weakest.row, weakest.slot, weakest.fit, tuple(better), tuple(why))
        mean = float(np.mean([each.fit for each in rated]))
        return LookRating(mean, (told, *rated[1:]), tuple(self.broken(rows)))

    def _rate_item(self, rows: Sequence[int], place: int) -> RatedItem:
        row, slot = rows[place], self.slot_of(rows[place])
        rest = [*rows[:place], *rows[place + 1 :]]
        others = self._others(row, slot, rest)
        scores = self.scorer.score_with(rest, np.append(others, row))
        return RatedItem(row, slot, _share_below(scores[:-1], scores[-1]))

    def why(self, rows: Sequence[int], row: int) -> list[Reason]:
        """What speaks against an item: companions beside which most others of its slot would fit better, and columns
        in which its value is rarer among the tenth that fits best than among all."""
        slot, rest = self.slot_of(row), [one for one in rows if one != row]
        others = self._others(row, slot, rest)
        everyone = np.append(others, row)
        found = []
        for companion in rest:
            scores = self.scorer.score_with([companion], everyone)
            share = _share_below(scores[:-1], scores[-1])
            if share < 0.5:
                name = self.wardrobe.items[companion].item
                said = f"beside {name}, {100 * (1 - share):.0f} % of other {slot} would fit better"
                found.append(Reason("item", name, share, said))
        best = everyone[np.argsort(-self.scorer.score_with(rest, everyone))[: max(5, len(everyone) // 10)]]
        found += self._column_reasons(row, everyone, best)
        return sorted(found, key=lambda reason: reason.share)[:MAX_WHY]

    def _column_reasons(self, row: int, everyone: Indices, best: Indices) -> list[Reason]:
        from likewise.outfits.looks.columns import describing_columns

        found = []
        for column in describing_columns(self.wardrobe.about):
            values = self.wardrobe.about[column]
            own = values[row]
            if own is None:
                continue
            among_all = float((values.gather(everyone) == own).mean() or 0.0)
            among_best = float((values.gather(best) == own).mean() or 0.0)
            if among_best < 0.5 * among_all:
                said = (
                    f"{column} {own}: {100 * among_best:.0f} % of those that fit best, {100 * among_all:.0f} % of all"
                )
                found.append(Reason(column, str(own), among_best / among_all, said))
        return found

    def _others(self, row: int, slot: str, rest: Sequence[int]) -> Indices:
        """Items of the slot beside this one; some, drawn evenly, where there are very many."""
        others = np.setdiff1d(self.wardrobe.candidates(slot), [row, *rest])
        if not len(others):
            name = self.wardrobe.items[row].item
            raise LikewiseError(
                f"{name} is the only item of {slot} in the catalog: there is nothing to compare it with."
            )
        return others[np.linspace(0, len(others) - 1, min(N_COMPARED, len(others))).astype(np.int64)]

    def _candidates(self, worn: Sequence[int], slot: str, limit: LookFilter) -> Indices:
        found = np.setdiff1d(self.wardrobe.candidates(slot), list(worn))
        if limit.conditions or limit.anchors:
            found = np.intersect1d(found, self.wardrobe.allowed(limit.conditions, limit.anchors, worn))
        return found


def _shares_below(scores: Floats) -> Floats:
    """Of every score the share of the others below it, ties half."""
    ordered = np.sort(scores)
    below, upto = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right") - 1
    return np.asarray((below + upto) / 2.0 / max(1, len(scores) - 1))


def _share_below(others: Floats, own: float) -> float:
    return float(((others < own).sum() + (others == own).sum() / 2.0) / len(others))
