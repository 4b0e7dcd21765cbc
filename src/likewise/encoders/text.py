"""Texts to vectors in the space of a two-tower model's pictures, by the same spec string."""

from collections.abc import Sequence

from likewise.encoders.protocol import Vectors
from likewise.encoders.registry import BUILT_IN, source_of
from likewise.encoders.spec import parse
from likewise.errors import LikewiseError


def encode_text(spec: str, texts: Sequence[str]) -> Vectors:
    """Unit vectors (len(texts), dim) to compare with those `get_encoder(spec)` gives pictures."""
    parts = parse(spec)
    source = source_of(parts[0]) if len(parts) == 1 and spec not in BUILT_IN else None
    if source is None or source.family != "hf":
        raise LikewiseError(f"{spec} has no text side: use a two-tower model such as clip, siglip2 or hf:ID.")
    if parts[0].get("pooling") not in (None, "image_embeds"):
        raise LikewiseError(f"{spec}: only pooling=image_embeds shares its space with text.")
    from likewise.encoders.huggingface import encode_texts

    return encode_texts(source.target, texts)
