"""Whether a condition says anything to an encoder: any text has a vector, nonsense too, and always finds something.

The twelve best scores of a text stand above the mean of the catalog by some distance; so do those of random letters.
A text without a single word of the catalog whose distance is one that random letters often reach is called weak.
"""

import random
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from likewise.catalog.table import MADE_COLUMNS
from likewise.conditional.known_attributes import TOO_COMMON, condition_words
from likewise.conditional.mining.lexicon import PREPOSITIONS
from likewise.conditional.protocol import Features, Floats
from likewise.conditional.towers import normalize

N_RANDOM, N_BEST, SAMPLED_IMAGES = 200, 12, 5_000
OFTEN_REACHED = 0.95
"""The share of random texts that stay below the distance from which on a text counts as heard."""


@dataclass(frozen=True)
class TextCheck:
    """A catalog and the encoder's texts; random letters are encoded once, when first needed."""

    catalog: pl.DataFrame
    unit_features: Features
    encode_texts: Callable[[Sequence[str]], Features]

    @cached_property
    def catalog_words(self) -> frozenset[str]:
        """Words of every text the catalog holds beside keys and names of files."""
        texts = [
            name
            for name, kind in self.catalog.schema.items()
            if kind == pl.String and name not in (*MADE_COLUMNS, "image", "item")
        ]
        found: set[str] = set()
        for name in texts:
            for value in self.catalog[name].drop_nulls().unique():
                found.update(condition_words(value))
        return frozenset(word for word in found - TOO_COMMON - PREPOSITIONS if len(word) > 2)

    @cached_property
    def _sample(self) -> Features:
        """Enough images to see how far the best ones stand out."""
        n = len(self.unit_features)
        rows = np.arange(n) if n <= SAMPLED_IMAGES else np.random.default_rng(0).permutation(n)[:SAMPLED_IMAGES]
        return self.unit_features[np.sort(rows)]

    @cached_property
    def _threshold(self) -> float:
        return float(np.quantile(self.distances(random_texts(N_RANDOM)), OFTEN_REACHED))

    def distances(self, texts: Sequence[str]) -> Floats:
        """How far the best scores of each text stand above its mean score."""
        scores = normalize(self.encode_texts(texts)) @ self._sample.T
        best = np.sort(scores, axis=1)[:, -N_BEST:].mean(axis=1)
        return np.asarray(best - scores.mean(axis=1), np.float64)

    def is_weak(self, condition: str) -> bool:
        """Whether a condition finds nothing more clearly than random letters would, and no word of it is known here."""
        if not self.catalog_words.isdisjoint(condition_words(condition)):
            return False
        return bool(self.distances([condition])[0] <= self._threshold)


def random_texts(n: int, seed: int = 0) -> list[str]:
    """One to three words of random letters each."""
    rng = random.Random(seed)

    def word() -> str:
        return "".join(rng.choice(string.ascii_lowercase) for _ in range(rng.randint(3, 9)))

    return [" ".join(word() for _ in range(rng.randint(1, 3))) for _ in range(n)]
