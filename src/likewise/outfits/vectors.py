"""Vectors of the pictures that outfits are made of, looked up by image key; those of a workspace stay on disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from likewise.encoders.storage.reading import VectorLocations

MAX_VALUES_IN_MEMORY = 2**27  # 512 MB of float32


@dataclass(frozen=True, eq=False)
class VectorsOnDisk:
    """The vectors of a workspace as an array whose rows are read when they are asked for."""

    workspace: WorkspaceFolder
    encoder: str
    places: "VectorLocations"

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.places.images), self.places.dim

    def __getitem__(self, rows: NDArray[np.int64]) -> Vectors:
        from likewise.encoders.storage.reading import read_locations

        return read_locations(self.workspace, self.encoder, self.places.select(rows))


@dataclass(frozen=True)
class VectorLookup:
    """One row per image; `encoder` is the spec string that made them."""

    encoder: str
    images: tuple[str, ...]
    vectors: Vectors | VectorsOnDisk

    @cached_property
    def _row(self) -> dict[str, int]:
        return {image: row for row, image in enumerate(self.images)}

    def __contains__(self, image: str) -> bool:
        return image in self._row

    @property
    def dim(self) -> int:
        return int(self.vectors.shape[1])

    def indices(self, images: Sequence[str]) -> NDArray[np.int64]:
        """The row number of each image."""
        try:
            return np.array([self._row[image] for image in images], dtype=np.int64)
        except KeyError as error:
            raise LikewiseError(
                f"there is no {self.encoder} vector of {error.args[0]}: encode the catalog that holds it first."
            ) from error

    def lookup(self, images: Sequence[str]) -> Vectors:
        """The vectors of `images`, in their order."""
        return np.asarray(self.vectors[self.indices(images)], dtype=np.float32)


def read_image_vectors(workspace: WorkspaceFolder, encoder: str) -> VectorLookup:
    """All vectors of an encoder in a workspace: in memory where they are few, else read as they are asked for."""
    from likewise.encoders.storage.reading import encoded_images, locate_vectors, read_locations

    images = encoded_images(workspace, encoder)
    places = locate_vectors(workspace, encoder, images)
    if len(images) * places.dim > MAX_VALUES_IN_MEMORY:
        return VectorLookup(encoder, tuple(images), VectorsOnDisk(workspace, encoder, places))
    return VectorLookup(encoder, tuple(images), read_locations(workspace, encoder, places))
