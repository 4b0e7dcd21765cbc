"""A trained network as a model: outfits and questions in, scores out; every item is embedded once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from likewise.encoders.networks.device import move_to_device, to_device, to_numpy
from likewise.lineage.record import Lineage
from likewise.outfits.models.batch import (
    UNKNOWN_TYPE,
    Indices,
    PaddedOutfits,
    category_by_image,
    pad_outfits,
    sort_by_type,
)
from likewise.outfits.models.bi_lstm import BiLstm
from likewise.outfits.models.card import OutfitModelCard, read_arrays, weights_file
from likewise.outfits.models.feature_source import FeatureSource
from likewise.outfits.models.inputs import InputTable, read_inputs, unique_rows
from likewise.outfits.models.net import NetSizes, OutfitNet
from likewise.outfits.models.networks import NETWORKS
from likewise.outfits.models.trunk import make_trunk
from likewise.outfits.protocol import Floats, Item, Outfit, OutfitQuestion, answer_by_score

OUTFIT_BATCH_SIZE = 512
ITEM_BATCH_SIZE = 256


def make_outfit_net(card: OutfitModelCard) -> OutfitNet:
    """The network that a card describes, with fresh weights."""
    sizes = NetSizes(card.n_inputs, len(card.types), card.n_users, len(card.vocabulary))
    return NETWORKS[card.kind](make_trunk(card.trunk, card.n_inputs, card.n_caption_words), sizes, **card.settings)


def load_net(card: OutfitModelCard, folder: Path, epoch: int | None = None) -> OutfitNet:
    """The network with its stored weights, ready to score."""
    net = make_outfit_net(card)
    stored = read_arrays(weights_file(folder, epoch))
    net.load_state_dict({name: torch.from_numpy(array) for name, array in stored.items()})
    return move_to_device(net.eval())


@dataclass(frozen=True)
class EmbeddedItems:
    """The embeddings of the items at hand: (m, width), the row of each image and the type of each row."""

    embeddings: Tensor
    row: dict[str, int]
    types: Indices


@dataclass(frozen=True)
class TrainedOutfitModel:
    """A network, its card, where its inputs come from, and what it learned from."""

    card: OutfitModelCard
    net: OutfitNet
    features: FeatureSource
    lineage: Lineage | None = None

    @property
    def name(self) -> str:
        return self.card.name

    @torch.inference_mode()
    def score(self, outfits: Sequence[Outfit], user: int = -1) -> Floats:
        """One number per outfit; `user` is a number of training's users, unknown by default."""
        if not outfits:
            return np.zeros(0)
        embedded = self.embed_items(category_by_image(outfits))
        padded = pad_outfits(
            [[embedded.row[item.image] for item in outfit.items] for outfit in outfits], embedded.types
        )
        if not self.net.ordered:
            padded = sort_by_type(padded)
        lines, back = np.unique(np.concatenate([padded.indices, padded.types], axis=1), axis=0, return_inverse=True)
        width = padded.indices.shape[1]
        different = PaddedOutfits(lines[:, :width], lines[:, width:])
        return score_padded(self.net, embedded.embeddings, different, user)[back.reshape(-1)]

    @torch.inference_mode()
    def answer(self, questions: Sequence[OutfitQuestion]) -> Floats:
        """The Bi-LSTM guesses what stands in the blank; all others score the outfit with every choice in it."""
        if not isinstance(self.net, BiLstm):
            return answer_by_score(self, questions)
        embedded = self.embed_items({item.image: item.category for q in questions for item in (*q.items, *q.choices)})
        alike: dict[tuple[int, ...], list[int]] = {}
        for number, question in enumerate(questions):
            alike.setdefault(tuple(len(part) for part in _parts(question)), []).append(number)
        scores = np.full((len(questions), max((len(q.choices) for q in questions), default=0)), np.nan)
        for (*_, n_choices), numbers in alike.items():
            for start in range(0, len(numbers), OUTFIT_BATCH_SIZE):
                some = numbers[start : start + OUTFIT_BATCH_SIZE]
                parts = zip(*(_parts(questions[number]) for number in some), strict=True)
                embeddings = [self._gather(embedded, part) for part in parts]
                scores[some, :n_choices] = to_numpy(self.net.fill_blank(*embeddings)).astype(np.float64)
        return scores

    def _gather(self, embedded: "EmbeddedItems", lines: Sequence[Sequence[Item]]) -> Tensor:
        """(n, items per line, width)"""
        rows = [[embedded.row[item.image] for item in line] for line in lines]
        return embedded.embeddings[to_device(np.array(rows, np.int64))]

    def embed_items(self, items: dict[str, str]) -> EmbeddedItems:
        """Embed every item once; items of equal input and type become one row."""
        images = sorted(items)
        inputs = read_inputs(self.features, self.card.trunk, self.card.encoders, images)
        different, which = unique_rows(inputs)
        number = {name: place for place, name in enumerate(self.card.types)}
        type_ids = np.array([number.get(items[image], UNKNOWN_TYPE) for image in images], dtype=np.int64)
        rows, row = np.unique(np.stack([which, type_ids], axis=1), axis=0, return_inverse=True)
        embeddings = embed_in_batches(self.net, different.select(rows[:, 0]), rows[:, 1])
        return EmbeddedItems(embeddings, dict(zip(images, row.reshape(-1).tolist(), strict=True)), rows[:, 1])


def _parts(question: OutfitQuestion) -> tuple[Sequence[Item], ...]:
    return question.items[: question.blank], question.items[question.blank :], question.choices


def embed_in_batches(net: OutfitNet, inputs: InputTable, types: Indices) -> Tensor:
    """The embeddings of single items, in batches."""
    starts = range(0, len(inputs), ITEM_BATCH_SIZE)
    blocks = [slice(start, start + ITEM_BATCH_SIZE) for start in starts]
    parts = [net.embed(inputs.on_device(block), to_device(types[block])) for block in blocks]
    return torch.cat(parts)


def score_padded(net: OutfitNet, embeddings: Tensor, outfits: PaddedOutfits, user: int = -1) -> Floats:
    """Scores of outfits given as rows of `embeddings`."""
    scores = []
    for start in range(0, len(outfits), OUTFIT_BATCH_SIZE):
        part = outfits.select(slice(start, start + OUTFIT_BATCH_SIZE))
        mask = to_device(part.mask)
        chosen = embeddings[to_device(part.indices).clamp(min=0)] * mask[..., None]
        users = to_device(np.full(len(part), user))
        scores.append(net.score(chosen, to_device(part.types), mask, users))
    return to_numpy(torch.cat(scores)).astype(np.float64)
