"""What enters the first layer: rows of a table of vectors, or pictures decoded to one size, by image key."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from likewise.catalog.images import load_image
from likewise.outfits.models.feature_source import FeatureSource, joined_vectors
from likewise.outfits.models.trunk import trainable_encoder, uses_vectors


@dataclass(frozen=True)
class ModelInputs:
    """One row per image, in the order asked for."""

    images: tuple[str, ...]
    table: Tensor


def read_inputs(features: FeatureSource, trunk: str, encoders: str, images: Sequence[str]) -> ModelInputs:
    """The vectors of `images` for a model over vectors, their pictures for one that is trained whole."""
    if uses_vectors(trunk):
        return ModelInputs(tuple(images), torch.from_numpy(joined_vectors(features, encoders).lookup(images)))
    encoder = trainable_encoder(trunk)
    pictures = [encoder.prepare(load_image(features.image_path(image), at_least=encoder.pixels)) for image in images]
    return ModelInputs(tuple(images), torch.from_numpy(np.stack(pictures)))


def unique_rows(table: Tensor) -> tuple[Tensor, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The different rows of a table and, for each row, which of them it is: equal inputs get exactly equal scores."""
    flat = np.ascontiguousarray(table.numpy().reshape(len(table), -1))
    keys = flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1])))[:, 0]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # in the order of their first appearance
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return table[torch.from_numpy(first[order])], place[inverse]
