"""What the surface is like: local binary patterns and edge statistics at several scales, only on the thing.

Local binary patterns (Ojala et al. 2002) say of each pixel which of its eight neighbours are lighter; their
histogram tells stripes from dots from weave.  Edge strengths by direction and scale add how coarse and how
contrasty it is.  The outline of the thing belongs to `shape` and is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.families.descriptors.fitted_image import Descriptor, foreground_weights, luminance
from likewise.encoders.families.descriptors.gradients import downsample_half, oriented_edges
from likewise.encoders.normalization import unit_vector
from likewise.encoders.protocol import Prepared, Vectors

SCALES = 4  # 128, 64, 32, 16 pixels
PATTERN_SCALES = 3
DIRECTIONS = 8
CONTRASTS = np.array([0.01, 0.03, 0.08, 0.2], np.float32)  # limits between classes of edge strength
FLAT = np.float32(0.012)  # a neighbour lighter by less than this is not lighter: noise and JPEG blocks
UNIFORM = 59
NEIGHBOURS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
EDGE_WEIGHT = 0.8


@dataclass(frozen=True)
class TextureDescriptor(Descriptor):
    """Local binary patterns and edge statistics at several scales."""

    name: str = "texture"
    version: str = "texture@1"

    @property
    def dim(self) -> int:
        return PATTERN_SCALES * UNIFORM + SCALES * (DIRECTIONS + len(CONTRASTS) + 1)

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        return np.stack([describe(fitted) for fitted in batch])


def describe(fitted: NDArray[np.uint8]) -> NDArray[np.float32]:
    grey, weight = luminance(fitted), foreground_weights(fitted)
    patterns, statistics = [], []
    for scale in range(SCALES):
        inside = inner(weight)
        if scale < PATTERN_SCALES:
            patterns.append(pattern_histogram(grey, inside))
        statistics.append(edge_statistics(grey, inside))
        grey, weight = downsample_half(grey), downsample_half(weight)
    return unit_vector(
        np.concatenate([unit_vector(np.concatenate(patterns)), EDGE_WEIGHT * unit_vector(np.concatenate(statistics))])
    )


def inner(weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """The weight of a pixel is the least among its neighbours; all of it where nothing would remain."""
    padded = np.pad(weight, 1)
    across = np.minimum(np.minimum(padded[:-2], padded[1:-1]), padded[2:])
    least = np.minimum(np.minimum(across[:, :-2], across[:, 1:-1]), across[:, 2:])
    return least if least.sum() >= 9 else np.ones_like(weight)


def pattern_histogram(grey: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float64]:
    padded = np.pad(grey, 1, mode="edge")
    height, width = grey.shape
    codes = np.zeros(grey.shape, np.int64)
    for bit, (down, right) in enumerate(NEIGHBOURS):
        neighbour = padded[1 + down : 1 + down + height, 1 + right : 1 + right + width]
        codes |= (neighbour > grey + FLAT).astype(np.int64) << bit
    counts = np.bincount(uniform_table()[codes].ravel(), weight.ravel(), minlength=UNIFORM)
    shares: NDArray[np.float64] = counts / counts.sum()
    return np.sqrt(shares)


@cache
def uniform_table() -> NDArray[np.int64]:
    """Each of the 58 patterns with at most two changes around the circle has a bin; the others share one."""
    table = np.full(256, UNIFORM - 1)
    bits = [[code >> bit & 1 for bit in range(8)] for code in range(256)]
    uniform = [code for code in range(256) if sum(bits[code][i] != bits[code][i - 1] for i in range(8)) <= 2]
    table[uniform] = np.arange(len(uniform))
    return table


def edge_statistics(grey: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float64]:
    """Mean edge strength per direction, and the share of pixels in each class of strength."""
    edges = oriented_edges(grey, DIRECTIONS)
    total = float(weight.sum(dtype=np.float64))
    energy = np.einsum("dij,ij->d", edges, weight).astype(np.float64) / total
    strength = edges.sum(axis=0)
    classes = np.bincount(np.digitize(strength, CONTRASTS).ravel(), weight.ravel(), minlength=len(CONTRASTS) + 1)
    return np.concatenate([np.sqrt(energy), np.sqrt(classes / total) * 0.5])
