"""The baseline of chance: a number drawn from the names of the items, the same in any order and in every run."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from likewise.lineage.record import NOTHING_LEARNED, Lineage
from likewise.outfits.protocol import Floats, Outfit, OutfitQuestion, answer_by_score


@dataclass(frozen=True)
class RandomModel:
    """Scores that know nothing."""

    seed: int = 0
    name: str = "random"
    lineage: Lineage = NOTHING_LEARNED

    def score(self, outfits: Sequence[Outfit]) -> Floats:
        return np.array([self._draw(outfit) for outfit in outfits], dtype=np.float64)

    def answer(self, questions: Sequence[OutfitQuestion]) -> Floats:
        return answer_by_score(self, questions)

    def _draw(self, outfit: Outfit) -> float:
        text = "\n".join([str(self.seed), *sorted(item.image for item in outfit.items)])
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big") / 2.0**48
