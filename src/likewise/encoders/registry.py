"""Encoders by name: `get_encoder("colour")`.  Families are imported only when asked for."""

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from likewise.encoders.protocol import Encoder
from likewise.errors import LikewiseError

BUILT_IN = ("colour", "texture", "shape", "layout", "blend")


@dataclass(frozen=True)
class EncoderInfo:
    """What `likewise encoders` prints."""

    name: str
    dim: int
    description: str


DESCRIPTIONS = {
    "colour": "Which colours the thing has: a soft Lab histogram of it, its upper and its lower half.",
    "texture": "What the surface is like: local binary patterns and edge statistics at several scales.",
    "shape": "Which outline and inner edges the thing has: oriented edges in cells, and the silhouette.",
    "layout": "Where light, dark and colour are in the frame: low frequencies of a small Lab picture.",
    "blend": "Colour, texture, shape and layout together, in fixed proportions.",
}


@cache
def get_encoder(spec: str) -> Encoder:
    """The encoder a spec names; a spec nobody knows is an error that lists the known ones."""
    if spec == "colour":
        from likewise.encoders.colour import Colour

        return Colour()
    if spec == "texture":
        from likewise.encoders.texture import Texture

        return Texture()
    if spec == "shape":
        from likewise.encoders.shape import Shape

        return Shape()
    if spec == "layout":
        from likewise.encoders.layout import Layout

        return Layout()
    if spec == "blend":
        from likewise.encoders.blend import Blend

        return Blend()
    close = get_close_matches(spec.lower(), BUILT_IN, n=1, cutoff=0.5)
    meant = f", did you mean {close[0]!r}?" if close else ":"
    raise LikewiseError(f"there is no encoder {spec!r}{meant} known are {', '.join(BUILT_IN)}.")


def available() -> list[EncoderInfo]:
    """All built-in encoders, the simple ones first."""
    return [EncoderInfo(name, get_encoder(name).dim, DESCRIPTIONS[name]) for name in BUILT_IN]
