"""Vectors of the pictures that outfits are made of, looked up by image key."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class VectorLookup:
    """One row per image; `encoder` is the spec string that made them."""

    encoder: str
    images: tuple[str, ...]
    vectors: Vectors

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
    """All vectors of an encoder in a workspace."""
    from likewise.encoders.storage.reading import encoded_images, read_vectors

    images = encoded_images(workspace, encoder)
    return VectorLookup(encoder, tuple(images), read_vectors(workspace, encoder, images))
