"""What enters the first layer: rows of a table of vectors, or pictures decoded to one size, by image key."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from likewise.encoders.networks.device import to_device
from likewise.encoders.running.picture_reader import PictureReader, read_prepared
from likewise.outfits.models.feature_source import FeatureSource, joined_vectors
from likewise.outfits.models.trunk import trainable_encoder, uses_vectors
from likewise.outfits.vectors import VectorsOnDisk

HASHED_AT_ONCE = 256


@dataclass(frozen=True)
class InputTable:
    """One row per image; `rows` says which rows of the source: vectors in memory or on disk, or pictures on disk."""

    source: NDArray[np.float32] | VectorsOnDisk | PictureReader
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, rows: NDArray[np.int64]) -> "InputTable":
        return InputTable(self.source, self.rows[rows])

    def read(self, rows: NDArray[np.int64] | slice) -> NDArray[np.generic]:
        return self.source[self.rows[rows]]

    def on_device(self, rows: NDArray[np.int64] | slice) -> Tensor:
        """Rows as the network wants them."""
        values: Tensor = to_device(self.read(rows))
        return values

    @property
    def dim(self) -> int:
        """Of vectors; pictures have none."""
        return 0 if isinstance(self.source, PictureReader) else int(self.source.shape[1])

    @property
    def vectors(self) -> Tensor:
        """All of them, in memory; of pictures there are none."""
        if isinstance(self.source, PictureReader):
            return torch.zeros(len(self), 0)
        return torch.from_numpy(np.asarray(self.source[self.rows], np.float32))


def read_inputs(features: FeatureSource, trunk: str, encoders: str, images: Sequence[str]) -> InputTable:
    """The vectors of `images` for a model over vectors, their pictures for one that is trained whole."""
    if uses_vectors(trunk):
        known = joined_vectors(features, encoders)
        return InputTable(known.vectors, known.indices(images))
    paths = [str(features.image_path(image)) for image in images]
    read = partial(read_prepared, Path(), trainable_encoder(trunk).recipe)
    return InputTable(PictureReader(paths, read), np.arange(len(images)))


def unique_rows(table: InputTable) -> tuple[InputTable, NDArray[np.int64]]:
    """The different rows of a table and, for each row, which of them it is: equal inputs get exactly equal scores."""
    number: dict[bytes, int] = {}
    first: list[int] = []
    which = np.empty(len(table), np.int64)
    for start in range(0, len(table), HASHED_AT_ONCE):
        for row, values in enumerate(table.read(slice(start, start + HASHED_AT_ONCE)), start):
            key = hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=16).digest()
            if key not in number:
                number[key] = len(first)
                first.append(row)
            which[row] = number[key]
    return table.select(np.array(first, np.int64)), which
