"""Texts to vectors in the space of a two-tower model's pictures, by the same spec string."""

from collections.abc import Sequence

from likewise.encoders.families import two_tower
from likewise.encoders.families.huggingface import model as huggingface
from likewise.encoders.model_cards import BUILT_IN
from likewise.encoders.protocol import Vectors
from likewise.encoders.short_names import is_external, resolve_short_name
from likewise.encoders.spec import Spec, parse_spec
from likewise.errors import LikewiseError


def encode_text(spec: str, texts: Sequence[str], *, unit: bool = True) -> Vectors:
    """Vectors (len(texts), dim) to compare with those `get_encoder(spec)` gives pictures.

    Of length one, or with `unit=False` of the length the model gives them.
    """
    parts = parse_spec(spec)
    source = _source(spec)
    if source is None:
        raise LikewiseError(f"{spec} has no text side: use a two-tower model such as clip, siglip2 or hf:ID.")
    if parts[0].get("pooling") not in (None, "image_embeds"):
        raise LikewiseError(f"{spec}: only pooling=image_embeds shares its space with text.")
    if source.family == "two-tower":
        return two_tower.encode_texts(source.target, texts, unit=unit)
    return huggingface.encode_texts(source.target, texts, unit=unit)


def supports_text(spec: str) -> bool:
    """Whether an encoder has a text side; a model that is not on this machine is an error."""
    source = _source(spec)
    if source is None or parse_spec(spec)[0].get("pooling") not in (None, "image_embeds"):
        return False
    if source.family == "two-tower":
        return True
    return huggingface.has_text_tower(source.target)


def _source(spec: str) -> Spec | None:
    """Where a spec's network comes from, if it is one that can have a text side."""
    parts = parse_spec(spec)
    if len(parts) > 1 or parts[0].family not in ("", "hf", "two-tower"):
        return None
    if parts[0].target in BUILT_IN or is_external(parts[0]):
        return None
    source = resolve_short_name(parts[0])
    return source if source.family in ("hf", "two-tower") else None
