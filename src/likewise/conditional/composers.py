"""The paper's three baselines, and any other method that first makes one query vector and then compares.

    image only     q = x / |x|                     x: the reference's features
    text only      q = e / |e|                     e: the condition's features
    image + text   q = (1 - w) x/|x| + w e/|e|     w = 1/2, scaled to length one again
    unscaled       q = x + e                       as the published code has it: the longer of the two weighs more

The score of a candidate y is the cosine q · y / |y|.  Late fusion makes no query vector: the scores of image only and
of text only are standardised over the candidates of a question and added; the soft minimum lets the worse of the two
count (`conjunction.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from likewise.conditional.conjunction import soft_minimum
from likewise.conditional.protocol import Composer, Features, Floats, QueryBatch, ScoringComposer
from likewise.conditional.towers import normalize

NEGATIONS = ("not", "without", "no")


@dataclass(frozen=True)
class ImageOnly:
    """Looks at the reference and not at the condition."""

    name: str = "image only"

    def compose(self, reference: Features, condition: Features) -> Features:
        return normalize(reference)


@dataclass(frozen=True)
class TextOnly:
    """Looks at the condition and not at the reference."""

    name: str = "text only"

    def compose(self, reference: Features, condition: Features) -> Features:
        return normalize(condition)


@dataclass(frozen=True)
class ImageAndText:
    """The mean of both directions; `text_weight` moves it towards the text."""

    text_weight: float = 0.5
    name: str = "image + text"

    def compose(self, reference: Features, condition: Features) -> Features:
        image, text = normalize(reference), normalize(condition)
        return normalize(np.float32(1.0 - self.text_weight) * image + np.float32(self.text_weight) * text)


@dataclass(frozen=True)
class UnscaledSum:
    """The sum of both sides' features with the lengths they have."""

    name: str = "image + text, unscaled"

    def compose(self, reference: Features, condition: Features) -> Features:
        return normalize(reference + condition)


@dataclass(frozen=True)
class ComposerMethod:
    """A composer as a method: cosine of its query vector with every candidate, or scores of its own."""

    composer: Composer

    @property
    def name(self) -> str:
        return self.composer.name

    def scores(self, batch: QueryBatch) -> Floats:
        if isinstance(self.composer, ScoringComposer):
            return self.composer.scores(batch)
        return cosines_with_candidates(self.composer.compose(batch.reference, batch.condition), batch)


def cosines_with_candidates(query: Features, batch: QueryBatch) -> Floats:
    """(n, g) of query vectors of length one."""
    gallery = batch.normalized_gallery
    found = query @ gallery.T if gallery.ndim == 2 else np.einsum("nd,ngd->ng", query, gallery)
    return np.asarray(found, np.float64)


@dataclass(frozen=True)
class LateFusion:
    """Both sides answer alone, and their standardised scores are added."""

    name: str = "late fusion"

    def scores(self, batch: QueryBatch) -> Floats:
        sides = (ComposerMethod(ImageOnly()).scores(batch), ComposerMethod(TextOnly()).scores(batch))
        return np.asarray(sum(_standardized(each) for each in sides), np.float64)


@dataclass(frozen=True)
class SoftMinimum:
    """Both sides answer alone, and the worse one counts: what a conjunctive Combiner is before it learns."""

    name: str = "soft minimum"

    def scores(self, batch: QueryBatch) -> Floats:
        sides = (ComposerMethod(ImageOnly()).scores(batch), ComposerMethod(TextOnly()).scores(batch))
        return soft_minimum(*sides)


@dataclass(frozen=True)
class NegationAware:
    """Image + text; where the text says "not …", "without …" or "no …", image minus what follows."""

    texts: Callable[[Sequence[str]], Features]
    name: str = "image - negated text"

    def scores(self, batch: QueryBatch) -> Floats:
        condition, sign = batch.condition.copy(), np.ones((len(batch.condition), 1), np.float32)
        rest = {row: said for row, text in enumerate(batch.conditions) if (said := negated_part(text))}
        if rest:
            rows = list(rest)
            condition[rows] = self.texts(list(rest.values()))
            sign[rows] = -1.0
        return cosines_with_candidates(normalize(normalize(batch.reference) + sign * normalize(condition)), batch)


def negated_part(text: str) -> str:
    """What a negated condition is about, "striped" of "not striped"; empty for others."""
    first, _, rest = text.strip().partition(" ")
    return rest.strip() if first.lower() in NEGATIONS else ""


def _standardized(scores: Floats) -> Floats:
    spread = scores.std(axis=1, keepdims=True)
    return np.asarray((scores - scores.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0), np.float64)


def baseline_methods() -> list[ComposerMethod]:
    """Image only, text only, image + text."""
    return [ComposerMethod(ImageOnly()), ComposerMethod(TextOnly()), ComposerMethod(ImageAndText())]
