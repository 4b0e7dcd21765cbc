"""Paint: what a part is made of: its colours, its tiles, and the way its surface answers light."""

from dataclasses import dataclass

from likewise.synthetic.drawing.tiles import Tile, lace_holes, material_tile, pattern_tile

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
    """A colour with a finish; cloth adds the tiles of its relief, its pattern and its holes."""

    colour: Colour
    finish: str = "matte"
    relief: Tile | None = None
    second: Colour | None = None
    share: Tile | None = None
    holes: Tile | None = None
    folds: float = 0.0
    hairy: bool = False
    tile_scale: float = 1.0


def _lift(colour: Colour) -> Colour:
    """Very dark colours are lifted a little so that relief stays visible on them."""
    return mix(colour, (255, 255, 255), 0.1)


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
        return Paint(mix((240, 232, 222), first, 0.18), "pearl")
    patterned = pattern != "solid" and second is not None
    return Paint(
        _lift(first),
        FINISHES.get(material, "matte"),
        material_tile(material).ravel(),
        _lift(second) if second is not None and patterned else None,
        pattern_tile(pattern).ravel() if patterned else None,
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


def mix(a: Colour, b: Colour, share: float) -> Colour:
    """``share`` of b in a."""
    return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2]))


def darker(colour: Colour, factor: float = 0.6) -> Colour:
    """The same colour in shade."""
    return (colour[0] * factor, colour[1] * factor, colour[2] * factor)


def lighter(colour: Colour, share: float = 0.4) -> Colour:
    """The same colour towards white."""
    return mix(colour, (255, 255, 255), share)


def contrast(colour: Colour) -> Colour:
    """A dark or light neutral that can be seen on the colour."""
    bright = 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2]
    return (40, 38, 40) if bright > 110 else (238, 234, 226)
