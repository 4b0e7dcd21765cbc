"""NGNN (Cui et al., WWW 2019): an outfit is a graph whose nodes are categories, and items talk along its edges.

An item enters through the layer of its category; for three steps each node sends what its own output matrix makes
of its state, receives through its own input matrix the sum over the others weighted by how often the two
categories are worn together, and updates its state by a GRU; a gate says how much each node counts in the
outfit's score. Loss as in BPR: -log sigmoid(good - bad).

`ngnn` is the published one: a perceptron judges every node. In `ngnn-agreement`, which is ours, a node's judgement has
a second part: how well what entered agrees with what it first hears from the others. Messages start as the mean of the
others' states, so that agreement means something before any training. docs/outfits.md has both.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from likewise.outfits.models.net import NetSizes, OutfitBatch, OutfitNet, score_with_corrupted, start_as_copy
from likewise.outfits.models.typed import TypedLinear

if TYPE_CHECKING:
    from likewise.outfits.models.trunk import FeatureTrunk

STEPS = 3
SCORE_SCALE = 4.0
AGREEMENT_WEIGHT = 8.0  # of a node with what it hears, in units of the perceptron's judgement
ENTRY_SCALE = 0.5  # of what enters, lest tanh flatten the strongest features


class NodeGraph(OutfitNet):
    """Message passing between the categories of an outfit."""

    edges: Tensor

    def __init__(
        self,
        trunk: "FeatureTrunk",
        sizes: NetSizes,
        width: int = 64,
        semantic_weight: float = 0.1,
        *,
        agreement: bool = False,
    ) -> None:
        super().__init__(trunk, sizes, width, semantic_weight)
        self.agreement_weight = AGREEMENT_WEIGHT if agreement else 0.0
        self.by_type = TypedLinear(sizes.n_types, trunk.n_features, width)
        self.out = TypedLinear(sizes.n_types, width, width)
        self.into = TypedLinear(sizes.n_types, width, width)
        start_as_copy(self.by_type.shared.T)
        with torch.no_grad():
            self.by_type.shared.mul_(ENTRY_SCALE)
        for layer in (self.out, self.into):
            nn.init.eye_(layer.shared)
        self.update = nn.GRUCell(width, width)
        self.gate = nn.Linear(2 * width, 1)
        self.judge = nn.Sequential(nn.Linear(2 * width, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))
        last = self.judge[-1]
        assert isinstance(last, nn.Linear)
        if agreement:  # at first nodes count alike, and only agreement speaks
            nn.init.zeros_(self.gate.weight)
            nn.init.zeros_(last.weight)
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
        edges = edges / edges.sum(dim=2, keepdim=True).clamp(min=1e-6)
        messages, state = [], entered
        for _ in range(STEPS):
            sent = self.out(state, flat_types).view(n, length, width)
            messages.append(self.into((edges @ sent).flatten(0, 1), flat_types))
            state = self.update(messages[-1], state)
        known = torch.cat([state, entered], dim=1)
        gates = torch.sigmoid(self.gate(known)).view(n, length) * mask
        agreed = self.agreement_weight * (entered * messages[0]).mean(dim=1)
        judged: Tensor = (self.judge(known)[:, 0] + agreed).view(n, length)
        return SCORE_SCALE * (gates * judged).sum(dim=1) / gates.sum(dim=1).clamp(min=1e-6)

    def loss_terms(self, batch: OutfitBatch) -> dict[str, Tensor]:
        scores = score_with_corrupted(batch, self)
        return {"pairs": -functional.logsigmoid(scores[:, :1] - scores[:, 1:]).mean()}
