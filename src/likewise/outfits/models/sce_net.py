"""SCE-Net (Tan et al., ICCV 2019): conditions of similarity that nobody named.

An embedding of 64 numbers, five masks, and a small network that reads both items of a pair and says how much each
mask counts: x_i -> sum over c of w_c (relu(m_c) x_i), then the distance as in `type_aware`. The weights are the
mean over both orders of the pair. Triplets with margin 0.2, of outfits or of similarity (`outfits train --triplets`,
the data that A100 trained it on); an outfit's score is minus the mean distance of its pairs.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from likewise.outfits.models.net import NetSizes, OutfitBatch, OutfitNet, masked_mean, position_pairs, start_as_copy
from likewise.outfits.models.type_aware import distance

if TYPE_CHECKING:
    from likewise.outfits.models.trunk import FeatureTrunk

MARGIN = 0.2
CONDITIONS = 5
NORMS = 5e-4
MASK_SPREAD = 0.1


class SceNet(OutfitNet):
    """Five conditions, chosen softly by the pair."""

    def __init__(self, trunk: "FeatureTrunk", sizes: NetSizes, width: int = 64, semantic_weight: float = 5e-3) -> None:
        super().__init__(trunk, sizes, width, semantic_weight)
        self.general = nn.Linear(trunk.n_features, width)
        start_as_copy(self.general.weight)
        self.masks = nn.Parameter(torch.empty(CONDITIONS, width).normal_(1.0, MASK_SPREAD))
        self.weigh = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, CONDITIONS))

    def embed(self, inputs: Tensor, types: Tensor) -> Tensor:
        embeddings: Tensor = self.general(self.trunk(inputs))
        return embeddings

    def score(self, embeddings: Tensor, types: Tensor, mask: Tensor, users: Tensor) -> Tensor:
        first, second = position_pairs(embeddings)
        return -masked_mean(
            self._distance(embeddings[:, first], embeddings[:, second]), mask[:, first] & mask[:, second]
        )

    def loss_terms(self, batch: OutfitBatch) -> dict[str, Tensor]:
        first, second = position_pairs(batch.embeddings)
        both = batch.mask[:, first] & batch.mask[:, second]
        a, b = batch.embeddings[:, first], batch.embeddings[:, second]
        near = self._distance(a, b)[:, None]
        wide = (slice(None), slice(None))
        other_a, other_b = batch.negatives[(*wide, first)], batch.negatives[(*wide, second)]
        far = [self._distance(a[:, None].expand_as(other_b), other_b)]
        if not batch.anchored:
            far.append(self._distance(b[:, None].expand_as(other_a), other_a))
        hinge = functional.relu(near - torch.stack(far) + MARGIN).mean(dim=(0, 2))
        norms = functional.relu(self.masks).abs().mean() + batch.item_embeddings.square().mean()
        return {"triplets": hinge[both].mean(), "norms": NORMS * norms}

    def _distance(self, a: Tensor, b: Tensor) -> Tensor:
        """The distance of pairs (..., width) under the mixture of conditions that they ask for."""
        forth, back = self.weigh(torch.cat([a, b], dim=-1)), self.weigh(torch.cat([b, a], dim=-1))
        weights = (forth.softmax(dim=-1) + back.softmax(dim=-1)) / 2
        mask = weights @ functional.relu(self.masks)
        return distance(a * mask, b * mask)
