"""Encoders by spec string: `get_encoder("colour")`, `get_encoder("hf:facebook/dinov2-base?pooling=mean")`.

One table says which function opens which family.  It names modules as text, so a family is imported only when asked
for, and no family imports this module: those that need other encoders are handed `get_encoder`.
"""

from functools import cache
from importlib import import_module

from likewise.encoders.entry_points import open_external
from likewise.encoders.model_cards import BUILT_IN, UNTRAINED
from likewise.encoders.protocol import Encoder, OpenFamily
from likewise.encoders.short_names import is_external, resolve_short_name
from likewise.encoders.spec import FITTED_OPTIONS, JOINED, Spec, parse_spec
from likewise.errors import LikewiseError

FAMILIES = {
    "descriptor": "likewise.encoders.families.descriptors.options:open_descriptor_encoder",
    "efficientnet-lite": "likewise.encoders.families.efficientnet:open_efficientnet",
    "small": "likewise.encoders.families.small:open_small",
    "hf": "likewise.encoders.families.huggingface.model:open_huggingface",
    "onnx": "likewise.encoders.families.onnx_file:open_onnx",
    "python": "likewise.encoders.families.function:open_function_encoder",
    "run": "likewise.encoders.families.trained_run:open_run",
    "two-tower": "likewise.encoders.families.two_tower:open_two_tower",
    JOINED: "likewise.encoders.families.joined:open_joined",
}
"""Family to "module:function"; the function takes the spec and a way to open other encoders (`OpenFamily`)."""


@cache
def get_encoder(spec: str) -> Encoder:
    """The encoder a spec names; a spec nobody knows is an error that lists the known ones."""
    parts = parse_spec(spec)
    if len(parts) > 1:
        return _opener(JOINED)(Spec(JOINED, spec), get_encoder)
    [part] = parts
    if any(part.get(option) for option in FITTED_OPTIONS):
        raise LikewiseError(f"{spec} is fitted on the images of a workspace: use it with `likewise encode`.")
    if is_external(part):
        return open_external(part)
    return _opener(_family(part))(part, get_encoder)


def _family(part: Spec) -> str:
    if part.family:
        return part.family
    if part.target in BUILT_IN:
        return "descriptor"
    return resolve_short_name(part).family or (UNTRAINED.name if part.target == UNTRAINED.name else "efficientnet-lite")


def _opener(family: str) -> OpenFamily:
    module, _, function = FAMILIES[family].partition(":")
    opener: OpenFamily = getattr(import_module(module), function)
    return opener
