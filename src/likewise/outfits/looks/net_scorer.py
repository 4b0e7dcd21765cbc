"""A trained network over one list of items: every item is embedded once, and looks are rows of that table."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from likewise.outfits.models.batch import PADDING, UNKNOWN_TYPE, PaddedOutfits, pad_outfits, sort_by_type
from likewise.outfits.models.trained_model import TrainedOutfitModel, score_padded
from likewise.outfits.protocol import Floats, Item

Indices = NDArray[np.int64]


class NetScorer:
    """Scores of looks given as rows of `items`."""

    def __init__(self, model: TrainedOutfitModel, items: Sequence[Item]) -> None:
        self.net = model.net
        with torch.inference_mode():
            embedded = model.embed_items({item.image: item.category for item in items})
        self.embeddings = embedded.embeddings
        self.row = np.array([embedded.row[item.image] for item in items], dtype=np.int64)
        self.types = embedded.types

    @torch.inference_mode()
    def score(self, looks: Sequence[Sequence[int]]) -> Floats:
        return self._score(pad_outfits([self.row[list(look)].tolist() for look in looks], self.types))

    @torch.inference_mode()
    def score_with(self, worn: Sequence[int], candidates: Indices) -> Floats:
        indices = np.full((len(candidates), len(worn) + 1), PADDING, dtype=np.int64)
        indices[:, :-1] = self.row[list(worn)]
        indices[:, -1] = self.row[candidates]
        return self._score(PaddedOutfits(indices, np.where(indices == PADDING, UNKNOWN_TYPE, self.types[indices])))

    def _score(self, looks: PaddedOutfits) -> Floats:
        return score_padded(self.net, self.embeddings, looks if self.net.ordered else sort_by_type(looks))
