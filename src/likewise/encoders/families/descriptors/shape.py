"""What outline and inner edges the thing has: oriented edges in cells (HOG, Dalal & Triggs 2005) and a silhouette.

The thing is cut out, centred and scaled first, so position and size do not count; grey values only, and edges
are normalised within each block, so colour and contrast hardly do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.families.descriptors.fitted_image import Descriptor, crop_foreground_square
from likewise.encoders.families.descriptors.gradients import oriented_edges
from likewise.encoders.normalization import unit_vector
from likewise.encoders.protocol import Prepared, Vectors

SQUARE = 96
CELLS = 8
DIRECTIONS = 8
SILHOUETTE = 12
SILHOUETTE_WEIGHT = 0.4


@dataclass(frozen=True)
class ShapeDescriptor(Descriptor):
    """Oriented edges in cells, and the silhouette."""

    name: str = "shape"
    version: str = "shape@1"

    @property
    def dim(self) -> int:
        return CELLS * CELLS * DIRECTIONS + SILHOUETTE * SILHOUETTE

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        return np.stack([describe(fitted) for fitted in batch])


def describe(fitted: NDArray[np.uint8]) -> NDArray[np.float32]:
    grey, weight = crop_foreground_square(fitted, SQUARE)
    edges = oriented_edges(grey, DIRECTIONS)
    side = SQUARE // CELLS
    cells = edges.reshape(DIRECTIONS, CELLS, side, CELLS, side).sum(axis=(2, 4))
    hog = np.sqrt(cells / neighbourhood(cells))
    side = SQUARE // SILHOUETTE
    mask = weight.reshape(SILHOUETTE, side, SILHOUETTE, side).mean(axis=(1, 3)) - 0.5
    return unit_vector(np.concatenate([unit_vector(hog), SILHOUETTE_WEIGHT * unit_vector(mask)]))


def neighbourhood(cells: NDArray[np.float32]) -> NDArray[np.float32]:
    """Edge energy around each cell (3 x 3 cells), plus a little so that flat cells stay flat."""
    energy = np.pad(cells.sum(axis=0), 1, mode="edge")
    around = sum(energy[i : i + CELLS, j : j + CELLS] for i in range(3) for j in range(3))
    return np.asarray(around / 9.0 + 0.02 * energy.mean() + 1.0, np.float32)
