"""How good an epoch is on outfits that training did not show: blanks filled right, and the model's own loss."""

from collections import Counter

import numpy as np
import torch

from likewise.outfits.models.batch import UNKNOWN_TYPE, StoredOutfits, category_by_image
from likewise.outfits.models.card import OutfitModelCard
from likewise.outfits.models.feature_source import FeatureSource
from likewise.outfits.models.inputs import read_inputs
from likewise.outfits.models.net import OutfitNet
from likewise.outfits.protocol import OutfitModel, OutfitQuestion, best_choices
from likewise.outfits.training.batches import OutfitArrays, iterate_batches
from likewise.outfits.training.examples import OutfitExamples
from likewise.outfits.training.negatives import NegativeSampler
from likewise.outfits.training.presets import Preset
from likewise.outfits.training.triplets import TripletExamples

ACCURACY, LOSS = "validation accuracy", "validation loss"


def fitb_accuracy(model: OutfitModel, questions: list[OutfitQuestion]) -> float:
    """The share of questions whose right choice is picked; tied choices share the credit."""
    picked = best_choices(model.answer(questions))
    right = np.array([question.right for question in questions])
    credit = picked[np.arange(len(right)), right] / picked.sum(axis=1)
    return float(credit.mean())


def validation_arrays(card: OutfitModelCard, examples: OutfitExamples, features: FeatureSource) -> OutfitArrays | None:
    """The validation outfits as training sees outfits, with random negatives among their items and those of training.

    An outfit that wears all items of some category is left out; None where none is left, and for triplets.
    """
    if isinstance(examples, TripletExamples):
        return None
    items = category_by_image(examples.train) | category_by_image(examples.valid)
    size = Counter(items.values())
    outfits = [
        outfit
        for outfit in examples.valid
        if all(size[name] > n for name, n in Counter(item.category for item in outfit.items).items())
    ]
    if not outfits:
        return None
    images = sorted(items)
    number = {name: place for place, name in enumerate(card.types)}
    types = np.array([number.get(items[image], UNKNOWN_TYPE) for image in images], dtype=np.int64)
    row = {image: place for place, image in enumerate(images)}
    stored = StoredOutfits.from_outfits(outfits, row, types)
    return OutfitArrays(
        read_inputs(features, card.trunk, card.encoders, images),
        types,
        np.zeros((len(images), 1), dtype=np.int64),
        stored,
        np.full(len(stored), -1, dtype=np.int64),
        NegativeSampler(types, card.types),
    )


@torch.inference_mode()
def validation_loss(net: OutfitNet, arrays: OutfitArrays, preset: Preset, seed: int) -> float:
    """The mean of the model's own loss over the validation outfits; every epoch meets the same negatives."""
    net.eval()
    total = 0.0
    rng = np.random.default_rng([seed, 29])
    for batch in iterate_batches(net, arrays, preset.batch_size, preset.n_negatives, rng):
        total += len(batch.types) * float(torch.stack(list(net.loss_terms(batch).values())).sum())
    return total / len(arrays.outfits)
