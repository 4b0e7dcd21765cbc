"""New four-task benchmarks from facts: one right answer, two kinds of distractors per task, balanced conditions.

A candidate is right when it is like the reference *and* meets the condition.  Half of the distractors are like the
reference but surely do not meet the condition, the other half meet it but are surely unlike: neither the picture nor
the text alone tells the answer, and what is not known about a picture is never counted on.  Of the first half those
come first that share as much with the reference as the target does (rivals): a target that is simply nearest would be
found without its condition.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.conditional.protocol import TASKS, TEMPLATE_SCHEMA
from likewise.conditional.templates.facts import Bools, Facts, Ints
from likewise.conditional.templates.matching import NO, YES, AttributeMatching, ObjectMatching, Verdicts, matching_of
from likewise.errors import LikewiseError

SIZES = {"focus_attribute": 10, "change_attribute": 15, "focus_object": 15, "change_object": 15}
"""Candidates of a template, the target included, as in GeneCIS."""
BUILT_SCHEMA = TEMPLATE_SCHEMA | {
    "kinds": pl.List(pl.String),
    "attribute": pl.String(),
    "value": pl.String(),
}
"""`kinds`: the kind of each distractor; `attribute` and `value`: what the right answer must have."""
LEAST_OF_A_KIND = 2
TRIES = 40
REFERENCES = 8
"""So many are drawn for a target, and the one that shares least with it is used."""
Told = Callable[[str, int, int], None] | None


def build_templates(
    facts: Facts,
    *,
    tasks: Sequence[str] = TASKS,
    per_task: int = 500,
    sizes: dict[str, int] | None = None,
    seed: int = 0,
    on_progress: Told = None,
) -> pl.DataFrame:
    """Templates of every task the facts allow, at most `per_task` each; fewer where the pictures give no more."""
    for task in tasks:
        if task not in TASKS:
            raise LikewiseError(f"there is no task {task!r}: choose among {', '.join(TASKS)}.")
    rows: list[tuple[object, ...]] = []
    for task in tasks:
        size = (sizes or SIZES)[task]
        builder = _Builder(facts, task, size, np.random.default_rng([seed, TASKS.index(task)]))
        for number, row in enumerate(builder.templates(per_task)):
            rows.append((number, task, *row))
            if on_progress and number % 16 == 0:
                on_progress(task.replace("_", " "), number, per_task)
    return pl.DataFrame(rows, schema=BUILT_SCHEMA, orient="row")


@dataclass
class _Builder:
    """One task while it is being built."""

    facts: Facts
    task: str
    size: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.focus = self.task.startswith("focus")
        self.matching: AttributeMatching | ObjectMatching = matching_of(self.task, self.facts)
        self.asked: set[tuple[int, int]] = set()
        self.rivals = True

    def templates(self, wanted: int) -> Iterator[tuple[object, ...]]:
        """Templates with rivals; without them only where the facts give none (one kind of attribute, for instance)."""
        yield from self.in_turn(wanted)
        if not self.asked:
            self.rivals = False
            yield from self.in_turn(wanted)

    def in_turn(self, wanted: int) -> Iterator[tuple[object, ...]]:
        """One of each condition text in turn, until there are enough or none gives another one."""
        groups = self.conditions()
        made = 0
        while groups and made < wanted:
            for text in list(groups)[: wanted - made]:
                row = self.draw_one_of(groups[text])
                if row is None:
                    del groups[text]
                else:
                    made += 1
                    yield row

    def conditions(self) -> dict[str, deque[int]]:
        """What a question can say, in random order, and the conditions that are meant by it."""
        groups: dict[str, deque[int]] = {}
        for condition in self.rng.permutation(self.matching.n_conditions).tolist():
            if self.matching.kind(condition) or not self.focus:
                groups.setdefault(self.matching.phrase(condition, focus=self.focus), deque()).append(condition)
        return groups

    def draw_one_of(self, conditions: deque[int]) -> tuple[object, ...] | None:
        """A template with the next condition that gives one; it goes to the end of the queue, barren ones go away."""
        while conditions:
            condition = conditions.popleft()
            row = self.draw(condition)
            if row is not None:
                conditions.append(condition)
                return row
        return None

    def draw(self, condition: int) -> tuple[object, ...] | None:
        """A template with this condition, or None after a bounded number of targets that gave none."""
        meets = self.matching.meets(condition)
        usable = np.zeros(len(meets), bool)
        usable[self.matching.usable(condition)] = True
        targets = np.flatnonzero((meets == YES) & usable)
        possible = (meets == (YES if self.focus else NO)) & usable
        for target in self.rng.choice(targets, min(TRIES, len(targets)), replace=False).tolist():
            # likeness is mutual: the pictures like the target are those it is like
            references = np.flatnonzero(possible & (self.matching.like(target, condition) == YES) & self.others(target))
            references = np.array([row for row in references.tolist() if (row, condition) not in self.asked], np.int64)
            if not len(references):
                continue
            reference = self.least_alike(references, target)
            drawn = self.distractors(reference, condition, target, meets)
            if drawn is not None:
                return self.row(reference, condition, target, *drawn)
        return None

    def least_alike(self, references: Ints, target: int) -> int:
        """Of a few references the one that shares least with the target: its likeness should not be all there is."""
        few = self.rng.choice(references, min(REFERENCES, len(references)), replace=False)
        return int(few[self.matching.shared(target)[few].argmin()])

    @property
    def items_apart(self) -> bool:
        """Whether all pictures of a template must show different items."""
        return isinstance(self.matching, ObjectMatching) or not self.facts.same_item_allowed

    def others(self, picture: int) -> Bools:
        """Pictures that may stand in a template beside this one."""
        if self.items_apart:
            return np.asarray(self.facts.items != self.facts.items[picture], bool)
        return np.asarray(np.arange(len(self.facts.images)) != picture, bool)

    def distractors(
        self, reference: int, condition: int, target: int, meets: Verdicts
    ) -> tuple[Ints, list[str]] | None:
        """Half of each kind, one picture per item, a rival among them; where one kind is short the other fills up."""
        like, allowed = self.matching.like(reference, condition), self.others(reference) & self.others(target)
        wanted = self.size - 1
        shared = self.matching.shared(reference)
        nearness = np.minimum(shared, shared[target])  # rivals are all alike, the others by what they share
        first = self.one_per_item(np.flatnonzero((like == YES) & (meets == NO) & allowed), set(), nearness)
        taken = set(self.facts.items[first].tolist())
        second = self.one_per_item(np.flatnonzero((like == NO) & (meets == YES) & allowed), taken)
        n_second = min(len(second), max(wanted // 2, wanted - len(first)))
        first, second = first[: wanted - n_second], second[:n_second]
        if len(first) + len(second) < wanted or min(len(first), len(second)) < LEAST_OF_A_KIND:
            return None
        if self.rivals and shared[first].max() < shared[target]:
            return None
        kinds = [self.matching.names[0]] * len(first) + [self.matching.names[1]] * len(second)
        order = self.rng.permutation(wanted)
        return np.concatenate([first, second])[order], [kinds[place] for place in order]

    def one_per_item(self, pictures: Ints, taken: set[int], nearness: Ints | None = None) -> Ints:
        """At most a gallery of pictures, the nearest first and equal ones by lot, each of another item not taken."""
        shuffled = self.rng.permutation(pictures)
        if nearness is not None:
            shuffled = shuffled[np.argsort(-nearness[shuffled], kind="stable")]
        if not self.items_apart:
            return shuffled[: self.size]
        _, first = np.unique(self.facts.items[shuffled], return_index=True)
        kept = [place for place in sorted(first) if int(self.facts.items[shuffled[place]]) not in taken]
        return shuffled[kept[: self.size]]

    def row(self, reference: int, condition: int, target: int, gallery: Ints, kinds: list[str]) -> tuple[object, ...]:
        self.asked.add((reference, condition))
        images = self.facts.images
        return (
            self.matching.phrase(condition, focus=self.focus),
            images[reference],
            images[target],
            [images[picture] for picture in gallery],
            kinds,
            self.matching.kind(condition),
            self.matching.value(condition),
        )
