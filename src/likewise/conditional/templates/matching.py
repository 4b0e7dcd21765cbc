"""Which pictures are like a reference and which meet a condition, each with yes, no and not known.

    attribute tasks   like: the same category                          condition: has the attribute
    object tasks      like: the same scene (the other objects overlap)  condition: contains the object

Overlap of two scenes is |A ∩ B| / |A ∪ B| of their objects without the condition's; at least `SAME_SCENE` is like,
at most `OTHER_SCENE` is unlike, between them nobody decides and the picture is not used.  A negated condition ("not
striped", "without hat") is met by what surely lacks it.

How like two pictures are when nothing is asked (`n_shared`) is how many annotations they have in common; a distractor
that shares as much with the reference as the target does is a *hard distractor*: the picture alone does not decide
between the two.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.conditional.protocol import NEGATION_TASKS
from likewise.conditional.templates.annotations import ImageAnnotations, Ints, readable_kind

YES, NO, UNKNOWN = 1, 0, -1
Verdicts = NDArray[np.int8]

NOT, WITHOUT = "not", "without"
"""How negated conditions begin."""
SAME_SCENE = 0.5
OTHER_SCENE = 0.25
MIN_SCENE_OBJECTS = 2
"""Other objects a reference must have for its scene to mean something."""


class Matching(Protocol):
    """The rule of a task: the right answer is like the reference and meets the condition."""

    @property
    def distractor_kinds(self) -> tuple[str, str]:
        """In words: like the reference without the condition, and the other way round."""

    @property
    def n_conditions(self) -> int: ...

    def kind(self, condition: int) -> str:
        """What the condition belongs to, `colour` for instance; empty where nobody knows."""

    def value(self, condition: int) -> str:
        """What a candidate must have to meet the condition."""

    def phrase(self, condition: int, *, focus: bool) -> str:
        """What the question says."""

    def similar_to(self, reference: int, condition: int) -> Verdicts:
        """Of every picture: is it like the reference?"""

    def satisfies(self, condition: int) -> Verdicts:
        """Of every picture: does it meet the condition?"""

    def valid_references(self, condition: int) -> Ints:
        """Pictures that can be a reference."""

    def n_shared(self, reference: int) -> Ints:
        """Of every picture: how many annotations it has in common with the reference, the condition's among them."""


@dataclass(frozen=True)
class AttributeMatching:
    """The same category with the attribute."""

    annotations: ImageAnnotations
    negated: bool = False
    distractor_kinds = ("category, wrong attribute", "attribute, other category")

    @property
    def n_conditions(self) -> int:
        return len(self.annotations.attributes)

    def kind(self, condition: int) -> str:
        return self.annotations.attributes[condition].kind

    def value(self, condition: int) -> str:
        return self.annotations.attributes[condition].value

    def phrase(self, condition: int, *, focus: bool) -> str:
        attribute = self.annotations.attributes[condition]
        if self.negated:
            return f"{NOT} {attribute.phrase}"
        return readable_kind(attribute.kind) if focus else attribute.phrase

    def similar_to(self, reference: int, condition: int) -> Verdicts:
        category = self.annotations.categories[reference]
        verdicts = np.asarray(self.annotations.categories == category, np.int8)
        if self.annotations.possible_categories is not None:
            possible = self.annotations.possible_categories[:, category]
            verdicts = np.where((verdicts == NO) & possible, np.int8(UNKNOWN), verdicts)
        return verdicts

    def satisfies(self, condition: int) -> Verdicts:
        verdicts = np.full(len(self.annotations.images), UNKNOWN, np.int8)
        verdicts[self.annotations.lacks[:, condition]] = NO
        verdicts[self.annotations.has[:, condition]] = YES
        return _negated(verdicts) if self.negated else verdicts

    def valid_references(self, condition: int) -> Ints:
        return np.arange(len(self.annotations.images))

    def n_shared(self, reference: int) -> Ints:
        same = self.annotations.by_attribute[self.annotations.has[reference]].sum(axis=0)
        return np.asarray(same + (self.annotations.categories == self.annotations.categories[reference]), np.int64)


@dataclass(frozen=True)
class ObjectMatching:
    """The same scene with the object."""

    annotations: ImageAnnotations
    negated: bool = False
    same_scene: float = SAME_SCENE
    other_scene: float = OTHER_SCENE
    distractor_kinds = ("scene without object", "object without scene")

    @property
    def n_conditions(self) -> int:
        return len(self.annotations.objects)

    def kind(self, condition: int) -> str:
        return "object"

    def value(self, condition: int) -> str:
        return self.annotations.objects[condition]

    def phrase(self, condition: int, *, focus: bool) -> str:
        name = self.annotations.objects[condition]
        return f"{WITHOUT} {name}" if self.negated else name

    def similar_to(self, reference: int, condition: int) -> Verdicts:
        overlap = scene_overlap(self.annotations, reference, condition)
        verdicts = np.full(len(overlap), UNKNOWN, np.int8)
        verdicts[overlap <= self.other_scene] = NO
        verdicts[overlap >= self.same_scene] = YES
        return verdicts

    def satisfies(self, condition: int) -> Verdicts:
        verdicts = np.asarray(self.annotations.by_object[condition], np.int8)
        if self.annotations.uncertain is not None:
            verdicts = np.where(self.annotations.uncertain[:, condition], np.int8(UNKNOWN), verdicts)
        return _negated(verdicts) if self.negated else verdicts

    def valid_references(self, condition: int) -> Ints:
        return np.flatnonzero(self.annotations.n_objects - self.annotations.by_object[condition] >= MIN_SCENE_OBJECTS)

    def n_shared(self, reference: int) -> Ints:
        return np.asarray(self.annotations.by_object[self.annotations.contains[reference]].sum(axis=0), np.int64)


def scene_overlap(annotations: ImageAnnotations, reference: int, condition: int) -> NDArray[np.float64]:
    """|A ∩ B| / |A ∪ B| of every picture's objects with the reference's, the condition's object left out of both."""
    scene = np.flatnonzero(annotations.contains[reference])
    scene = scene[scene != condition]
    shared = annotations.by_object[scene].sum(axis=0)
    sizes = annotations.n_objects - annotations.by_object[condition]
    return np.asarray(shared / np.maximum(sizes + len(scene) - shared, 1), np.float64)


def task_matching(task: str, annotations: ImageAnnotations) -> Matching:
    """The rule of a task."""
    negated = task in NEGATION_TASKS
    rule = AttributeMatching if task.endswith("attribute") else ObjectMatching
    return rule(annotations, negated)


def _negated(verdicts: Verdicts) -> Verdicts:
    """Yes for no and no for yes; what is not known stays so."""
    return np.where(verdicts == UNKNOWN, np.int8(UNKNOWN), np.int8(YES) - verdicts).astype(np.int8)
