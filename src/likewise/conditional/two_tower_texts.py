"""What a captioned picture may be called: its whole caption, some phrases of it, or a few words of one phrase.

A condition is short ("red", "with long sleeves"), so the text side has to learn from short texts too.  A short text
fits many pictures; it counts as right for every picture whose words include all of its own.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.encoders.families.text_features import words_of

WHOLE = 0.3
"""Share of texts that are whole captions."""
PART = 0.6
"""Share of phrases that are cut to some neighbouring words."""

_BREAKS = re.compile(r"\s*[,;:.()]\s*|\s+(?:with|and)\s+")


@dataclass(frozen=True)
class Described:
    """One picture's texts: the caption first, then phrases of it and of other columns."""

    caption: str
    phrases: tuple[str, ...]
    words: frozenset[str]

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Described":
        phrases = [part for text in texts for part in _BREAKS.split(text) if words_of(part)]
        words = frozenset(word for text in texts for word in words_of(text))
        return cls(", ".join(texts), tuple(dict.fromkeys(phrases)), words)

    def draw(self, rng: np.random.Generator) -> str:
        """One of the things this picture may be called."""
        if len(self.phrases) == 0 or rng.random() < WHOLE:
            return self.caption
        n = int(rng.integers(1, min(3, len(self.phrases)) + 1))
        chosen = rng.choice(len(self.phrases), n, replace=False)
        return " ".join(self._part(self.phrases[place], rng) for place in chosen)

    def _part(self, phrase: str, rng: np.random.Generator) -> str:
        words = words_of(phrase)
        if len(words) < 2 or rng.random() >= PART:
            return phrase
        n = int(rng.integers(1, len(words)))
        start = int(rng.integers(0, len(words) - n + 1))
        return " ".join(words[start : start + n])


def describe(catalog: pl.DataFrame, columns: Sequence[str]) -> list[Described]:
    """Every picture's texts, from the columns that say something about it."""
    rows = catalog.select(pl.col(name).cast(pl.String) for name in columns).rows()
    return [Described.of([text for text in row if text]) for row in rows]


def fits(described: Sequence[Described], texts: Sequence[str]) -> NDArray[np.bool_]:
    """(pictures, texts): whether all words of the text are among the picture's."""
    asked = [set(words_of(text)) for text in texts]
    column = {word: place for place, word in enumerate(sorted(set().union(*asked)))} if asked else {}
    has = np.zeros((len(described), len(column)), np.float32)
    for row, one in enumerate(described):
        has[row, [column[word] for word in one.words if word in column]] = 1.0
    wants = np.zeros((len(texts), len(column)), np.float32)
    for row, words in enumerate(asked):
        wants[row, [column[word] for word in words]] = 1.0
    return np.asarray(has @ wants.T >= wants.sum(axis=1) - 0.5)
