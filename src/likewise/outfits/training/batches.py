"""Batches of training: outfits, their negatives, and the embeddings of all items in them, each computed once."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from likewise.encoders.networks.device import to_device
from likewise.outfits.models.batch import Indices, StoredOutfits
from likewise.outfits.models.inputs import InputTable
from likewise.outfits.models.net import OutfitBatch, OutfitNet
from likewise.outfits.training.negatives import NegativeSampler
from likewise.outfits.training.triplets import TripletNegatives


@dataclass(frozen=True)
class OutfitArrays:
    """Training data as arrays: one row per item, one line per outfit."""

    inputs: InputTable
    types: Indices
    words: Indices
    outfits: StoredOutfits
    users: Indices
    negatives: NegativeSampler | TripletNegatives


def iterate_batches(
    net: OutfitNet, arrays: OutfitArrays, batch_size: int, n_negatives: int, rng: np.random.Generator
) -> Iterator[OutfitBatch]:
    """All outfits once, in a random order."""
    for lines in shuffled_lines(arrays, batch_size, rng):
        yield make_batch(net, arrays, lines, n_negatives, rng)


def shuffled_lines(arrays: OutfitArrays, batch_size: int, rng: np.random.Generator) -> list[Indices]:
    """The outfits of every batch, all of them once."""
    order = rng.permutation(len(arrays.outfits))
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def make_batch(
    net: OutfitNet, arrays: OutfitArrays, lines: Indices, n_negatives: int, rng: np.random.Generator
) -> OutfitBatch:
    """One batch; the draws come from `rng` in a fixed order."""
    outfits = arrays.outfits.select(lines)
    drawn = arrays.negatives.sample(outfits, n_negatives, rng)
    length = outfits.mask.sum(axis=1)
    swaps = np.floor(rng.random((len(lines), n_negatives)) * length[:, None]).astype(np.int64)
    rows = np.concatenate([outfits.indices[:, None], drawn], axis=1)
    different, place = np.unique(np.where(rows < 0, rows.max(), rows), return_inverse=True)
    embeddings = net.embed(arrays.inputs.on_device(different), to_device(arrays.types[different]))
    mask = to_device(outfits.mask)
    gathered = embeddings[to_device(place.reshape(rows.shape))] * mask[:, None, :, None]
    good, which = np.unique(outfits.indices[outfits.mask], return_inverse=True)
    places = np.zeros(outfits.indices.shape, dtype=np.int64)
    places[outfits.mask] = which
    return OutfitBatch(
        gathered[:, 0],
        gathered[:, 1:],
        to_device(outfits.types),
        mask,
        to_device(arrays.users[lines]),
        to_device(swaps),
        embeddings[to_device(np.searchsorted(different, good))],
        to_device(places),
        to_device(arrays.words[good]),
        arrays.negatives.anchored,
    )
