"""Which pixels show the thing: a weight per pixel, from the colours along the border of the picture.

Catalogue pictures show one thing on a plain background, often with a soft gradient.  A quadratic surface is
fitted to the colours along the border; what is close to that surface and connected to the border is background
(weight 0), the rest is the thing (weight 1).  A white shirt inside its outline is not connected and stays.  In a
busy scene the surface does not fit; there, what resembles any part of the border and what lies far from the
middle weigh less.  Between the two kinds the weights pass smoothly from one to the other.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

BORDER_PIXELS = 2
MAX_BACKGROUND_DISTANCE = 34.0  # Euclidean RGB distance: above JPEG noise and soft shadows, below most garments
PLAIN_FROM, PLAIN_TO = 0.45, 0.85  # share of the border close to the surface: busy ... plain
MIN_FOREGROUND_SHARE = 0.01  # below this share nothing was found, and the whole picture is the thing
MIN_FOREGROUND_SHARE_IN_SCENE = 0.05
BACKGROUND_CERTAINTY_IN_SCENE = 0.7  # in a busy scene one is less sure: what looks like the border keeps some weight


def foreground_mask(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """For each pixel 0 (surely background) to 255 (surely the thing)."""
    on_border = border_mask(pixels.shape[:2])
    surface, plain = background_surface(pixels, on_border)
    weight = np.zeros(pixels.shape[:2], np.float32)
    if plain > 0.0:
        weight += plain * ~connected_to_border(
            colour_distance(pixels, surface) < MAX_BACKGROUND_DISTANCE, on_border, MIN_FOREGROUND_SHARE
        )
    if plain < 1.0:
        behind = connected_to_border(resembles_border(pixels), on_border, MIN_FOREGROUND_SHARE_IN_SCENE)
        weight += (
            (1.0 - plain) * (1.0 - BACKGROUND_CERTAINTY_IN_SCENE * behind) * centre_prior_weights(pixels.shape[:2])
        )
    rounded: NDArray[np.uint8] = np.round(255.0 * weight).astype(np.uint8)
    return rounded


def border_mask(shape: tuple[int, ...]) -> NDArray[np.bool_]:
    mask = np.ones(shape, np.bool_)
    mask[BORDER_PIXELS:-BORDER_PIXELS, BORDER_PIXELS:-BORDER_PIXELS] = False
    return mask


def background_surface(pixels: NDArray[np.uint8], on_border: NDArray[np.bool_]) -> tuple[NDArray[np.float32], float]:
    """The colour the background would have at each pixel, and how well (0 to 1) that explains the border.

    Fitted to the border twice, each time to the pixels near the guess before, so that a thing that touches the
    border does not bend the surface.
    """
    basis = quadratic_basis(pixels.shape[:2])
    border, border_basis = pixels[on_border].astype(np.float64), basis[:, on_border].T
    guess = np.broadcast_to(np.median(border, axis=0), border.shape)
    coefficients = np.zeros((6, 3))
    for reach in (2.0 * MAX_BACKGROUND_DISTANCE, 1.0 * MAX_BACKGROUND_DISTANCE):
        used = colour_distance(border, guess) < reach
        rows = border_basis[used]
        # normal equations with a little ridge: solvable for a picture one pixel wide, and free of threads
        products = np.einsum("ni,nj->ij", rows, rows) + 1e-3 * np.eye(6)
        coefficients = np.linalg.solve(products, np.einsum("ni,nc->ic", rows, border[used]))
        guess = np.einsum("ni,ic->nc", border_basis, coefficients)
    share = float((colour_distance(border, guess) < MAX_BACKGROUND_DISTANCE).mean())
    plain = min(1.0, max(0.0, (share - PLAIN_FROM) / (PLAIN_TO - PLAIN_FROM)))
    surface = np.empty(pixels.shape, np.float32)
    for channel in range(3):
        np.einsum("ihw,i->hw", basis, coefficients[:, channel].astype(np.float32), out=surface[..., channel])
    return surface, plain


@lru_cache(maxsize=32)
def quadratic_basis(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """1, x, y, xy, x^2, y^2 at each pixel, (6, height, width), x and y from -1 to 1."""
    down, right = (np.linspace(-1.0, 1.0, side, dtype=np.float32) for side in shape)
    y, x = np.broadcast_arrays(down[:, None], right[None, :])
    return np.stack([np.ones_like(x), x, y, x * y, x * x, y * y])


def colour_distance(a: NDArray[np.generic], b: NDArray[np.floating]) -> NDArray[np.float32]:
    difference = a.astype(np.float32) - b.astype(np.float32)
    squared: NDArray[np.float32] = np.einsum("...c,...c->...", difference, difference)
    return np.sqrt(squared)


def connected_to_border(
    candidate: NDArray[np.bool_], on_border: NDArray[np.bool_], min_foreground_share: float
) -> NDArray[np.bool_]:
    """The candidates for background that are connected to the border; none if that is nearly everything."""
    from scipy import ndimage

    regions, n_regions = ndimage.label(candidate)
    touching = np.zeros(n_regions + 1, np.bool_)
    touching[regions[on_border]] = True
    touching[0] = False
    found: NDArray[np.bool_] = touching[regions]
    return found if found.mean() <= 1.0 - min_foreground_share else np.zeros_like(found)


def resembles_border(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which pixels have the median colour of one of eight parts of the border."""
    edge = BORDER_PIXELS
    halves = [np.array_split(strip, 2, axis=1) for strip in (pixels[:edge], pixels[-edge:])]
    halves += [np.array_split(strip, 2, axis=0) for strip in (pixels[:, :edge], pixels[:, -edge:])]
    parts = [part.reshape(-1, 3) for pair in halves for part in pair if part.size]
    colours = np.stack([np.median(part, axis=0) for part in parts]).astype(np.float32)
    planes = pixels.reshape(-1, 3).T.astype(np.float32)
    # |p - c|^2 expanded; whole and half numbers below 2^24 are exact in float32, in any order of summation
    squared = np.square(colours).sum(axis=1)[:, None] - 2.0 * (colours @ planes)
    close: NDArray[np.bool_] = squared.min(axis=0) + np.square(planes).sum(axis=0) < np.square(MAX_BACKGROUND_DISTANCE)
    return close.reshape(pixels.shape[:-1])


def centre_prior_weights(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """From 1 in the middle of a picture to exp(-2) in its corners."""
    down, right = (np.linspace(-1.0, 1.0, side, dtype=np.float32) for side in shape)
    return np.exp(-np.square(down))[:, None] * np.exp(-np.square(right))[None, :]
