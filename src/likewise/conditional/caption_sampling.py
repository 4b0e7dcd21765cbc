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

from likewise.encoders.families.text_features import tokenize

WHOLE_CAPTION_SHARE = 0.3
"""Share of texts that are whole captions."""
ONE_COLUMN_SHARE = 0.5
"""Share of whole captions that are those of one column, where there are several."""
CUT_PHRASE_SHARE = 0.6
"""Share of phrases that are cut to some neighbouring words."""

_BREAKS = re.compile(r"\s*[,;:.()]\s*|\s+(?:with|and)\s+")


@dataclass(frozen=True)
class CaptionTexts:
    """One picture's texts: the caption first, then phrases of it and of other columns."""

    caption: str
    phrases: tuple[str, ...]
    words: frozenset[str]
    texts: tuple[str, ...] = ()
    """Of each column; `caption` is all of them."""

    @classmethod
    def from_texts(cls, texts: Sequence[str]) -> "CaptionTexts":
        phrases = [part for text in texts for part in _BREAKS.split(text) if tokenize(part)]
        words = frozenset(word for text in texts for word in tokenize(text))
        return cls(", ".join(texts), tuple(dict.fromkeys(phrases)), words, tuple(texts))

    def sample(self, rng: np.random.Generator) -> str:
        """One of the things this picture may be called; a whole caption is that of one column or of all."""
        if len(self.phrases) == 0 or rng.random() < WHOLE_CAPTION_SHARE:
            several = len(self.texts) > 1 and rng.random() < ONE_COLUMN_SHARE
            return self.texts[int(rng.integers(len(self.texts)))] if several else self.caption
        n = int(rng.integers(1, min(3, len(self.phrases)) + 1))
        chosen = rng.choice(len(self.phrases), n, replace=False)
        return " ".join(self._cut(self.phrases[place], rng) for place in chosen)

    def _cut(self, phrase: str, rng: np.random.Generator) -> str:
        words = tokenize(phrase)
        if len(words) < 2 or rng.random() >= CUT_PHRASE_SHARE:
            return phrase
        n = int(rng.integers(1, len(words)))
        start = int(rng.integers(0, len(words) - n + 1))
        return " ".join(words[start : start + n])


def caption_texts(catalog: pl.DataFrame, columns: Sequence[str]) -> list[CaptionTexts]:
    """Every picture's texts, from the columns that say something about it."""
    rows = catalog.select(pl.col(name).cast(pl.String) for name in columns).rows()
    return [CaptionTexts.from_texts([text for text in row if text]) for row in rows]


def text_matches(texts_of_images: Sequence[CaptionTexts], texts: Sequence[str]) -> NDArray[np.bool_]:
    """(pictures, texts): whether all words of the text are among the picture's."""
    word_sets = [set(tokenize(text)) for text in texts]
    column = {word: place for place, word in enumerate(sorted(set().union(*word_sets)))} if word_sets else {}
    has = np.zeros((len(texts_of_images), len(column)), np.float32)
    for row, one in enumerate(texts_of_images):
        has[row, [column[word] for word in one.words if word in column]] = 1.0
    wants = np.zeros((len(texts), len(column)), np.float32)
    for row, words in enumerate(word_sets):
        wants[row, [column[word] for word in words]] = 1.0
    return np.asarray(has @ wants.T >= wants.sum(axis=1) - 0.5)
