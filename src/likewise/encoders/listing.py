"""The list of encoders that have a name of their own."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint

from likewise.encoders.entry_points import external_encoders, source_package
from likewise.encoders.families.efficientnet import has_weights
from likewise.encoders.families.huggingface.hub import local_folder
from likewise.encoders.model_cards import BUILT_IN, DESCRIPTIONS, EFFICIENTNET_LITE, HUB_MODELS, LICENCE, STAND_INS
from likewise.encoders.registry import get_encoder
from likewise.errors import LikewiseError


@dataclass(frozen=True)
class EncoderInfo:
    """What `likewise list encoders` prints."""

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
    stand_in: str = ""
    """How it differs from the model of this name in the VSD paper."""


def list_encoders() -> list[EncoderInfo]:
    """All encoders with a name of their own, the built-in ones first."""
    listed = [EncoderInfo(name, get_encoder(name).dim, DESCRIPTIONS[name]) for name in BUILT_IN]
    for known in (*EFFICIENTNET_LITE, *HUB_MODELS):
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
                STAND_INS.get(known.name, ""),
            )
        )
    return listed + [_external_info(entry) for entry in external_encoders().values()]


def _external_info(entry: EntryPoint) -> EncoderInfo:
    """One that cannot be opened is listed, too, with the reason."""
    source = f"package {source_package(entry)}"
    try:
        encoder = get_encoder(entry.name)
        description = next(iter((type(encoder).__doc__ or "").strip().splitlines()), "")
        return EncoderInfo(entry.name, encoder.dim, description, licence="", source=source)
    except LikewiseError as error:
        return EncoderInfo(entry.name, 0, str(error), licence="", here=False, source=source)
