"""Colour, texture, shape and layout in one vector: the four unit vectors side by side, each times a weight.

The similarity is then the weighted mean of the four similarities, sum_i w_i^2 s_i / sum_i w_i^2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from likewise.encoders import colour, layout, shape, texture
from likewise.encoders.picture import SIDE, fit, unit
from likewise.encoders.protocol import Prepared, Vectors

SHARES = {"colour": 0.3, "texture": 0.2, "shape": 0.35, "layout": 0.15}


@dataclass(frozen=True)
class Blend:
    """Weighted combination of the four descriptors."""

    name: str = "blend"
    version: str = "blend@1"
    pixels: int = SIDE

    @property
    def dim(self) -> int:
        return colour.Colour().dim + texture.Texture().dim + shape.Shape().dim + layout.Layout().dim

    def prepare(self, image: Image.Image) -> Prepared:
        return fit(image)

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        return np.stack([describe(fitted) for fitted in batch])


def describe(fitted: Prepared) -> Vectors:
    parts = {
        "colour": colour.describe(fitted),
        "texture": texture.describe(fitted),
        "shape": shape.describe(fitted),
        "layout": layout.describe(fitted),
    }
    return unit(np.concatenate([np.sqrt(SHARES[name]) * part for name, part in parts.items()]))
