"""The baseline without training: items go together as far as they look alike, the mean cosine of all pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from likewise.lineage.record import NOTHING_LEARNED, Lineage
from likewise.outfits.protocol import Floats, Outfit, OutfitQuestion, answer_by_score
from likewise.outfits.vectors import VectorLookup


@dataclass(frozen=True)
class MeanCosineModel:
    """mean over pairs of cos(a, b) = (|sum of unit vectors|^2 - n) / (n (n - 1)); 0 for a single item."""

    vectors: VectorLookup
    name: str = "mean-cosine"
    lineage: Lineage = NOTHING_LEARNED
    """Of the encoders behind the vectors."""

    def score(self, outfits: Sequence[Outfit]) -> Floats:
        return np.array([self._mean(outfit) for outfit in outfits], dtype=np.float64)

    def answer(self, questions: Sequence[OutfitQuestion]) -> Floats:
        return answer_by_score(self, questions)

    def _mean(self, outfit: Outfit) -> float:
        n = len(outfit)
        if n < 2:
            return 0.0
        images = sorted(item.image for item in outfit.items)  # the same sum in any order of the items
        rows = self.vectors.lookup(images).astype(np.float64)
        total = rows.sum(axis=0)
        return float((total @ total - np.square(rows).sum()) / (n * (n - 1)))
