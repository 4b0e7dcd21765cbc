"""NGNN (Cui et al., WWW 2019): an outfit is a graph whose nodes are categories, and items talk along its edges.

An item enters through the layer of its category; for three steps each node sends what its own output matrix makes
of its state, receives through its own input matrix the sum over the others weighted by how often the two
categories are worn together, and updates its state by a GRU; a gate says how much each node counts in the
outfit's score. Loss as in BPR: -log sigmoid(good - bad).
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from likewise.outfits.models.net import Lesson, OutfitNet, Shape, variants
from likewise.outfits.models.typed import TypedLinear

if TYPE_CHECKING:
    from likewise.outfits.models.trunk import Trunk

STEPS = 3
SHARPNESS = 4.0


class NodeGraph(OutfitNet):
    """Message passing between the categories of an outfit."""

    edges: Tensor

    def __init__(self, trunk: "Trunk", shape: Shape, width: int = 64, semantic_weight: float = 0.1) -> None:
        super().__init__(trunk, shape, width, semantic_weight)
        self.first = nn.Linear(trunk.n_features, 2 * width)
        self.by_type = TypedLinear(shape.n_types, 2 * width, width)
        self.out = TypedLinear(shape.n_types, width, width)
        self.into = TypedLinear(shape.n_types, width, width)
        self.update = nn.GRUCell(width, width)
        self.gate = nn.Linear(2 * width, 1)
        self.judge = nn.Sequential(nn.Linear(2 * width, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))
        self.register_buffer("edges", torch.ones(shape.n_types, shape.n_types))

    def learn_types(self, together: Tensor) -> None:
        """Edge i <- j: the share of j among the companions of i, smoothed so that no edge is cut."""
        smoothed = together.float() + 1.0
        self.edges.copy_(smoothed / smoothed.sum(dim=1, keepdim=True) * len(smoothed))

    def look(self, inputs: Tensor, types: Tensor) -> Tensor:
        return torch.tanh(self.by_type(functional.relu(self.first(self.trunk(inputs))), types))

    def match(self, looks: Tensor, types: Tensor, there: Tensor, users: Tensor) -> Tensor:
        n, length, width = looks.shape
        flat_types, entered = types.flatten(), looks.flatten(0, 1)
        edges = self.edges[types[:, :, None], types[:, None, :]] * there[:, None, :]
        edges = edges * ~torch.eye(length, dtype=torch.bool)
        edges = edges / there.sum(dim=1).clamp(min=2)[:, None, None]
        state = entered
        for _ in range(STEPS):
            sent = self.out(state, flat_types).view(n, length, width)
            received = self.into((edges @ sent).flatten(0, 1), flat_types)
            state = self.update(received, state)
        known = torch.cat([state, entered], dim=1)
        gates = torch.sigmoid(self.gate(known)).view(n, length) * there
        judged: Tensor = self.judge(known).view(n, length)
        return SHARPNESS * (gates * judged).sum(dim=1) / gates.sum(dim=1).clamp(min=1e-6)

    def terms(self, lesson: Lesson) -> dict[str, Tensor]:
        scores = variants(lesson, self)
        return {"pairs": -functional.logsigmoid(scores[:, :1] - scores[:, 1:]).mean()}
