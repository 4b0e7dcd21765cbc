"""SCE-Net (Tan et al., ICCV 2019): conditions of similarity that nobody named.

An embedding of 64 numbers, five masks, and a small network that reads both items of a pair and says how much each
mask counts: x_i -> sum over c of w_c (relu(m_c) x_i), then the distance as in `type_aware`. The weights are the
mean over both orders of the pair. Triplets with margin 0.2; an outfit's score is minus the mean distance of its
pairs.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from likewise.outfits.models.net import Lesson, OutfitNet, Shape, mean_over, pairs
from likewise.outfits.models.type_aware import distance

if TYPE_CHECKING:
    from likewise.outfits.models.trunk import Trunk

MARGIN = 0.2
CONDITIONS = 5
NORMS = 5e-4


class SceNet(OutfitNet):
    """Five conditions, chosen softly by the pair."""

    def __init__(self, trunk: "Trunk", shape: Shape, width: int = 64, semantic_weight: float = 5e-3) -> None:
        super().__init__(trunk, shape, width, semantic_weight)
        self.general = nn.Linear(trunk.n_features, width)
        self.masks = nn.Parameter(torch.empty(CONDITIONS, width).normal_(0.9, 0.7))
        self.weigh = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, CONDITIONS))

    def look(self, inputs: Tensor, types: Tensor) -> Tensor:
        looks: Tensor = self.general(self.trunk(inputs))
        return looks

    def match(self, looks: Tensor, types: Tensor, there: Tensor, users: Tensor) -> Tensor:
        first, second = pairs(looks.shape[1])
        return -mean_over(self._apart(looks[:, first], looks[:, second]), there[:, first] & there[:, second])

    def terms(self, lesson: Lesson) -> dict[str, Tensor]:
        first, second = pairs(lesson.looks.shape[1])
        both = lesson.there[:, first] & lesson.there[:, second]
        a, b = lesson.looks[:, first], lesson.looks[:, second]
        near = self._apart(a, b)[:, None]
        wide = (slice(None), slice(None))
        other_a, other_b = lesson.others[(*wide, first)], lesson.others[(*wide, second)]
        far = torch.stack(
            [self._apart(a[:, None].expand_as(other_b), other_b), self._apart(b[:, None].expand_as(other_a), other_a)]
        )
        hinge = functional.relu(near - far + MARGIN).mean(dim=(0, 2))
        norms = functional.relu(self.masks).abs().mean() + lesson.items.square().mean()
        return {"triplets": hinge[both].mean(), "norms": NORMS * norms}

    def _apart(self, a: Tensor, b: Tensor) -> Tensor:
        """The distance of pairs (..., width) under the mixture of conditions that they ask for."""
        forth, back = self.weigh(torch.cat([a, b], dim=-1)), self.weigh(torch.cat([b, a], dim=-1))
        weights = (forth.softmax(dim=-1) + back.softmax(dim=-1)) / 2
        mask = weights @ functional.relu(self.masks)
        return distance(a * mask, b * mask)
