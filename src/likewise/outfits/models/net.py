"""What the trained models share: items are looked at one by one, then the looks of an outfit are matched.

`look` may use the picture (or its vector) and its type, never the outfit; `match` gives one number per outfit,
larger for a better match; `terms` is the training loss, term by term, so that its curves can be plotted. Where
the items come with words (captions, or the names of their categories), a visual-semantic term draws an item's
look to the look of its words.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from likewise.outfits.models.trunk import Trunk


@dataclass(frozen=True)
class Shape:
    """The sizes that training data decides; settings of the model itself come from its preset."""

    n_inputs: int
    n_types: int
    n_users: int = 1
    n_words: int = 0


@dataclass(frozen=True)
class Lesson:
    """A batch of training: good outfits, and for every place of each some items of the same type from elsewhere.

    n outfits, L places, k others, w the width of a look.
    """

    looks: Tensor
    """(n, L, w)"""
    others: Tensor
    """(n, k, L, w)"""
    types: Tensor
    there: Tensor
    users: Tensor
    swaps: Tensor
    """(n, k): the place whose item is replaced in the k-th spoiled copy."""
    items: Tensor
    """(m, w): the looks of the good items, each once."""
    places: Tensor
    """(n, L): which of `items` stands at each place."""
    words: Tensor
    """(m, most words): the words of those items, 0 where there is none."""


class OutfitNet(nn.Module):
    """Base of the trained models."""

    ordered = False
    """Whether the order of the items counts."""
    semantic_margin = 0.2

    def __init__(self, trunk: "Trunk", shape: Shape, width: int, semantic_weight: float) -> None:
        super().__init__()
        self.trunk = trunk
        self.shape = shape
        self.width = width
        self.semantic_weight = semantic_weight if shape.n_words else 0.0
        self.texts = nn.EmbeddingBag(shape.n_words + 1, width, mode="mean", padding_idx=0) if shape.n_words else None
        self.progress = 0.0  # how much of the training is done, 0 to 1

    def look(self, inputs: Tensor, types: Tensor) -> Tensor:
        """(m, ...) inputs of single items and their types to (m, width)."""
        raise NotImplementedError

    def match(self, looks: Tensor, types: Tensor, there: Tensor, users: Tensor) -> Tensor:
        """(n, L, width) to (n,); users are -1 where unknown."""
        raise NotImplementedError

    def terms(self, lesson: Lesson) -> dict[str, Tensor]:
        """The loss of the model itself, by name."""
        raise NotImplementedError

    def loss(self, lesson: Lesson) -> dict[str, Tensor]:
        """All terms, the visual-semantic one among them where there are words."""
        terms = self.terms(lesson)
        if self.texts is not None and self.semantic_weight:
            terms["visual-semantic"] = self.semantic_weight * self.visual_semantic(lesson.items, lesson.words)
        return terms

    def visual_semantic(self, looks: Tensor, words: Tensor) -> Tensor:
        """Hinge loss: an item is nearer to its own words than to another item's, and the words nearer to it.

        Items of equal words are no negatives of each other.
        """
        assert self.texts is not None
        said = (words > 0).any(dim=1)
        looks, words = looks[said], words[said]
        if len(looks) < 2:
            return looks.sum() * 0.0
        closeness = functional.normalize(looks, dim=1) @ functional.normalize(self.texts(words), dim=1).T
        own = closeness.diagonal()
        other = (words[:, None, :] != words[None, :, :]).any(dim=2)
        by_item = functional.relu(self.semantic_margin - own[:, None] + closeness)[other]
        by_words = functional.relu(self.semantic_margin - own[None, :] + closeness)[other]
        count = max(1, by_item.numel())
        return (by_item.sum() + by_words.sum()) / count

    def after_epoch(self, looks: Tensor) -> None:
        """Called with the looks of some training items when an epoch ends."""

    def learn_types(self, together: Tensor) -> None:
        """Called before training with how often types are worn together, (n_types, n_types)."""

    def settings(self) -> dict[str, Any]:
        """What a reader of the model's card should know beyond its preset."""
        return {}


def spoiled(lesson: Lesson) -> Tensor:
    """(n, k + 1, L, w): k copies of every outfit with one item replaced, and one with all of them replaced."""
    at = functional.one_hot(lesson.swaps, lesson.others.shape[2]).to(torch.bool)[..., None]
    one = torch.where(at, lesson.others, lesson.looks[:, None])
    return torch.cat([one, lesson.others[:, :1]], dim=1)


def variants(lesson: Lesson, net: OutfitNet) -> Tensor:
    """(n, k + 2): the scores of each good outfit, first, and of its spoiled copies."""
    looks = torch.cat([lesson.looks[:, None], spoiled(lesson)], dim=1)
    n, copies = looks.shape[:2]

    def each(values: Tensor) -> Tensor:
        return values[:, None].expand(n, copies, *values.shape[1:]).flatten(0, 1)

    scores = net.match(looks.flatten(0, 1), each(lesson.types), each(lesson.there), each(lesson.users))
    return scores.view(n, copies)


def pairs(length: int) -> tuple[Tensor, Tensor]:
    """All pairs of places of an outfit."""
    first, second = torch.triu_indices(length, length, 1)
    return first, second


def mean_over(values: Tensor, counted: Tensor) -> Tensor:
    """The mean of the counted values of every row; 0 where none counts."""
    return (values * counted).sum(dim=1) / counted.sum(dim=1).clamp(min=1)
