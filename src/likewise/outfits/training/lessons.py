"""Batches of training: outfits, their negatives, and the looks of all items in them, each looked at once."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from likewise.outfits.models.batch import Padded, Rows
from likewise.outfits.models.net import Lesson, OutfitNet
from likewise.outfits.training.negatives import Negatives


@dataclass(frozen=True)
class Material:
    """Training data as arrays: one row per item, one line per outfit."""

    inputs: Tensor
    types: Rows
    words: Rows
    outfits: Padded
    users: Rows
    negatives: Negatives


def lessons(net: OutfitNet, material: Material, batch: int, others: int, rng: np.random.Generator) -> Iterator[Lesson]:
    """All outfits once, in a random order."""
    order = rng.permutation(len(material.outfits))
    for start in range(0, len(order), batch):
        yield make_lesson(net, material, order[start : start + batch], others, rng)


def make_lesson(net: OutfitNet, material: Material, lines: Rows, others: int, rng: np.random.Generator) -> Lesson:
    """One batch; the draws come from `rng` in a fixed order."""
    outfits = material.outfits.take(lines)
    drawn = material.negatives.draw(outfits, others, rng)
    length = outfits.there.sum(axis=1)
    swaps = np.floor(rng.random((len(lines), others)) * length[:, None]).astype(np.int64)
    rows = np.concatenate([outfits.rows[:, None], drawn], axis=1)
    different, place = np.unique(np.where(rows < 0, rows.max(), rows), return_inverse=True)
    looks = net.look(material.inputs[torch.from_numpy(different)], torch.from_numpy(material.types[different]))
    there = torch.from_numpy(outfits.there)
    placed = looks[torch.from_numpy(place.reshape(rows.shape))] * there[:, None, :, None]
    good, which = np.unique(outfits.rows[outfits.there], return_inverse=True)
    places = np.zeros(outfits.rows.shape, dtype=np.int64)
    places[outfits.there] = which
    return Lesson(
        placed[:, 0],
        placed[:, 1:],
        torch.from_numpy(outfits.types),
        there,
        torch.from_numpy(material.users[lines]),
        torch.from_numpy(swaps),
        looks[torch.from_numpy(np.searchsorted(different, good))],
        torch.from_numpy(places),
        torch.from_numpy(material.words[good]),
    )
