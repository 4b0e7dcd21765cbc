"""Where light, dark and colour are: low frequencies of a small Lab thumbnail (as in MPEG-7's colour layout).

Positions are those of the frame, so the same thing on the left and on the right differ; the background counts as
mid-grey, so that its own shade does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.families.descriptors.fitted_image import SIDE, Descriptor
from likewise.encoders.normalization import unit_vector
from likewise.encoders.protocol import Prepared, Vectors

GRID = 16
FREQUENCIES = 8
POWER = 0.8  # below 1: strong low frequencies do not drown the others
KEPT = 28  # of each channel: the diagonals up to frequency sum 6


@dataclass(frozen=True)
class LayoutDescriptor(Descriptor):
    """Low-frequency cosine coefficients of lightness, colour and foreground."""

    name: str = "layout"
    version: str = "layout@1"

    @property
    def dim(self) -> int:
        return 4 * KEPT

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        return np.stack([describe(fitted) for fitted in batch])


def describe(fitted: NDArray[np.uint8]) -> NDArray[np.float32]:
    from scipy.fft import dctn
    from skimage.color import rgb2lab

    block = SIDE // GRID
    thumbnail = fitted.reshape(GRID, block, GRID, block, 4).astype(np.float64).mean(axis=(1, 3))
    lab = rgb2lab(thumbnail[..., :3] / 255.0)
    weight = thumbnail[..., 3] / 255.0
    planes = ((lab[..., 0] - 50.0) / 50.0 * weight, lab[..., 1] / 40.0 * weight, lab[..., 2] / 40.0 * weight)
    channels = np.stack([*planes, weight - 0.5])
    waves = dctn(channels, axes=(1, 2), norm="ortho") / GRID
    kept = waves[:, *low_frequencies()]
    kept[:, 0] *= 0.5  # the overall colour matters less here than where it is
    return unit_vector(np.sign(kept) * np.abs(kept) ** POWER)


def low_frequencies() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row and column of the kept coefficients, lowest first."""
    pairs = sorted((i + j, i, j) for i in range(FREQUENCIES) for j in range(FREQUENCIES))[:KEPT]
    return np.array([i for _, i, _ in pairs]), np.array([j for _, _, j in pairs])
