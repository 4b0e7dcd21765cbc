"""Which colours the thing has: a soft histogram over a palette spread evenly through CIE Lab.

A pixel votes for all palette colours near its own, h_k = sum_p w_p g(|lab_p - palette_k|); g is a narrow
Gaussian, which tells shades apart, plus a little of a wide one, so that red is still nearer to orange than to
blue.  Square roots make the inner product the Bhattacharyya coefficient of the two histograms.  One histogram
covers the whole thing and one each its upper and lower half.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.families.descriptors.fitted_image import SIDE, Descriptor, foreground_weights
from likewise.encoders.normalization import unit_vector
from likewise.encoders.protocol import Prepared, Vectors

LEVELS = 32  # per RGB channel: every pixel is rounded to one of 32^3 colours whose votes are known in advance
SPACING = 20.0  # of the palette, in Lab units
REACHES = ((0.85, 9.0), (0.15, 30.0))  # share and standard deviation, in Lab units, of the parts of a vote
HALVES = 0.5  # weight of the upper and the lower half beside the whole


@dataclass(frozen=True)
class ColourDescriptor(Descriptor):
    """Soft Lab palette histogram."""

    name: str = "colour"
    version: str = "colour@1"

    @property
    def dim(self) -> int:
        return 3 * len(palette())

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        return np.stack([describe(fitted) for fitted in batch])


def describe(fitted: NDArray[np.uint8]) -> NDArray[np.float32]:
    coarse = fitted[::2, ::2]
    weight = foreground_weights(coarse)
    step = 256 // LEVELS
    levels = (coarse[..., :3] // step).astype(np.int32)
    cells = (levels[..., 0] * LEVELS + levels[..., 1]) * LEVELS + levels[..., 2]
    rows = np.flatnonzero(weight.sum(axis=1) > 0)
    middle = int(rows[0] + rows[-1] + 1) // 2 if len(rows) else SIDE // 4
    upper = histogram(cells[:middle], weight[:middle])
    lower = histogram(cells[middle:], weight[middle:])
    return unit_vector(
        np.concatenate(
            [hellinger(upper + lower), HALVES * hellinger(upper), HALVES * hellinger(lower)], dtype=np.float64
        )
    )


def histogram(cells: NDArray[np.int32], weight: NDArray[np.float32]) -> NDArray[np.float64]:
    """Votes for each palette colour."""
    counts = np.bincount(cells.ravel(), weight.ravel(), minlength=LEVELS**3)
    present = np.flatnonzero(counts)
    # einsum without BLAS: the same sum in the same order on any number of threads
    votes: NDArray[np.float64] = np.einsum("c,ck->k", counts[present], vote_table()[present])
    return votes


def hellinger(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    total = votes.sum()
    return np.sqrt(votes / total) if total > 0 else votes


@cache
def cell_colours() -> NDArray[np.float64]:
    """Lab of the centre of every RGB cell, (LEVELS^3, 3)."""
    from skimage.color import rgb2lab

    centres = (np.arange(LEVELS) + 0.5) / LEVELS
    grid = np.stack(np.meshgrid(centres, centres, centres, indexing="ij"), axis=-1)
    return np.asarray(rgb2lab(grid.reshape(1, -1, 3))[0], np.float64)


@cache
def palette() -> NDArray[np.float64]:
    """The points of a regular Lab grid that lie inside the RGB gamut (or touch it), (n, 3)."""
    nearest = np.unique(np.round((cell_colours() - (50.0, 0.0, 0.0)) / SPACING).astype(np.int64), axis=0)
    return np.asarray(nearest * SPACING + (50.0, 0.0, 0.0), np.float64)


@cache
def vote_table() -> NDArray[np.float32]:
    """How one pixel of each RGB cell divides its vote among the palette, (LEVELS^3, n)."""
    table = np.empty((LEVELS**3, len(palette())), np.float32)
    for start in range(0, LEVELS**3, 4096):
        block = cell_colours()[start : start + 4096, None, :] - palette()[None, :, :]
        squared = np.square(block).sum(axis=2)
        parts = [(share, np.exp(-squared / (2.0 * reach**2))) for share, reach in REACHES]
        table[start : start + 4096] = sum(share * part / part.sum(axis=1, keepdims=True) for share, part in parts)
    return table
