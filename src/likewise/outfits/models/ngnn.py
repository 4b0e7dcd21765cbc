"""NGNN (Cui et al., WWW 2019): an outfit is a graph whose nodes are categories, and items talk along its edges.

An item enters through the layer of its category; for three steps each node sends what its own output matrix makes
of its state, receives through its own input matrix the sum over the others weighted by how often the two
categories are worn together, and updates its state by a GRU; a gate says how much each node counts in the
outfit's score. Loss as in BPR: -log sigmoid(good - bad).

A node's judgement has two parts: a perceptron's, and how well what entered agrees with what it first hears from the
others. The second is ours: without it the model fits the outfits of training equally well, but answers 41 % of an AAT
instead of 49 % (docs/stylist.md).
Messages start as the states themselves, so that agreement means something before any training.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from likewise.outfits.models.net import NetSizes, OutfitBatch, OutfitNet, score_with_corrupted
from likewise.outfits.models.typed import TypedLinear

if TYPE_CHECKING:
    from likewise.outfits.models.trunk import FeatureTrunk

STEPS = 3
SCORE_SCALE = 4.0
AGREEMENT_WEIGHT = 4.0  # of a node with what it hears, in units of the perceptron's judgement


class NodeGraph(OutfitNet):
    """Message passing between the categories of an outfit."""

    edges: Tensor

    def __init__(self, trunk: "FeatureTrunk", sizes: NetSizes, width: int = 64, semantic_weight: float = 0.1) -> None:
        super().__init__(trunk, sizes, width, semantic_weight)
        self.by_type = TypedLinear(sizes.n_types, trunk.n_features, width)
        self.out = TypedLinear(sizes.n_types, width, width)
        self.into = TypedLinear(sizes.n_types, width, width)
        for layer in (self.out, self.into):
            nn.init.eye_(layer.shared)
        self.update = nn.GRUCell(width, width)
        self.gate = nn.Linear(2 * width, 1)
        self.judge = nn.Sequential(nn.Linear(2 * width, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))
        self.register_buffer("edges", torch.ones(sizes.n_types, sizes.n_types))

    def fit_type_cooccurrence(self, cooccurrence: Tensor) -> None:
        """Edge i <- j: the share of j among the companions of i, smoothed so that no edge is cut."""
        smoothed = cooccurrence.float() + 1.0
        self.edges.copy_(smoothed / smoothed.sum(dim=1, keepdim=True) * len(smoothed))

    def embed(self, inputs: Tensor, types: Tensor) -> Tensor:
        return torch.tanh(self.by_type(self.trunk(inputs), types))

    def score(self, embeddings: Tensor, types: Tensor, mask: Tensor, users: Tensor) -> Tensor:
        n, length, width = embeddings.shape
        flat_types, entered = types.flatten(), embeddings.flatten(0, 1)
        edges = self.edges[types[:, :, None], types[:, None, :]] * mask[:, None, :]
        edges = edges * ~torch.eye(length, dtype=torch.bool, device=edges.device)
        edges = edges / mask.sum(dim=1).clamp(min=2)[:, None, None]
        messages, state = [], entered
        for _ in range(STEPS):
            sent = self.out(state, flat_types).view(n, length, width)
            messages.append(self.into((edges @ sent).flatten(0, 1), flat_types))
            state = self.update(messages[-1], state)
        known = torch.cat([state, entered], dim=1)
        gates = torch.sigmoid(self.gate(known)).view(n, length) * mask
        agreed = AGREEMENT_WEIGHT * (entered * messages[0]).mean(dim=1)
        judged: Tensor = (self.judge(known)[:, 0] + agreed).view(n, length)
        return SCORE_SCALE * (gates * judged).sum(dim=1) / gates.sum(dim=1).clamp(min=1e-6)

    def loss_terms(self, batch: OutfitBatch) -> dict[str, Tensor]:
        scores = score_with_corrupted(batch, self)
        return {"pairs": -functional.logsigmoid(scores[:, :1] - scores[:, 1:]).mean()}
