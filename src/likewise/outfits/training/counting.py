"""Training the baseline `popular`: counting, kept in the same folder as the networks are."""

from pathlib import Path

import numpy as np

from likewise.outfits.models.card import Arrays, Card, weights_file, write_arrays, write_card
from likewise.outfits.models.popular import count
from likewise.outfits.models.sight import Sight, joined_vectors, joined_version
from likewise.outfits.training.examples import Examples
from likewise.workspace import write_parquet


def train_popular(name: str, encoders: str, examples: Examples, sight: Sight, folder: Path) -> Card:
    """Count how often every item is worn."""
    counted = count(examples.train, joined_vectors(sight, encoders))
    types = tuple(sorted(set(counted.categories)))
    numbers = np.array([types.index(category) for category in counted.categories], dtype=np.int64)
    arrays: Arrays = {"types": numbers, "counts": counted.counts, "vectors": counted.vectors}
    write_arrays(arrays, weights_file(folder))
    seen = examples.seen()
    write_parquet(seen, folder / "seen.parquet")
    card = Card(
        name,
        "popular",
        encoders=encoders,
        versions=joined_version(encoders),
        n_inputs=int(counted.vectors.shape[1]),
        types=types,
        visual_semantic="off, for it counts",
        trained={"n_outfits": len(examples.train), "n_items": seen["item"].n_unique()},
    )
    write_card(card, folder)
    return card
