"""Scores of a look with each of many candidates in it; what a model computes of single items is computed once."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors
from likewise.outfits.models.mean_cosine import MeanCosineModel
from likewise.outfits.protocol import Floats, Item, Outfit, OutfitModel

Indices = NDArray[np.int64]


class LookScorer(Protocol):
    """Scores looks given as rows of one list of items."""

    def score(self, looks: Sequence[Sequence[int]]) -> Floats:
        """One number per look."""

    def score_with(self, worn: Sequence[int], candidates: Indices) -> Floats:
        """The look with each of the candidates added, in turn."""


class PlainScorer:
    """Any model, look by look."""

    def __init__(self, model: OutfitModel, items: Sequence[Item]) -> None:
        self.model, self.items = model, items

    def score(self, looks: Sequence[Sequence[int]]) -> Floats:
        return self.model.score(
            [Outfit(str(n), tuple(self.items[row] for row in look)) for n, look in enumerate(looks)]
        )

    def score_with(self, worn: Sequence[int], candidates: Indices) -> Floats:
        return self.score([[*worn, row] for row in candidates.tolist()])


class CosineScorer:
    """Mean cosine of all pairs: a candidate changes it by its products with what is worn."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def score(self, looks: Sequence[Sequence[int]]) -> Floats:
        return np.array([_mean_cosine(self.vectors[list(look)].astype(np.float64)) for look in looks])

    def score_with(self, worn: Sequence[int], candidates: Indices) -> Floats:
        if not worn:
            return np.zeros(len(candidates))
        own, n = self.vectors[list(worn)].astype(np.float64), len(worn) + 1
        total = own.sum(axis=0)
        before = total @ total - np.square(own).sum()
        added = self.vectors[candidates] @ total.astype(np.float32)
        return np.asarray((before + 2.0 * added.astype(np.float64)) / (n * (n - 1)))


def _mean_cosine(rows: Floats) -> float:
    n, total = len(rows), rows.sum(axis=0)
    return float((total @ total - np.square(rows).sum()) / (n * (n - 1))) if n > 1 else 0.0


def make_scorer(model: OutfitModel, items: Sequence[Item]) -> LookScorer:
    """The fastest way to score looks of these items."""
    if isinstance(model, MeanCosineModel):
        return CosineScorer(model.vectors.lookup([item.image for item in items]))
    if hasattr(model, "net"):
        from likewise.outfits.looks.net_scorer import NetScorer
        from likewise.outfits.models.trained_model import TrainedOutfitModel

        if isinstance(model, TrainedOutfitModel):
            return NetScorer(model, items)
    return PlainScorer(model, items)
