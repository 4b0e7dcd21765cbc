"""A linear layer whose weights are shared by all types of items, with a correction of its own for every type.

The corrections start at nothing, so that before any training things that look alike come out alike, whatever their
types; training tells the types apart as far as outfits do, and a type that is seldom worn learns from the others.
"""

import math

import torch
from torch import Tensor, nn


class TypedLinear(nn.Module):
    """(m, n_in) and types (m,) to (m, n_out)."""

    def __init__(self, n_types: int, n_in: int, n_out: int) -> None:
        super().__init__()
        bound = math.sqrt(3 / n_in)  # what comes out varies as much as what goes in
        self.shared = nn.Parameter(torch.empty(n_in, n_out).uniform_(-bound, bound))
        self.own = nn.Parameter(torch.zeros(n_types, n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_types, n_out))

    def forward(self, values: Tensor, types: Tensor) -> Tensor:
        order = torch.argsort(types, stable=True)
        counts = torch.bincount(types, minlength=len(self.own)).tolist()
        parts = torch.split(values[order], counts)
        done = torch.cat([part @ weight for part, weight in zip(parts, self.own, strict=True)])
        back = torch.empty_like(order)
        back[order] = torch.arange(len(order), device=order.device)
        return values @ self.shared + done[back] + self.bias[types]
