"""Encoders by spec string: `get_encoder("colour")`, `get_encoder("hf:facebook/dinov2-base?pooling=mean")`.

Families are imported only when asked for.
"""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache

from likewise.encoders.models import BY_NAME, HUB, LITE, NOT_PUBLIC, UNTRAINED
from likewise.encoders.protocol import Encoder
from likewise.encoders.spec import JOINED, STORED, Spec, parse
from likewise.errors import LikewiseError

BUILT_IN = ("colour", "texture", "shape", "layout", "blend")

LICENCE = "Apache-2.0"  # of the built-in ones

DESCRIPTIONS = {
    "colour": "Which colours the thing has: a soft Lab histogram of it, its upper and its lower half.",
    "texture": "What the surface is like: local binary patterns and edge statistics at several scales.",
    "shape": "Which outline and inner edges the thing has: oriented edges in cells, and the silhouette.",
    "layout": "Where light, dark and colour are in the frame: low frequencies of a small Lab picture.",
    "blend": "Colour, texture, shape and layout together, in fixed proportions.",
}


@dataclass(frozen=True)
class EncoderInfo:
    """What `likewise encoders` prints."""

    name: str
    dim: int
    description: str
    licence: str = LICENCE
    megabytes: int = 0
    parameters: float = 0.0
    """In millions."""
    here: bool = True
    """Whether the weights are on this machine."""
    source: str = "built in"


@cache
def get_encoder(spec: str) -> Encoder:
    """The encoder a spec names; a spec nobody knows is an error that lists the known ones."""
    parts = parse(spec)
    if len(parts) > 1:
        from likewise.encoders.joined import Joined

        return Joined.of(parts)
    [part] = parts
    if any(part.get(option) for option in STORED):
        raise LikewiseError(f"{spec} is fitted on the images of a workspace: use it with `likewise encode`.")
    if part.family == JOINED:
        return get_encoder(part.target)
    return _built_in(part) if not part.family and part.target in BUILT_IN else _network(part)


def _built_in(part: Spec) -> Encoder:
    encoder = _descriptor(part.target)
    for option, _ in part.options:
        if option not in ("size", "crop", "flip", "box", "dtype", "name", "weight"):
            raise LikewiseError(f"the built-in encoder {part.target} has no option {option!r}: leave it out.")
    crop, flip, box, size = part.share("crop"), part.flag("flip"), part.flag("box"), part.whole("size")
    if size is not None and size > encoder.pixels:
        raise LikewiseError(
            f"the built-in encoder {part.target} looks at {encoder.pixels} pixels: size={size} must not be more."
        )
    if crop == 1.0 and not flip and not box and size is None and part.name == part.target:
        return encoder
    from likewise.encoders.viewed import Viewed

    return Viewed(part.name, encoder, crop, flip, box, size)


def _descriptor(name: str) -> Encoder:
    if name == "colour":
        from likewise.encoders.colour import Colour

        return Colour()
    if name == "texture":
        from likewise.encoders.texture import Texture

        return Texture()
    if name == "shape":
        from likewise.encoders.shape import Shape

        return Shape()
    if name == "layout":
        from likewise.encoders.layout import Layout

        return Layout()
    from likewise.encoders.blend import Blend

    return Blend()


def _network(part: Spec) -> Encoder:
    if part.family == "python":
        from likewise.encoders.function import function_encoder

        return function_encoder(part)
    if part.family == "run":
        from likewise.encoders.run import run_encoder

        return run_encoder(part)
    from likewise.encoders.network import Network

    size, frame = part.whole("size"), part.get("frame")
    if frame not in (None, "centre", "squash", "pad"):
        raise LikewiseError(f"frame={frame} in {part.text!r} is unknown: use centre, squash or pad.")
    source = source_of(part)
    if source.family == "hf":
        from likewise.encoders.huggingface import huggingface_model

        model = huggingface_model(source.target, pooling=part.get("pooling"), size=size, frame=frame)
    elif source.family == "onnx":
        from likewise.encoders.onnx_file import onnx_model

        model = onnx_model(part)
    elif source.family == "two-tower":
        from likewise.encoders.two_tower import two_tower_model

        model = two_tower_model(part)
        model = replace(model, recipe=model.recipe.framed(size, frame))
    elif part.target == UNTRAINED.name:
        from likewise.encoders.small import small_model

        model = small_model()
        model = replace(model, recipe=model.recipe.framed(size, frame))
    else:
        from likewise.encoders.efficientnet import efficientnet_model

        model = efficientnet_model(part.target, part.get("pooling"))
        model = replace(model, recipe=model.recipe.framed(size, frame))
    if part.get("crop"):
        model = replace(model, recipe=replace(model.recipe, crop=part.share("crop")))
    return Network(
        part.name,
        model,
        flip=part.flag("flip"),
        box=part.flag("box"),
        unscaled=part.flag("unscaled"),
        runtime=part.get("runtime"),
    )


def source_of(part: Spec) -> Spec:
    """The spec with a short name replaced by what it stands for."""
    if part.family:
        return part
    known = BY_NAME.get(part.target)
    if known is None:
        raise LikewiseError(_unknown(part.target))
    if not known.spec:
        return part
    from likewise.encoders.hub import local_folder

    if local_folder(part.target) is not None:  # put beside the others under its short name
        return Spec("hf", part.target)
    return parse(known.spec)[0]


def _unknown(name: str) -> str:
    if name in NOT_PUBLIC:
        return (
            f"{NOT_PUBLIC[name]} has no public weights that transformers reads: export yours to ONNX and "
            "name it onnx:FILE, or import its vectors with `likewise encode WORKSPACE --import FILE --name NAME`."
        )
    known = (*BUILT_IN, *BY_NAME)
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    meant = f", did you mean {close[0]!r}?" if close else ":"
    families = "hf:ID, onnx:FILE, python:MODULE:NAME and run:FOLDER"
    return f"there is no encoder {name!r}{meant} known are {', '.join(known)}, {families}."


def available() -> list[EncoderInfo]:
    """All encoders with a name of their own, the built-in ones first."""
    from likewise.encoders.efficientnet import has_weights
    from likewise.encoders.hub import local_folder

    listed = [EncoderInfo(name, get_encoder(name).dim, DESCRIPTIONS[name]) for name in BUILT_IN]
    for known in (*LITE, *HUB):
        target = known.spec.removeprefix("hf:")
        here = has_weights(known.name) if not target else bool(local_folder(target) or local_folder(known.name))
        listed.append(
            EncoderInfo(
                known.name,
                known.dim,
                known.description,
                known.licence,
                known.megabytes,
                known.parameters,
                here,
                known.spec or "PyPI package",
            )
        )
    return listed
