"""A tiny world for tests of models: items are random vectors, and outfits go together as the test says."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from likewise.outfits.models import InMemoryFeatures
from likewise.outfits.models.batch import StoredOutfits
from likewise.outfits.models.card import OutfitModelCard
from likewise.outfits.protocol import Item, Outfit
from likewise.outfits.training.examples import OutfitExamples
from likewise.outfits.training.presets import Preset
from likewise.outfits.training.trainer import TrainingJob, train_model
from likewise.outfits.vectors import VectorLookup

CATEGORIES = ("tops", "pants", "shoes", "bags", "hats")
PER_CATEGORY = 12
DIM = 64
ITEMS = [Item(f"{c}-{n}", c, f"{c}/{n}.jpg") for c in CATEGORIES for n in range(PER_CATEGORY)]
KINDS = ("bi-lstm", "type-aware", "sce-net", "fhn", "ngnn", "set-transformer")


def toy_features() -> InMemoryFeatures:
    rows = np.random.default_rng(3).normal(size=(len(ITEMS), DIM))
    unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return InMemoryFeatures({"toy": VectorLookup("toy", tuple(item.image for item in ITEMS), unit)})


def stored(lists: list[list[int]], types: NDArray[np.int64]) -> StoredOutfits:
    starts = np.concatenate([[0], np.cumsum([len(line) for line in lists])])
    return StoredOutfits(np.concatenate(lists).astype(np.int32), starts, types)


def outfit(number: int, length: int = 4) -> Outfit:
    """Items number `number` of the first categories."""
    return Outfit(f"outfit-{number}", tuple(ITEMS[c * PER_CATEGORY + number] for c in range(length)))


def ten_outfits() -> tuple[Outfit, ...]:
    return tuple(outfit(number, 3 + number % 3) for number in range(10))


def examples(users: tuple[str, ...] = (), captions: dict[str, str] | None = None) -> OutfitExamples:
    """Ten outfits to learn, the same ten to choose the epoch by."""
    return OutfitExamples(ten_outfits(), ten_outfits(), users, captions or {}, {})


def job(kind: str, epochs: int, **changes: object) -> TrainingJob:
    preset = Preset(24, epochs=epochs, batch_size=10, n_negatives=3, learning_rate=5e-3, weight_decay=0.0)
    return TrainingJob(kind, kind, preset.with_changes(**changes), "toy")


def trained(kind: str, folder: Path, epochs: int = 2, users: tuple[str, ...] = ()) -> OutfitModelCard:
    return train_model(job(kind, epochs), examples(users), toy_features(), folder)


def used_preset(card: OutfitModelCard) -> Preset:
    assert card.training.preset is not None
    return card.training.preset
