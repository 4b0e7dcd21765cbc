"""Paint: what a part is made of, as a colour tile plus the way its surface answers light."""

from dataclasses import dataclass

import numpy as np

from likewise.catalog.wardrobe.drawing.tiles import Tile, lace_holes, material_tile, pattern_tile

Colour = tuple[float, float, float]

METALS: dict[str, Colour] = {"gold": (214, 168, 72), "silver": (196, 200, 208)}

# How the surface answers light: matte cloth, leather gloss, satin sheen, polished metal, pearl, velvet's rim.
FINISHES = {
    "leather": "gloss",
    "plastic": "gloss",
    "satin": "satin",
    "velvet": "velvet",
    "gold": "metal",
    "silver": "metal",
    "pearl": "pearl",
    "wood": "semi",
    "quilted": "semi",
}


@dataclass(frozen=True, eq=False)
class Paint:
    """A flat colour, or a tile of colours (TILE*TILE rows of RGB), with a finish."""

    colour: Colour
    finish: str = "matte"
    tile: Tile | None = None
    holes: Tile | None = None
    folds: float = 0.0
    hairy: bool = False
    tile_scale: float = 1.0


def _lift(colour: Colour) -> Colour:
    """Very dark colours are lifted a little so that relief stays visible on them."""
    floor = 26.0
    return (
        floor + colour[0] * (255 - floor) / 255,
        floor + colour[1] * (255 - floor) / 255,
        floor + colour[2] * (255 - floor) / 255,
    )


def cloth(
    material: str,
    first: Colour,
    second: Colour | None = None,
    pattern: str = "solid",
    *,
    scale: float = 1.0,
    folds: float = 1.0,
) -> Paint:
    """A material in one colour, or patterned in two."""
    if material in METALS:
        return metal(material)
    if material == "pearl":
        return Paint(_mix((240, 232, 222), first, 0.18), "pearl")
    base = np.asarray(_lift(first), dtype=np.float32)
    relief = material_tile(material)
    share = pattern_tile(pattern)
    colours = np.broadcast_to(base, (*share.shape, 3))
    if pattern != "solid" and second is not None:
        other = np.asarray(_lift(second), dtype=np.float32)
        colours = base + share[..., None] * (other - base)
    tile = np.ascontiguousarray((colours * relief[..., None]).reshape(-1, 3), dtype=np.float32)
    return Paint(
        first,
        FINISHES.get(material, "matte"),
        tile,
        lace_holes().ravel() if material == "lace" else None,
        folds * (0.5 if material in ("leather", "quilted", "fur", "straw") else 1.0),
        material == "fur",
        scale,
    )


def metal(name: str) -> Paint:
    """Polished gold or silver."""
    return Paint(METALS[name], "metal")


def flat(colour: Colour, finish: str = "matte") -> Paint:
    """One even colour."""
    return Paint(colour, finish)


def _mix(a: Colour, b: Colour, share: float) -> Colour:
    return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2]))


def mix(a: Colour, b: Colour, share: float) -> Colour:
    """``share`` of b in a."""
    return _mix(a, b, share)


def darker(colour: Colour, factor: float = 0.6) -> Colour:
    """The same colour in shade."""
    return (colour[0] * factor, colour[1] * factor, colour[2] * factor)


def lighter(colour: Colour, share: float = 0.4) -> Colour:
    """The same colour towards white."""
    return _mix(colour, (255, 255, 255), share)


def contrast(colour: Colour) -> Colour:
    """A dark or light neutral that can be seen on the colour."""
    bright = 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2]
    return (40, 38, 40) if bright > 110 else (238, 234, 226)
