"""A network with the options of its spec."""

from dataclasses import replace

from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.network import Network
from likewise.encoders.spec import Spec
from likewise.errors import LikewiseError


def build_network(part: Spec, model: NetworkModel, *, unscaled: bool | None = None) -> Network:
    """The encoder of a model; size and frame are already in the model (`framed`)."""
    if part.get("crop"):
        model = replace(model, recipe=replace(model.recipe, crop=part.fraction("crop")))
    return Network(
        part.name,
        model,
        flip=part.flag("flip"),
        box=part.flag("box"),
        unscaled=part.flag("unscaled") if unscaled is None else unscaled,
        runtime=part.get("runtime"),
    )


def with_frame_options(part: Spec, model: NetworkModel) -> NetworkModel:
    """The model with another size, or another way to fill the square."""
    return replace(model, recipe=model.recipe.with_frame(*frame_options(part)))


def frame_options(part: Spec) -> tuple[int | None, str | None]:
    """Size and frame of a spec."""
    size, frame = part.positive_int("size"), part.get("frame")
    if frame not in (None, "centre", "squash", "pad"):
        raise LikewiseError(f"frame={frame} in {part.text!r} is unknown: use centre, squash or pad.")
    return size, frame
