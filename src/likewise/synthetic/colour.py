"""Colour names in CIE Lab (D65): distances as people see them, hue and chroma for harmony."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from likewise.synthetic.vocabulary import COLOURS, RGB

FloatArray = NDArray[np.float32]

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


@cache
def lab_table() -> NDArray[np.float64]:
    """[n_colours, 3]: L, a, b of every colour name, in the vocabulary's order."""
    srgb = np.array([RGB[name] for name in COLOURS]) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    xyz = linear @ _TO_XYZ.T / _WHITE
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def colour_distance() -> NDArray[np.float64]:
    """[n_colours, n_colours]: Euclidean distance in Lab (delta E 1976)."""
    lab = lab_table()
    return np.asarray(np.linalg.norm(lab[:, None] - lab[None], axis=2))
