"""Training the baseline `popular`: counting, kept in the same folder as the networks are."""

from pathlib import Path

import numpy as np

from likewise.lineage.files import lineage_file, write_lineage
from likewise.outfits.models.card import (
    Arrays,
    OutfitModelCard,
    OutfitTrainingSummary,
    weights_file,
    write_arrays,
    write_model_card,
)
from likewise.outfits.models.feature_source import FeatureSource, joined_vectors, joined_version
from likewise.outfits.models.popular import count_items
from likewise.outfits.training.examples import OutfitExamples


def train_popularity(
    name: str, encoders: str, examples: OutfitExamples, features: FeatureSource, folder: Path
) -> OutfitModelCard:
    """Count how often every item is worn."""
    counted = count_items(examples.train, joined_vectors(features, encoders))
    types = tuple(sorted(set(counted.categories)))
    numbers = np.array([types.index(category) for category in counted.categories], dtype=np.int64)
    arrays: Arrays = {"types": numbers, "counts": counted.counts, "vectors": counted.vectors}
    write_arrays(arrays, weights_file(folder))
    lesson = examples.lesson()
    write_lineage(features.lineage(encoders).with_lesson(lesson), lineage_file(folder))
    card = OutfitModelCard(
        name,
        "popular",
        encoders=encoders,
        versions=joined_version(encoders),
        n_inputs=int(counted.vectors.shape[1]),
        types=types,
        visual_semantic="off, for it counts",
        training=OutfitTrainingSummary(
            n_outfits=len(examples.train), n_items=lesson.examples.images["item"].n_unique()
        ),
    )
    write_model_card(card, folder)
    return card
