"""Bi-LSTM (Han et al., ACM Multimedia 2017): an outfit is read like a sentence, forth and back.

Items in their given order enter two LSTMs; the state after items 1..t is compared by dot product with candidates
for item t+1, and likewise backwards; softmax over the candidates. In training these are all items of the batch,
and others of the item's type; an outfit's score compares each item with a bank of training items instead. A blank
is filled by the mean of both directions' log-probabilities among the choices, by one direction alone at either
end. Visual-semantic margin 0.2.
"""

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from likewise.outfits.models.net import NetSizes, OutfitBatch, OutfitNet, start_as_copy

if TYPE_CHECKING:
    from likewise.outfits.models.trunk import FeatureTrunk

BANK_SIZE = 256
OPEN = 3.0  # the bias of an open gate: sigmoid(3) = 0.95
READING_SCALE, NOISE = 0.3, 0.1


class BiLstm(OutfitNet):
    """The only model here for which the order of the items counts."""

    ordered = True
    bank: Tensor

    def __init__(self, trunk: "FeatureTrunk", sizes: NetSizes, width: int = 512, semantic_weight: float = 1.0) -> None:
        super().__init__(trunk, sizes, width, semantic_weight)
        self.first = nn.Linear(trunk.n_features, width)
        start_as_copy(self.first.weight)
        self.forth = nn.LSTM(width, width, batch_first=True)
        self.back = nn.LSTM(width, width, batch_first=True)
        for reader in (self.forth, self.back):
            initialize_as_sum(reader)
        self.register_buffer("bank", torch.zeros(BANK_SIZE, width))

    def embed(self, inputs: Tensor, types: Tensor) -> Tensor:
        embeddings: Tensor = self.first(self.trunk(inputs))
        return embeddings

    def predictions(self, embeddings: Tensor, mask: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
        """For both directions: the states that guess, (n, L - 1, w), the places they guess, and which count."""
        turned = reverse_positions(mask)
        found = []
        for reader, order in (
            (self.forth, torch.arange(mask.shape[1], device=mask.device).expand_as(turned)),
            (self.back, turned),
        ):
            read = embeddings.gather(1, order[..., None].expand_as(embeddings))
            states, _ = reader(read)
            found.append((states[:, :-1], order[:, 1:], mask[:, 1:]))  # both lie to the left of the padding
        return found

    def score(self, embeddings: Tensor, types: Tensor, mask: Tensor, users: Tensor) -> Tensor:
        total = count = torch.zeros(len(embeddings), device=embeddings.device)
        for states, positions, counts in self.predictions(embeddings, mask):
            target = embeddings.gather(1, positions[..., None].expand(-1, -1, self.width))
            own = (states * target).sum(dim=2) * self.scale
            logits = torch.cat([own[..., None], states @ self.bank.T * self.scale], dim=2)
            total = total + ((own - logits.logsumexp(dim=2)) * counts).sum(dim=1)
            count = count + counts.sum(dim=1)
        return total / count.clamp(min=1)

    def fill_blank(self, before: Tensor, after: Tensor, choices: Tensor) -> Tensor:
        """(n, k) for n blanks with b items before each, (n, b, w), a items after it, and k choices, (n, k, w)."""
        directions = []
        for reader, items in ((self.forth, before), (self.back, after.flip(1))):
            if items.shape[1]:
                _, (state, _) = reader(items)
                logits = (choices * state[0][:, None]).sum(dim=2) * self.scale  # equal choices, equal numbers
                directions.append(logits.log_softmax(dim=1))
        return (
            torch.stack(directions).mean(dim=0) if directions else torch.zeros(choices.shape[:2], device=choices.device)
        )

    def loss_terms(self, batch: OutfitBatch) -> dict[str, Tensor]:
        losses = {}
        for name, (states, positions, counts) in zip(
            ("forward", "backward"), self.predictions(batch.embeddings, batch.mask), strict=True
        ):
            logits = states @ batch.item_embeddings.T * self.scale
            target = batch.item_indices.gather(1, positions)
            at = positions[:, None, :, None].expand(-1, batch.negatives.shape[1], -1, self.width)
            same_type = (batch.negatives.gather(2, at) * states[:, None]).sum(dim=3) * self.scale
            every = torch.cat([logits, same_type.transpose(1, 2)], dim=2)
            own = logits.gather(2, target[..., None])[..., 0]
            losses[name] = (every.logsumexp(dim=2) - own)[counts].mean()
        return losses

    def on_epoch_end(self, embeddings: Tensor) -> None:
        repeated = embeddings.repeat(math.ceil(BANK_SIZE / len(embeddings)), 1)
        self.bank.copy_(repeated[:BANK_SIZE])

    @property
    def scale(self) -> float:
        return 1.0 / math.sqrt(self.width)


def initialize_as_sum(reader: nn.LSTM) -> None:
    """An LSTM that at first adds up what it reads: gates open, nothing forgotten, so its guess is what agrees with all.

    Started at random, it learns outfits by heart from the few thousands that a shop has.
    """
    width, weights = reader.hidden_size, dict(reader.named_parameters())
    with torch.no_grad():
        for name in ("weight_ih_l0", "weight_hh_l0"):
            weights[name].mul_(NOISE)
        weights["weight_ih_l0"][2 * width : 3 * width] += READING_SCALE * torch.eye(width, reader.input_size)
        weights["bias_hh_l0"].zero_()
        weights["bias_ih_l0"].fill_(OPEN)
        weights["bias_ih_l0"][2 * width : 3 * width] = 0.0


def reverse_positions(mask: Tensor) -> Tensor:
    """(n, L): the places of every outfit from its last item to its first; padding stays where it is."""
    length = mask.sum(dim=1, keepdim=True)
    positions = torch.arange(mask.shape[1], device=mask.device).expand(mask.shape)
    return torch.where(mask, length - 1 - positions, positions)
