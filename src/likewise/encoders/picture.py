"""The picture every built-in descriptor looks at: fitted into 128 x 128, with a weight for "this is the thing".

Catalogue pictures show one thing on a plain, usually light, background, which would dominate every histogram.
When the border of a picture is (mostly) one colour, what is connected to the border and has that colour gets
the weight 0 and the rest 1; a white shirt inside its outline stays foreground because it is not connected.  In a
busy scene, what resembles its part of the border and what lies far from the middle weigh less.  Between the two,
the weights pass smoothly from one to the other.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIDE = 128
BORDER_PIXELS = 2
NEAR_BORDER_COLOUR = 26.0  # Euclidean RGB distance: above JPEG noise and soft shadows, below most garments
PLAIN_FROM, PLAIN_TO = 0.45, 0.85  # share of the border that has the border's colour: not plain ... plain
LEAST_FOREGROUND = 0.01  # below this share nothing was found, and the whole picture is the thing
LEAST_FOREGROUND_IN_SCENE = 0.05
BEHIND_IN_SCENE = 0.7  # in a busy scene one is less sure: what looks like the border keeps some weight


def fit(image: Image.Image) -> NDArray[np.uint8]:
    """An RGB picture as (128, 128, 4): colours, and the foreground weight from 0 to 255.

    The aspect ratio is kept; the rest of the square repeats the edge pixels, which adds no edges, at weight 0.
    """
    scale = SIDE / max(image.size)
    width, height = (max(1, round(side * scale)) for side in image.size)
    small = np.asarray(image.resize((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0))
    weight = foreground(small)
    left, top = (SIDE - width) // 2, (SIDE - height) // 2
    around = ((top, SIDE - height - top), (left, SIDE - width - left))
    fitted = np.empty((SIDE, SIDE, 4), np.uint8)
    fitted[..., :3] = np.pad(small, (*around, (0, 0)), mode="edge")
    fitted[..., 3] = np.pad(weight, around)
    return fitted


def foreground(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """For each pixel 0 (surely background) to 255 (surely the thing)."""
    segments = border_segments(pixels)
    border = np.concatenate(segments)
    colour = np.median(border, axis=0)[None]
    share = float(near(border, colour).mean())
    plain = min(1.0, max(0.0, (share - PLAIN_FROM) / (PLAIN_TO - PLAIN_FROM)))
    weight = np.zeros(pixels.shape[:2], np.float64)
    if plain > 0.0:
        weight += plain * ~background(pixels, colour, LEAST_FOREGROUND)
    if plain < 1.0:
        colours = np.stack([np.median(segment, axis=0) for segment in segments])
        behind = background(pixels, colours, LEAST_FOREGROUND_IN_SCENE)
        weight += (1.0 - plain) * (1.0 - BEHIND_IN_SCENE * behind) * central(pixels.shape[:2])
    rounded: NDArray[np.uint8] = np.round(255.0 * weight).astype(np.uint8)
    return rounded


def border_segments(pixels: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """The pixels along the border, four segments per side, each (n, 3)."""
    edge = BORDER_PIXELS
    upper_lower = [part for strip in (pixels[:edge], pixels[-edge:]) for part in np.array_split(strip, 4, axis=1)]
    sides = (pixels[:, :edge], pixels[:, -edge:])
    left_right = [part for strip in sides for part in np.array_split(strip, 4, axis=0)]
    return [part.reshape(-1, 3) for part in upper_lower + left_right if part.size]


def background(pixels: NDArray[np.uint8], colours: NDArray[np.float64], least_foreground: float) -> NDArray[np.bool_]:
    """What has one of the border's colours and is connected to the border; nothing if that is nearly all."""
    from scipy import ndimage

    regions, n_regions = ndimage.label(near(pixels, colours))
    touching = np.zeros(n_regions + 1, np.bool_)
    for line in (regions[0], regions[-1], regions[:, 0], regions[:, -1]):
        touching[line] = True
    touching[0] = False
    found: NDArray[np.bool_] = touching[regions]
    return found if found.mean() <= 1.0 - least_foreground else np.zeros_like(found)


def near(pixels: NDArray[np.uint8], colours: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which pixels are close to at least one of the colours."""
    planes, targets = pixels.reshape(-1, 3).T.astype(np.float32), colours.astype(np.float32)
    # |p - c|^2 expanded; whole and half numbers below 2^24 are exact in float32, in any order of summation
    squared = np.square(targets).sum(axis=1)[:, None] - 2.0 * (targets @ planes)
    close: NDArray[np.bool_] = squared.min(axis=0) + np.square(planes).sum(axis=0) < NEAR_BORDER_COLOUR**2
    return close.reshape(pixels.shape[:-1])


def central(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """From 1 in the middle of a picture to exp(-2) in its corners."""
    down, right = (np.linspace(-1.0, 1.0, side) for side in shape)
    distance: NDArray[np.float64] = np.square(down)[:, None] + np.square(right)[None, :]
    return np.exp(-distance)


def weights(fitted: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The foreground weight as float32 between 0 and 1."""
    return fitted[..., 3].astype(np.float32) / np.float32(255.0)


def luminance(fitted: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Grey values between 0 and 1 (Rec. 601, on the gamma-encoded values, which is nearly lightness)."""
    rgb = fitted[..., :3].astype(np.float32)
    grey: NDArray[np.float32] = rgb[..., 0] * 0.299 + rgb[..., 1] * 0.587 + rgb[..., 2] * 0.114
    return grey / np.float32(255.0)


def thing_in_square(fitted: NDArray[np.uint8], side: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Luminance and weight of the foreground's bounding box, kept in proportion, centred, (side, side) each."""
    seen = fitted[..., 3] > 127
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    if not len(rows):
        rows = columns = np.arange(SIDE)
    height, width = int(rows[-1] - rows[0]) + 1, int(columns[-1] - columns[0]) + 1
    length = max(height, width) + 4
    top, left = int(rows[0]) - (length - height) // 2, int(columns[0]) - (length - width) // 2
    down, right = np.arange(top, top + length), np.arange(left, left + length)  # may reach beyond the picture
    square = fitted[np.clip(down, 0, SIDE - 1)[:, None], np.clip(right, 0, SIDE - 1)[None, :]]
    square[(down < 0) | (down >= SIDE), :, 3] = 0
    square[:, (right < 0) | (right >= SIDE), 3] = 0
    grey, weight = (
        np.asarray(Image.fromarray(plane).resize((side, side), Image.Resampling.BILINEAR))
        for plane in (luminance(square), weights(square))
    )
    return grey, weight


def unit(vector: NDArray[np.floating]) -> NDArray[np.float32]:
    """Scaled to length one in float64; an all-zero vector points to its first axis rather than nowhere."""
    exact = np.asarray(vector, np.float64).ravel()
    length = float(np.sqrt(np.square(exact).sum()))
    if length < 1e-12:
        exact = np.zeros_like(exact)
        exact[0] = length = 1.0
    return (exact / length).astype(np.float32)
