"""What the trained models share: items are embedded one by one, then the embeddings of an outfit are scored together.

`embed` may use the picture (or its vector) and its type, never the outfit; `score` gives one number per outfit,
larger for a better match; `loss_terms` is the training loss, term by term, so that its curves can be plotted. Where
the items come with words (captions, or the names of their categories), a visual-semantic term draws an item's
embedding to that of its words.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from likewise.outfits.models.trunk import FeatureTrunk


@dataclass(frozen=True)
class NetSizes:
    """The sizes that training data decides; settings of the model itself come from its preset."""

    n_inputs: int
    n_types: int
    n_users: int = 1
    n_words: int = 0


@dataclass(frozen=True)
class OutfitBatch:
    """A batch of training: good outfits, and for every place of each some items of the same type from elsewhere.

    n outfits, L places, k negatives, w the width of an embedding.
    """

    embeddings: Tensor
    """(n, L, w)"""
    negatives: Tensor
    """(n, k, L, w)"""
    types: Tensor
    mask: Tensor
    users: Tensor
    swap_positions: Tensor
    """(n, k): the place whose item is replaced in the k-th corrupted copy."""
    item_embeddings: Tensor
    """(m, w): the embeddings of the good items, each once."""
    item_indices: Tensor
    """(n, L): which of `item_embeddings` stands at each place."""
    words: Tensor
    """(m, most words): the words of those items, 0 where there is none."""
    anchored: bool = False
    """Whether negatives are compared with the first item of a pair only: triplets of similarity."""


class OutfitNet(nn.Module):
    """Base of the trained models."""

    ordered = False
    """Whether the order of the items counts."""
    semantic_margin = 0.2

    def __init__(self, trunk: "FeatureTrunk", sizes: NetSizes, width: int, semantic_weight: float) -> None:
        super().__init__()
        self.trunk = trunk
        self.sizes = sizes
        self.width = width
        self.semantic_weight = semantic_weight if sizes.n_words else 0.0
        self.texts = nn.EmbeddingBag(sizes.n_words + 1, width, mode="mean", padding_idx=0) if sizes.n_words else None
        self.training_progress = 0.0  # how much of the training is done, 0 to 1

    def embed(self, inputs: Tensor, types: Tensor) -> Tensor:
        """(m, ...) inputs of single items and their types to (m, width)."""
        raise NotImplementedError

    def score(self, embeddings: Tensor, types: Tensor, mask: Tensor, users: Tensor) -> Tensor:
        """(n, L, width) to (n,); users are -1 where unknown."""
        raise NotImplementedError

    def loss_terms(self, batch: OutfitBatch) -> dict[str, Tensor]:
        """The loss of the model itself, by name."""
        raise NotImplementedError

    def loss(self, batch: OutfitBatch) -> dict[str, Tensor]:
        """All terms, the visual-semantic one among them where there are words."""
        terms = self.loss_terms(batch)
        if self.texts is not None and self.semantic_weight:
            terms["visual-semantic"] = self.semantic_weight * self.visual_semantic_loss(
                batch.item_embeddings, batch.words
            )
        return terms

    def visual_semantic_loss(self, embeddings: Tensor, words: Tensor) -> Tensor:
        """Hinge loss: an item is nearer to its own words than to another item's, and the words nearer to it.

        Items of equal words are no negatives of each other.
        """
        assert self.texts is not None
        has_words = (words > 0).any(dim=1)
        embeddings, words = embeddings[has_words], words[has_words]
        if len(embeddings) < 2:
            return embeddings.sum() * 0.0
        closeness = functional.normalize(embeddings, dim=1) @ functional.normalize(self.texts(words), dim=1).T
        own = closeness.diagonal()
        other = (words[:, None, :] != words[None, :, :]).any(dim=2)
        by_item = functional.relu(self.semantic_margin - own[:, None] + closeness)[other]
        by_words = functional.relu(self.semantic_margin - own[None, :] + closeness)[other]
        count = max(1, by_item.numel())
        return (by_item.sum() + by_words.sum()) / count

    def on_epoch_end(self, embeddings: Tensor) -> None:
        """Called with the embeddings of some training items when an epoch ends."""

    def fit_type_cooccurrence(self, cooccurrence: Tensor) -> None:
        """Called before training with how often types are worn together, (n_types, n_types)."""

    def card_notes(self) -> dict[str, Any]:
        """What a reader of the model's card should know beyond its preset."""
        return {}


def corrupted_outfits(batch: OutfitBatch) -> Tensor:
    """(n, k + 1, L, w): k copies of every outfit with one item replaced, and one with all of them replaced."""
    at = functional.one_hot(batch.swap_positions, batch.negatives.shape[2]).to(torch.bool)[..., None]
    one = torch.where(at, batch.negatives, batch.embeddings[:, None])
    return torch.cat([one, batch.negatives[:, :1]], dim=1)


def score_with_corrupted(batch: OutfitBatch, net: OutfitNet) -> Tensor:
    """(n, k + 2): the scores of each good outfit, first, and of its corrupted copies."""
    embeddings = torch.cat([batch.embeddings[:, None], corrupted_outfits(batch)], dim=1)
    n, copies = embeddings.shape[:2]

    def each(values: Tensor) -> Tensor:
        return values[:, None].expand(n, copies, *values.shape[1:]).flatten(0, 1)

    scores = net.score(embeddings.flatten(0, 1), each(batch.types), each(batch.mask), each(batch.users))
    return scores.view(n, copies)


def start_as_copy(weight: Tensor) -> None:
    """A layer that at first hands its inputs on: what the features agree in, its outputs agree in too.

    Inputs beyond the outputs are dropped (the strongest come first); more outputs are random turns of the inputs.
    """
    n_out, n_in = weight.shape
    nn.init.eye_(weight) if n_out <= n_in else nn.init.orthogonal_(weight)


def position_pairs(outfits: Tensor) -> tuple[Tensor, Tensor]:
    """All pairs of places of an outfit, (n, L, ...)."""
    first, second = torch.triu_indices(outfits.shape[1], outfits.shape[1], 1, device=outfits.device)
    return first, second


def masked_mean(values: Tensor, counted: Tensor) -> Tensor:
    """The mean of the counted values of every row; 0 where none counts."""
    return (values * counted).sum(dim=1) / counted.sum(dim=1).clamp(min=1)
