"""What a garment's drawer receives (the look) and what it gives back (where the cues belong)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from likewise.synthetic.drawing.geometry import XY, Points
from likewise.synthetic.drawing.paint import METALS, Colour, Paint, cloth, darker, flat, lighter, metal
from likewise.synthetic.vocabulary import RGB

# Materials whose hardware (buckles, zips) is silver rather than gold.
_SILVER_HARDWARE = ("denim", "canvas", "silver", "quilted", "plastic")


@dataclass(frozen=True)
class Look:
    """An item's attributes turned into colours and paints."""

    values: Mapping[str, str]
    first: Colour
    second: Colour
    fabric: Paint
    plain: Paint
    trim: Paint
    hardware: Paint

    def __getitem__(self, name: str) -> str:
        return self.values[name]


@dataclass(frozen=True)
class Anchors:
    """Where cues belong: an emblem's spot, lower edges (right to left), side edges, the line of fastenings."""

    spot: XY
    spot_size: float
    hems: list[Points]
    sides: list[Points]
    front: Points
    inside: float = -1.0
    """On which side of a hem the cloth lies: -1 above (a lower edge), 1 below (a sock's or shoe's opening)."""
    paired: bool = False
    """Whether emblem and fastenings are repeated on the mirrored twin (earrings, gloves)."""


def generator(*key: object) -> np.random.Generator:
    """A random generator that depends on the key alone, in every process and on every machine."""
    digest = hashlib.blake2b("|".join(map(str, key)).encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


def make_look(values: Mapping[str, str], identity: str, line: str) -> Look:
    """Colours with the item's own small shift of dye, its line's own scale of pattern."""
    dye = generator("dye", identity).normal(0, 3.0, 3)
    first = _shift(RGB[values["colour"]], dye)
    second = _shift(RGB[values["second_colour"]], dye)
    if values["colour"] == values["second_colour"]:
        second = darker(first, 0.62) if sum(first) > 330 else lighter(first, 0.32)
    scale = float(generator("weave", line).uniform(0.85, 1.3))
    material = values["material"]
    pattern = values.get("pattern", "solid")
    trim = cloth(material, second, folds=0.4)
    if material in METALS or material == "pearl":
        trim = flat(second, "gloss")
    return Look(
        values=values,
        first=first,
        second=second,
        fabric=cloth(material, first, second, pattern, scale=scale),
        plain=cloth(material, first, scale=scale),
        trim=trim,
        hardware=metal("silver" if material in _SILVER_HARDWARE else "gold"),
    )


def _shift(colour: tuple[int, int, int], dye: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Colour:
    r, g, b = (float(np.clip(c + d, 0, 255)) for c, d in zip(colour, dye, strict=True))
    return (r, g, b)
