"""What a short name such as `dinov2` stands for, and the answer to a name that nobody has."""

from difflib import SequenceMatcher

from likewise.encoders.entry_points import external_encoders
from likewise.encoders.families.huggingface.hub import local_folder
from likewise.encoders.model_cards import BUILT_IN, CARDS_BY_NAME, NOT_PUBLIC
from likewise.encoders.spec import Spec, parse_spec
from likewise.errors import LikewiseError


def is_encoder_name(name: str) -> bool:
    """Whether an encoder has this name: a built-in one, a network with a short name, or one of another package."""
    return name in (*BUILT_IN, *CARDS_BY_NAME) or name in external_encoders()


def is_external(part: Spec) -> bool:
    """Whether a spec names an encoder that another package brings."""
    return not part.family and part.target not in (*BUILT_IN, *CARDS_BY_NAME) and part.target in external_encoders()


def resolve_short_name(part: Spec) -> Spec:
    """The spec with a short name replaced by what it stands for."""
    if part.family:
        return part
    known = CARDS_BY_NAME.get(part.target)
    if known is None:
        raise LikewiseError(_unknown(part.target))
    if not known.spec:
        return part
    if local_folder(part.target) is not None:  # put beside the others under its short name
        return Spec("hf", part.target)
    return parse_spec(known.spec)[0]


def _unknown(name: str) -> str:
    if name in NOT_PUBLIC:
        return (
            f"{NOT_PUBLIC[name]} has no public weights that transformers reads: export yours to ONNX and "
            "name it onnx:FILE, or import its vectors with `likewise encode WORKSPACE --import FILE --name NAME`."
        )
    known = (*BUILT_IN, *CARDS_BY_NAME, *external_encoders())
    closest = max(known, key=lambda each: _likeness(name, each))  # the first of equals: lite0, not lite2
    meant = f", did you mean {closest!r}?" if _likeness(name, closest) >= 0.5 else ":"
    families = "hf:ID, onnx:FILE, python:MODULE:NAME and run:FOLDER"
    return f"there is no encoder {name!r}{meant} known are {', '.join(known)}, {families}."


def _likeness(name: str, known: str) -> float:
    return SequenceMatcher(None, known, name.lower()).ratio()
