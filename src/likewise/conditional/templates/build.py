"""New four-task benchmarks from annotations: one right answer, two kinds of distractors per task, balanced conditions.

A candidate is right when it is like the reference *and* meets the condition.  Half of the distractors are like the
reference but surely do not meet the condition, the other half meet it but are surely unlike: neither the picture nor
the text alone tells the answer, and what is not known about a picture is never counted on.  Of the first half those
come first that share as much with the reference as the target does (hard distractors): a target that is simply
nearest would be found without its condition.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.conditional.protocol import NEGATION_TASKS, TASKS, TEMPLATE_SCHEMA
from likewise.conditional.templates.annotations import Bools, ImageAnnotations, Ints
from likewise.conditional.templates.matching import NO, YES, Matching, ObjectMatching, Verdicts, task_matching
from likewise.errors import LikewiseError
from likewise.progress import ProgressCallback

ALL_TASKS = (*TASKS, *NEGATION_TASKS)
TEMPLATE_SIZES = {"focus_attribute": 10} | dict.fromkeys(ALL_TASKS[1:], 15)
"""Candidates of a template, the target included, as in GeneCIS."""
BUILT_SCHEMA = TEMPLATE_SCHEMA | {
    "kinds": pl.List(pl.String),
    "attribute": pl.String(),
    "value": pl.String(),
}
"""`kinds`: the kind of each distractor; `attribute` and `value`: what the right answer must have."""
MIN_PER_DISTRACTOR_KIND = 2
MAX_TARGET_TRIES = 40
REFERENCES_PER_TARGET = 8
"""So many are drawn for a target, and the one that shares least with it is used."""


def build_templates(
    annotations: ImageAnnotations,
    *,
    tasks: Sequence[str] = TASKS,
    per_task: int = 500,
    sizes: dict[str, int] | None = None,
    seed: int = 0,
    on_progress: ProgressCallback | None = None,
) -> pl.DataFrame:
    """Templates of every task the annotations allow, at most `per_task` each; fewer where the pictures give no more."""
    for task in tasks:
        if task not in ALL_TASKS:
            raise LikewiseError(f"there is no task {task!r}: choose among {', '.join(ALL_TASKS)}.")
    rows: list[tuple[object, ...]] = []
    for task in tasks:
        size = (sizes or TEMPLATE_SIZES)[task]
        builder = _Builder(annotations, task, size, np.random.default_rng([seed, ALL_TASKS.index(task)]))
        for number, row in enumerate(builder.templates(per_task)):
            rows.append((number, task, *row))
            if on_progress and number % 16 == 0:
                on_progress(task.replace("_", " "), number, per_task)
    return pl.DataFrame(rows, schema=BUILT_SCHEMA, orient="row")


@dataclass
class _Builder:
    """One task while it is being built."""

    annotations: ImageAnnotations
    task: str
    size: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.focus = self.task.startswith("focus")
        self.matching: Matching = task_matching(self.task, self.annotations)
        self.used: set[tuple[int, int]] = set()
        self.hard_distractors = True

    def templates(self, wanted: int) -> Iterator[tuple[object, ...]]:
        """Templates with hard distractors; without only where the annotations give none (with one kind, say)."""
        yield from self.round_robin(wanted)
        if not self.used:
            self.hard_distractors = False
            yield from self.round_robin(wanted)

    def round_robin(self, wanted: int) -> Iterator[tuple[object, ...]]:
        """One of each condition text in turn, until there are enough or none gives another one."""
        groups = self.conditions()
        made = 0
        while groups and made < wanted:
            for text in list(groups)[: wanted - made]:
                row = self.draw_from(groups[text])
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

    def draw_from(self, conditions: deque[int]) -> tuple[object, ...] | None:
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
        meets = self.matching.satisfies(condition)
        usable = np.zeros(len(meets), bool)
        usable[self.matching.valid_references(condition)] = True
        targets = np.flatnonzero((meets == YES) & usable)
        possible = (meets == (YES if self.focus else NO)) & usable
        for target in self.rng.choice(targets, min(MAX_TARGET_TRIES, len(targets)), replace=False).tolist():
            # likeness is mutual: the pictures like the target are those it is like
            references = np.flatnonzero(
                possible & (self.matching.similar_to(target, condition) == YES) & self.allowed_beside(target)
            )
            references = np.array([row for row in references.tolist() if (row, condition) not in self.used], np.int64)
            if not len(references):
                continue
            reference = self.least_similar(references, target)
            drawn = self.distractors(reference, condition, target, meets)
            if drawn is not None:
                return self.row(reference, condition, target, *drawn)
        return None

    def least_similar(self, references: Ints, target: int) -> int:
        """Of a few references the one that shares least with the target: its likeness should not be all there is."""
        few = self.rng.choice(references, min(REFERENCES_PER_TARGET, len(references)), replace=False)
        return int(few[self.matching.n_shared(target)[few].argmin()])

    @property
    def distinct_items(self) -> bool:
        """Whether all pictures of a template must show different items."""
        return isinstance(self.matching, ObjectMatching) or not self.annotations.same_item_allowed

    def allowed_beside(self, picture: int) -> Bools:
        """Pictures that may stand in a template beside this one."""
        if self.distinct_items:
            return np.asarray(self.annotations.items != self.annotations.items[picture], bool)
        return np.asarray(np.arange(len(self.annotations.images)) != picture, bool)

    def distractors(
        self, reference: int, condition: int, target: int, meets: Verdicts
    ) -> tuple[Ints, list[str]] | None:
        """Half of each kind, one picture per item, one of them hard; where one kind is short the other fills up."""
        similar, allowed = (
            self.matching.similar_to(reference, condition),
            self.allowed_beside(reference) & self.allowed_beside(target),
        )
        wanted = self.size - 1
        shared = self.matching.n_shared(reference)
        nearness = np.minimum(shared, shared[target])
        first = self.one_per_item(np.flatnonzero((similar == YES) & (meets == NO) & allowed), set(), nearness)
        used_items = set(self.annotations.items[first].tolist())
        second = self.one_per_item(np.flatnonzero((similar == NO) & (meets == YES) & allowed), used_items)
        n_second = min(len(second), max(wanted // 2, wanted - len(first)))
        first, second = first[: wanted - n_second], second[:n_second]
        if len(first) + len(second) < wanted or min(len(first), len(second)) < MIN_PER_DISTRACTOR_KIND:
            return None
        if self.hard_distractors and shared[first].max() < shared[target]:
            return None
        kinds = [self.matching.distractor_kinds[0]] * len(first) + [self.matching.distractor_kinds[1]] * len(second)
        order = self.rng.permutation(wanted)
        return np.concatenate([first, second])[order], [kinds[place] for place in order]

    def one_per_item(self, pictures: Ints, used_items: set[int], nearness: Ints | None = None) -> Ints:
        """At most a gallery of pictures, the nearest first and equal ones by lot, each of another unused item."""
        shuffled = self.rng.permutation(pictures)
        if nearness is not None:
            shuffled = shuffled[np.argsort(-nearness[shuffled], kind="stable")]
        if not self.distinct_items:
            return shuffled[: self.size]
        _, first = np.unique(self.annotations.items[shuffled], return_index=True)
        kept = [place for place in sorted(first) if int(self.annotations.items[shuffled[place]]) not in used_items]
        return shuffled[kept[: self.size]]

    def row(self, reference: int, condition: int, target: int, gallery: Ints, kinds: list[str]) -> tuple[object, ...]:
        self.used.add((reference, condition))
        images = self.annotations.images
        return (
            self.matching.phrase(condition, focus=self.focus),
            images[reference],
            images[target],
            [images[picture] for picture in gallery],
            kinds,
            self.matching.kind(condition),
            self.matching.value(condition),
        )
