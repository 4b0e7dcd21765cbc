"""The picture every built-in descriptor looks at: fitted into 128 x 128, with a weight for "this is the thing"."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from likewise.encoders.families.descriptors.foreground import foreground_mask
from likewise.encoders.protocol import Prepared

SIDE = 128
PREPARATION = "fit 128"  # of all encoders that prepare with `fit_image`


@dataclass(frozen=True)
class Descriptor:
    """What all descriptors have in common."""

    name: str
    version: str
    pixels: int = SIDE
    preparation: str = PREPARATION

    def prepare(self, image: Image.Image) -> Prepared:
        return fit_image(image)


def fit_image(image: Image.Image) -> NDArray[np.uint8]:
    """An RGB picture as (128, 128, 4): colours, and the foreground weight from 0 to 255.

    The aspect ratio is kept; the rest of the square repeats the edge pixels, which adds no edges, at weight 0.
    """
    scale = SIDE / max(image.size)
    width, height = (max(1, round(side * scale)) for side in image.size)
    small = np.asarray(image.resize((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0))
    weight = foreground_mask(small)
    left, top = (SIDE - width) // 2, (SIDE - height) // 2
    around = ((top, SIDE - height - top), (left, SIDE - width - left))
    fitted = np.empty((SIDE, SIDE, 4), np.uint8)
    fitted[..., :3] = np.pad(small, (*around, (0, 0)), mode="edge")
    fitted[..., 3] = np.pad(weight, around)
    return fitted


def foreground_weights(fitted: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The foreground weight as float32 between 0 and 1."""
    return fitted[..., 3].astype(np.float32) / np.float32(255.0)


def luminance(fitted: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Grey values between 0 and 1 (Rec. 601, on the gamma-encoded values, which is nearly lightness)."""
    rgb = fitted[..., :3].astype(np.float32)
    grey: NDArray[np.float32] = rgb[..., 0] * 0.299 + rgb[..., 1] * 0.587 + rgb[..., 2] * 0.114
    return grey / np.float32(255.0)


def crop_foreground_square(fitted: NDArray[np.uint8], side: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
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
        for plane in (luminance(square), foreground_weights(square))
    )
    return grey, weight
