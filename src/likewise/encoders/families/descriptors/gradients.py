"""Edges by direction: the common ground of `shape` (where edges are) and `texture` (how many of which kind)."""

import numpy as np
from numpy.typing import NDArray


def oriented_edges(grey: NDArray[np.float32], directions: int) -> NDArray[np.float32]:
    """Edge strength per direction, (directions, height, width); a direction and its opposite are the same.

    Each pixel's strength is shared between the two nearest directions, so a small turn is a small change.
    """
    down, right = np.zeros_like(grey), np.zeros_like(grey)
    down[1:-1] = grey[2:] - grey[:-2]
    right[:, 1:-1] = grey[:, 2:] - grey[:, :-2]
    strength = np.hypot(down, right)
    angle = np.arctan2(down, right) * np.float32(directions / np.pi)
    lower = np.floor(angle)
    upper_share = angle - lower
    low = lower.astype(np.int64) % directions
    edges = np.zeros((directions, *grey.shape), np.float32)
    flat = edges.reshape(directions, -1)
    pixel = np.arange(grey.size)
    flat[low.ravel(), pixel] = (strength * (1 - upper_share)).ravel()
    flat[((low + 1) % directions).ravel(), pixel] = (strength * upper_share).ravel()
    return edges


def downsample_half(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """Half the width and height: the mean of each 2 x 2 block."""
    mean: NDArray[np.float32] = (
        image[0::2, 0::2] + image[1::2, 0::2] + image[0::2, 1::2] + image[1::2, 1::2]
    ) * np.float32(0.25)
    return mean
