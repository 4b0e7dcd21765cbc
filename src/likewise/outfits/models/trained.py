"""A trained network as a model: outfits and questions in, scores out; it looks at every item once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import torch
from torch import Tensor

from likewise.outfits.models.batch import UNKNOWN_TYPE, Padded, Rows, in_type_order, item_keys, pad
from likewise.outfits.models.bi_lstm import BiLstm
from likewise.outfits.models.card import Card, read_arrays, weights_file
from likewise.outfits.models.inputs import distinct, read_inputs
from likewise.outfits.models.net import OutfitNet, Shape
from likewise.outfits.models.networks import NETWORKS
from likewise.outfits.models.sight import Sight
from likewise.outfits.models.trunk import make_trunk
from likewise.outfits.protocol import Floats, Item, Outfit, Question, answer_by_score

OUTFITS_AT_ONCE = 512
ITEMS_AT_ONCE = 256


def make_net(card: Card) -> OutfitNet:
    """The network that a card describes, with fresh weights."""
    shape = Shape(card.n_inputs, len(card.types), card.n_users, len(card.vocabulary))
    return NETWORKS[card.kind](make_trunk(card.trunk, card.n_inputs, card.n_said), shape, **card.settings)


def load_net(card: Card, folder: Path, epoch: int | None = None) -> OutfitNet:
    """The network with its stored weights, ready to score."""
    net = make_net(card)
    stored = read_arrays(weights_file(folder, epoch))
    net.load_state_dict({name: torch.from_numpy(array) for name, array in stored.items()})
    return net.eval()


@dataclass(frozen=True)
class Shown:
    """The looks of the items at hand: (m, width), the row of each image and the type of each row."""

    looks: Tensor
    row: dict[str, int]
    types: Rows


@dataclass(frozen=True)
class Trained:
    """A network, its card, where it looks, and the items it was trained on."""

    card: Card
    net: OutfitNet
    sight: Sight
    seen: pl.DataFrame | None = None

    @property
    def name(self) -> str:
        return self.card.name

    @torch.inference_mode()
    def score(self, outfits: Sequence[Outfit], user: int = -1) -> Floats:
        """One number per outfit; `user` is a number of training's users, unknown by default."""
        if not outfits:
            return np.zeros(0)
        shown = self.see(item_keys(outfits))
        padded = pad([[shown.row[item.image] for item in outfit.items] for outfit in outfits], shown.types)
        if not self.net.ordered:
            padded = in_type_order(padded)
        lines, back = np.unique(np.concatenate([padded.rows, padded.types], axis=1), axis=0, return_inverse=True)
        width = padded.rows.shape[1]
        different = Padded(lines[:, :width], lines[:, width:])
        return score_padded(self.net, shown.looks, different, user)[back.reshape(-1)]

    @torch.inference_mode()
    def answer(self, questions: Sequence[Question]) -> Floats:
        """The Bi-LSTM guesses what stands in the blank; all others score the outfit with every choice in it."""
        if not isinstance(self.net, BiLstm):
            return answer_by_score(self, questions)
        shown = self.see({item.image: item.category for q in questions for item in (*q.items, *q.choices)})
        alike: dict[tuple[int, ...], list[int]] = {}
        for number, question in enumerate(questions):
            alike.setdefault(tuple(len(part) for part in _parts(question)), []).append(number)
        scores = np.full((len(questions), max((len(q.choices) for q in questions), default=0)), np.nan)
        for (*_, n_choices), numbers in alike.items():
            for start in range(0, len(numbers), OUTFITS_AT_ONCE):
                some = numbers[start : start + OUTFITS_AT_ONCE]
                parts = zip(*(_parts(questions[number]) for number in some), strict=True)
                looks = [self._looks(shown, part) for part in parts]
                scores[some, :n_choices] = self.net.fill(*looks).double().numpy()
        return scores

    def _looks(self, shown: "Shown", lines: Sequence[Sequence[Item]]) -> Tensor:
        """(n, items per line, width)"""
        rows = [[shown.row[item.image] for item in line] for line in lines]
        return shown.looks[torch.tensor(rows, dtype=torch.long)]

    def see(self, items: dict[str, str]) -> Shown:
        """Look at every item once; items of equal input and type become one row."""
        images = sorted(items)
        inputs = read_inputs(self.sight, self.card.trunk, self.card.encoders, images)
        different, which = distinct(inputs.table)
        number = {name: place for place, name in enumerate(self.card.types)}
        kinds = np.array([number.get(items[image], UNKNOWN_TYPE) for image in images], dtype=np.int64)
        rows, row = np.unique(np.stack([which, kinds], axis=1), axis=0, return_inverse=True)
        looks = look_at(self.net, different[torch.from_numpy(rows[:, 0].copy())], rows[:, 1])
        return Shown(looks, dict(zip(images, row.reshape(-1).tolist(), strict=True)), rows[:, 1])


def _parts(question: Question) -> tuple[Sequence[Item], ...]:
    return question.items[: question.blank], question.items[question.blank :], question.choices


def look_at(net: OutfitNet, inputs: Tensor, types: Rows) -> Tensor:
    """The looks of single items, in batches."""
    kinds = torch.from_numpy(np.ascontiguousarray(types))
    parts = [
        net.look(inputs[start : start + ITEMS_AT_ONCE], kinds[start : start + ITEMS_AT_ONCE])
        for start in range(0, len(inputs), ITEMS_AT_ONCE)
    ]
    return torch.cat(parts)


def score_padded(net: OutfitNet, looks: Tensor, outfits: Padded, user: int = -1) -> Floats:
    """Scores of outfits given as rows of `looks`."""
    scores = []
    for start in range(0, len(outfits), OUTFITS_AT_ONCE):
        part = outfits.take(slice(start, start + OUTFITS_AT_ONCE))
        there = torch.from_numpy(part.there)
        chosen = looks[torch.from_numpy(part.rows).clamp(min=0)] * there[..., None]
        users = torch.full((len(part),), user, dtype=torch.long)
        scores.append(net.match(chosen, torch.from_numpy(part.types), there, users))
    return torch.cat(scores).double().numpy()
