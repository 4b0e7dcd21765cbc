"""FHN, the fashion hash network (Lu et al., CVPR 2019): items and users become 128 bits.

An item passes a linear layer of its category and a tanh; a user is a learned code. Score of an outfit for a user = mean
over items of <u, x_i>_U + mean over pairs of <x_i, x_j>_I, with learned weights of the bits. Training grows the
tanh steeper; when scoring, codes are signs. Loss: soft margin log(1 + exp(bad - good)) + 0.1 visual-semantic.

**Unknown users.** A test has no users. Somebody whom training did not meet is the *mean user*: the score is the
mean over all known users' scores. (The score is linear in the user's code, so this is the mean of the codes.)
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from likewise.outfits.models.net import (
    NetSizes,
    OutfitBatch,
    OutfitNet,
    masked_mean,
    position_pairs,
    score_with_corrupted,
    start_as_copy,
)
from likewise.outfits.models.typed import TypedLinear

if TYPE_CHECKING:
    from likewise.outfits.models.trunk import FeatureTrunk

BITS = 128
MAX_SLOPE = 4.0
SCORE_SCALE = 6.0


class FashionHash(OutfitNet):
    """Binary codes of items and users."""

    def __init__(self, trunk: "FeatureTrunk", sizes: NetSizes, width: int = BITS, semantic_weight: float = 0.1) -> None:
        super().__init__(trunk, sizes, width, semantic_weight)
        self.by_type = TypedLinear(sizes.n_types, trunk.n_features, width)
        start_as_copy(self.by_type.shared.T)
        self.people = nn.Parameter(torch.empty(sizes.n_users, width).normal_(0.0, 0.5))
        self.user_weights = nn.Parameter(torch.zeros(width))  # before training nobody prefers anything
        self.item_weights = nn.Parameter(torch.ones(width))

    def embed(self, inputs: Tensor, types: Tensor) -> Tensor:
        return self._code(self.by_type(self.trunk(inputs), types))

    def score(self, embeddings: Tensor, types: Tensor, mask: Tensor, users: Tensor) -> Tensor:
        people = self._code(self.people)
        known = people[users.clamp(min=0)]
        person = torch.where((users >= 0)[:, None], known, people.mean(dim=0))
        liked = masked_mean((embeddings * (self.user_weights * person)[:, None]).mean(dim=2), mask)
        first, second = position_pairs(embeddings)
        agreed = (embeddings[:, first] * embeddings[:, second] * self.item_weights).mean(dim=2)
        return SCORE_SCALE * (liked + masked_mean(agreed, mask[:, first] & mask[:, second]))

    def loss_terms(self, batch: OutfitBatch) -> dict[str, Tensor]:
        scores = score_with_corrupted(batch, self)
        return {"soft margin": functional.softplus(scores[:, 1:] - scores[:, :1]).mean()}

    def card_notes(self) -> dict[str, Any]:
        return {"unknown user": f"the mean of the {self.sizes.n_users} users of training"}

    def _code(self, values: Tensor) -> Tensor:
        if self.training:
            return torch.tanh((1.0 + (MAX_SLOPE - 1.0) * self.training_progress) * values)
        return torch.where(values >= 0, 1.0, -1.0)
