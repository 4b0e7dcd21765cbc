"""Short digests of captions and of answers: a record of what was learned stays small and holds nobody's text."""

import hashlib
import re
from collections.abc import Iterable

MIN_CAPTION_WORDS = 4
"""Shorter captions fit many pictures and say nothing about which one was seen."""


def caption_digest(caption: str) -> str | None:
    """Of the words of a caption, whatever its case and punctuation; None for one too short to tell pictures apart."""
    words = re.findall(r"\w+", caption.casefold())
    return _digest(words) if len(words) >= MIN_CAPTION_WORDS else None


def pair_digest(first: str, second: str) -> str:
    """Of a labelled pair, either way round."""
    return _digest(["pair", *sorted((first, second))])


def triplet_digest(anchor: str, one: str, other: str) -> str:
    """Of "which of the two looks more like the anchor?", whichever was chosen."""
    return _digest(["triplet", anchor, *sorted((one, other))])


def condition_digest(reference: str, condition: str, target: str) -> str:
    """Of a reference, a condition and the image that answers them."""
    return _digest(["condition", reference, condition.strip().casefold(), target])


def look_digest(items: Iterable[str]) -> str:
    """Of items that make one outfit, in any order."""
    return _digest(["look", *sorted(items)])


def _digest(parts: Iterable[str]) -> str:
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=8).hexdigest()
