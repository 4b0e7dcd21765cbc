"""A tiny world for tests of models: items are random vectors, and outfits go together as the test says."""

from pathlib import Path

import numpy as np

from likewise.outfits.models import GivenSight
from likewise.outfits.models.card import Card
from likewise.outfits.protocol import Item, Outfit
from likewise.outfits.training.examples import Examples
from likewise.outfits.training.presets import Preset
from likewise.outfits.training.trainer import Job, train
from likewise.outfits.vectors import ItemVectors

CATEGORIES = ("tops", "pants", "shoes", "bags", "hats")
PER_CATEGORY = 12
DIM = 64
ITEMS = [Item(f"{c}-{n}", c, f"{c}/{n}.jpg") for c in CATEGORIES for n in range(PER_CATEGORY)]
KINDS = ("bi-lstm", "type-aware", "sce-net", "fhn", "ngnn", "set-transformer")


def sight() -> GivenSight:
    rows = np.random.default_rng(3).normal(size=(len(ITEMS), DIM))
    unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return GivenSight({"toy": ItemVectors("toy", tuple(item.image for item in ITEMS), unit)})


def outfit(number: int, length: int = 4) -> Outfit:
    """Items number `number` of the first categories."""
    return Outfit(f"outfit-{number}", tuple(ITEMS[c * PER_CATEGORY + number] for c in range(length)))


def ten_outfits() -> tuple[Outfit, ...]:
    return tuple(outfit(number, 3 + number % 3) for number in range(10))


def examples(users: tuple[str, ...] = (), captions: dict[str, str] | None = None) -> Examples:
    """Ten outfits to learn, the same ten to choose the epoch by."""
    return Examples(ten_outfits(), ten_outfits(), users, captions or {}, {})


def job(kind: str, epochs: int, **changes: object) -> Job:
    preset = Preset(24, epochs=epochs, batch=10, others=3, learning_rate=5e-3, weight_decay=0.0)
    return Job(kind, kind, preset.changed(**changes), "toy")


def trained(kind: str, folder: Path, epochs: int = 2, users: tuple[str, ...] = ()) -> Card:
    return train(job(kind, epochs), examples(users), sight(), folder)
