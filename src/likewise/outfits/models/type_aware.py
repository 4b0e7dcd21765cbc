"""Type-aware embeddings (Vasileva et al., ECCV 2018; the A100 paper calls the model CSN).

One general embedding of 64 numbers; every *pair of types* has a learned mask that picks the space in which its
items are compared: d(i, j) = |norm(relu(m) x_i) - norm(relu(m) x_j)|. An outfit's score is minus the mean
distance of its pairs, so the best answer is the choice with the least sum of distances. Loss: triplets with
margin 0.3 whose negative is of the positive's type, 5e-3 visual-semantic, 5e-5 similarity (items of one type lie
together in the general space), 5e-4 for masks (l1) and embeddings (l2).
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from likewise.outfits.models.net import NetSizes, OutfitBatch, OutfitNet, masked_mean, position_pairs, start_as_copy

if TYPE_CHECKING:
    from likewise.outfits.models.trunk import FeatureTrunk

MARGIN = 0.3
SIMILARITY = 5e-5
NORMS = 5e-4
MASK_SPREAD = 0.1  # before training every space is nearly the general one; published: 0.9 and 0.7


class TypeAware(OutfitNet):
    """One mask per pair of types."""

    def __init__(self, trunk: "FeatureTrunk", sizes: NetSizes, width: int = 64, semantic_weight: float = 5e-3) -> None:
        super().__init__(trunk, sizes, width, semantic_weight)
        self.general = nn.Linear(trunk.n_features, width)
        start_as_copy(self.general.weight)
        self.masks = nn.Parameter(
            torch.empty(sizes.n_types * (sizes.n_types + 1) // 2, width).normal_(1.0, MASK_SPREAD)
        )
        first, second = torch.triu_indices(sizes.n_types, sizes.n_types)
        space = torch.zeros(sizes.n_types, sizes.n_types, dtype=torch.long)
        space[first, second] = space[second, first] = torch.arange(len(first))
        self.register_buffer("space", space, persistent=False)

    def embed(self, inputs: Tensor, types: Tensor) -> Tensor:
        embeddings: Tensor = self.general(self.trunk(inputs))
        return embeddings

    def score(self, embeddings: Tensor, types: Tensor, mask: Tensor, users: Tensor) -> Tensor:
        first, second = position_pairs(embeddings)
        masks = self._masks(types, first, second)
        difference = distance(embeddings[:, first] * masks, embeddings[:, second] * masks)
        return -masked_mean(difference, mask[:, first] & mask[:, second])

    def loss_terms(self, batch: OutfitBatch) -> dict[str, Tensor]:
        first, second = position_pairs(batch.embeddings)
        masks = self._masks(batch.types, first, second)
        both = batch.mask[:, first] & batch.mask[:, second]
        a, b = batch.embeddings[:, first] * masks, batch.embeddings[:, second] * masks
        near = distance(a, b)[:, None]
        other_a, other_b = batch.negatives[:, :, first] * masks[:, None], batch.negatives[:, :, second] * masks[:, None]
        far = torch.stack([distance(a[:, None], other_b), distance(b[:, None], other_a)])
        hinge = functional.relu(near - far + MARGIN).mean(dim=(0, 2))
        return {
            "triplets": hinge[both].mean(),
            "similarity": SIMILARITY * self._similarity(batch),
            "norms": NORMS * (functional.relu(self.masks).abs().mean() + batch.item_embeddings.square().mean()),
        }

    def _similarity(self, batch: OutfitBatch) -> Tensor:
        """In the general space an item lies nearer to one of its own type than to the others of its outfit."""
        first, second = position_pairs(batch.embeddings)
        both = batch.mask[:, first] & batch.mask[:, second]
        item = batch.embeddings[:, second]
        same_type, worn_with = batch.negatives[:, 0, second], batch.embeddings[:, first]
        return functional.relu(distance(item, same_type) - distance(item, worn_with) + MARGIN)[both].mean()

    def _masks(self, types: Tensor, first: Tensor, second: Tensor) -> Tensor:
        assert isinstance(self.space, Tensor)
        return functional.relu(self.masks[self.space[types[:, first], types[:, second]]])


def distance(a: Tensor, b: Tensor) -> Tensor:
    """Euclidean, between vectors brought to length one; smooth at 0."""
    difference = functional.normalize(a, dim=-1) - functional.normalize(b, dim=-1)
    return (difference.square().sum(dim=-1) + 1e-8).sqrt()
