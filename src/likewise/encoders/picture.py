"""The picture every built-in descriptor looks at: fitted into 128 x 128, with a weight for "this is the thing".

Catalogue pictures show one thing on a plain, usually light, background, which would dominate every histogram.
When the border of a picture is (mostly) one colour, what is connected to the border and has that colour gets
the weight 0 and the rest 1; a white shirt inside its outline stays foreground because it is not connected.  The
plainer the border, the stronger the effect: a busy scene keeps the weight 1 everywhere.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIDE = 128
BORDER_PIXELS = 2
NEAR_BORDER_COLOUR = 26.0  # Euclidean RGB distance: above JPEG noise and soft shadows, below most garments
PLAIN_FROM, PLAIN_TO = 0.45, 0.85  # share of the border that has the border's colour: not plain ... plain
LEAST_FOREGROUND = 0.01  # below this share nothing was found, and the whole picture is the thing


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
    from scipy import ndimage

    edge = BORDER_PIXELS
    border = np.concatenate(
        [strip.reshape(-1, 3) for strip in (pixels[:edge], pixels[-edge:], pixels[:, :edge], pixels[:, -edge:])]
    )
    colour = np.median(border, axis=0).astype(np.float32)
    share = float(np.mean(distance(border, colour) < NEAR_BORDER_COLOUR))
    plain = min(1.0, max(0.0, (share - PLAIN_FROM) / (PLAIN_TO - PLAIN_FROM)))
    everything = np.full(pixels.shape[:2], 255, np.uint8)
    if plain == 0.0:
        return everything
    regions, _ = ndimage.label(distance(pixels, colour) < NEAR_BORDER_COLOUR)
    touching = np.zeros(int(regions.max()) + 1, np.bool_)
    for line in (regions[0], regions[-1], regions[:, 0], regions[:, -1]):
        touching[line] = True
    touching[0] = False
    background = touching[regions]
    if background.mean() > 1.0 - LEAST_FOREGROUND:
        return everything
    weight: NDArray[np.uint8] = np.round(255.0 * (1.0 - plain * background)).astype(np.uint8)
    return weight


def distance(pixels: NDArray[np.uint8], colour: NDArray[np.float32]) -> NDArray[np.float32]:
    difference = pixels.astype(np.float32) - colour
    squared: NDArray[np.float32] = np.square(difference).sum(axis=-1)
    return np.sqrt(squared)


def weights(fitted: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The foreground weight as float32 between 0 and 1."""
    return fitted[..., 3].astype(np.float32) / np.float32(255.0)


def luminance(fitted: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Grey values between 0 and 1 (Rec. 601, on the gamma-encoded values, which is nearly lightness)."""
    rgb = fitted[..., :3].astype(np.float32)
    grey: NDArray[np.float32] = rgb[..., 0] * 0.299 + rgb[..., 1] * 0.587 + rgb[..., 2] * 0.114
    return grey / np.float32(255.0)


def thing_in_square(fitted: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """The foreground's bounding box, kept in proportion, centred and scaled to (side, side, 4)."""
    seen = fitted[..., 3] > 127
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    if not len(rows):
        rows = columns = np.arange(SIDE)
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    half = max(bottom - top, right - left) / 2 + 2
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    margin = SIDE  # a square around a wide thing may reach beyond the picture
    padded = np.pad(fitted, ((margin, margin), (margin, margin), (0, 0)), mode="edge")
    padded[..., 3] = np.pad(fitted[..., 3], margin)
    box = tuple(margin + at for at in (middle_x - half, middle_y - half, middle_x + half, middle_y + half))
    planes = [Image.fromarray(padded[..., plane]) for plane in range(4)]
    return np.stack(
        [np.asarray(plane.resize((side, side), Image.Resampling.BILINEAR, box=box)) for plane in planes],
        axis=-1,
    )


def unit(vector: NDArray[np.floating]) -> NDArray[np.float32]:
    """Scaled to length one in float64; an all-zero vector points to its first axis rather than nowhere."""
    exact = np.asarray(vector, np.float64).ravel()
    length = float(np.sqrt(np.square(exact).sum()))
    if length < 1e-12:
        exact = np.zeros_like(exact)
        exact[0] = length = 1.0
    return (exact / length).astype(np.float32)
