"""How a surface answers the light, by its finish: the brightness of its colour, and white shine on top."""

import numpy as np
from numpy.typing import NDArray

from likewise.synthetic.drawing.paint import Paint

Plane = NDArray[np.float32]
_FLAT: Plane = np.zeros(1, dtype=np.float32)


def light_of(paint: Paint, slope: Plane, folds: Plane | None) -> tuple[Plane, Plane | None]:
    """Brightness factor and shine (0 .. 255) from the slope towards the light and the folds, both about -0.5 .. 0.5."""
    crease = _FLAT if folds is None else folds
    light: Plane
    shine: Plane | None = None
    if paint.finish == "metal":
        light = 0.78 + 0.34 * np.sin(slope * 11 + 0.6) + 0.5 * slope
        shine = np.clip(slope - 0.16, 0, 1) * 420
    elif paint.finish == "pearl":
        light = 0.97 + 0.55 * slope
        shine = np.clip(slope - 0.2, 0, 1) * 300
    elif paint.finish == "gloss":
        light = 0.95 + 0.75 * slope + 0.10 * crease
        shine = np.clip(slope - 0.16 + 0.12 * crease, 0, 0.4).astype(np.float32) * 330
    elif paint.finish == "semi":
        light = 0.98 + 0.7 * slope + 0.10 * crease
        shine = np.clip(slope - 0.2, 0, 1) * 160
    elif paint.finish == "satin":
        sheen: Plane = np.sin(5 * crease + 4 * slope)
        light = 1.0 + 0.6 * slope + 0.23 * sheen
        shine = np.clip(sheen - 0.45, 0, 1) * 70
    elif paint.finish == "velvet":
        light = 0.80 + 0.9 * np.abs(slope) + 0.35 * slope + 0.2 * crease
    else:
        light = 1.0 + 0.62 * slope + 0.14 * crease
    return light.astype(np.float32, copy=False), shine
