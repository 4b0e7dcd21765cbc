"""Ours: a set transformer over items with types (after Lee et al., ICML 2019).

An item is its features plus a learned vector of its type, without any position, so the order cannot count; two
layers of attention let items see each other, and a learned query gathers the outfit's score from all of them.
Beside it stands the mean product of all pairs under a learned form, so that what two items say to each other need
not pass through the layers. Loss: the good outfit is to be picked among its corrupted copies (cross-entropy).
"""

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from likewise.outfits.models.trunk import FeatureTrunk

HEADS = 4
DROPOUT = 0.1
TYPE_SPREAD = 0.1
PRODUCT_SCALE = 4.0  # of the mean product of pairs, which lies between -1 and 1


class SetTransformer(OutfitNet):
    """Attention among items, then one query that asks whether they go together."""

    def __init__(
        self, trunk: "FeatureTrunk", sizes: NetSizes, width: int = 96, semantic_weight: float = 0.1, layers: int = 2
    ) -> None:
        super().__init__(trunk, sizes, width, semantic_weight)
        self.first = nn.Sequential(nn.Dropout(DROPOUT), nn.Linear(trunk.n_features, width), nn.LayerNorm(width))
        self.types = nn.Embedding(sizes.n_types, width)
        nn.init.normal_(self.types.weight, std=TYPE_SPREAD)
        self.blocks = nn.ModuleList([AttentionBlock(width) for _ in range(layers)])
        self.query = nn.Parameter(torch.empty(1, 1, width).normal_(0.0, 0.5))
        self.gather = nn.MultiheadAttention(width, HEADS, batch_first=True)
        self.judge = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        self.form = nn.Linear(width, width, bias=False)
        entry, last = self.first[1], self.judge[-1]
        assert isinstance(entry, nn.Linear) and isinstance(last, nn.Linear)
        start_as_copy(entry.weight)
        start_as_copy(self.form.weight)
        nn.init.zeros_(last.weight)  # at first only the products of pairs speak

    def embed(self, inputs: Tensor, types: Tensor) -> Tensor:
        embeddings: Tensor = self.first(self.trunk(inputs))
        return embeddings

    def score(self, embeddings: Tensor, types: Tensor, mask: Tensor, users: Tensor) -> Tensor:
        state = embeddings + self.types(types)
        seen = self.form(state)
        first, second = position_pairs(embeddings)
        product = (seen[:, first] * seen[:, second]).mean(dim=2)
        direct = masked_mean(product, mask[:, first] & mask[:, second])
        for block in self.blocks:
            state = block(state, ~mask)
        query = self.query.expand(len(embeddings), 1, self.width)
        gathered, _ = self.gather(query, state, state, key_padding_mask=~mask, need_weights=False)
        judged: Tensor = self.judge(gathered[:, 0])[:, 0]
        return judged + PRODUCT_SCALE * direct

    def loss_terms(self, batch: OutfitBatch) -> dict[str, Tensor]:
        scores = score_with_corrupted(batch, self)
        best = torch.zeros(len(scores), dtype=torch.long, device=scores.device)
        return {"choice": functional.cross_entropy(scores, best)}


class AttentionBlock(nn.Module):
    """Attention and a two-layer network, each added to what came in (normalised first)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.before = nn.LayerNorm(width)
        self.attend = nn.MultiheadAttention(width, HEADS, batch_first=True, dropout=DROPOUT)
        self.between = nn.LayerNorm(width)
        self.think = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(DROPOUT), nn.Linear(2 * width, width)
        )

    def forward(self, state: Tensor, absent: Tensor) -> Tensor:
        normed = self.before(state)
        attended, _ = self.attend(normed, normed, normed, key_padding_mask=absent, need_weights=False)
        state = state + attended
        added: Tensor = self.think(self.between(state))
        return state + added
