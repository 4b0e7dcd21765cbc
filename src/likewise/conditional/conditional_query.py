"""What can be asked of a catalog: an image, conditions, images to be more or less like, and what may be found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.conditional.protocol import Features
from likewise.conditional.search_filters import KEPT
from likewise.errors import LikewiseError

if TYPE_CHECKING:
    from PIL import Image

TOP_K = 12
BALANCED = 0.5
_OPENING = re.compile(r"^(like (this|that|it)[,:]?\s+)?(but\s+)?", re.IGNORECASE)


@dataclass(frozen=True)
class ConditionalQuery:
    """What is asked of a catalog."""

    image: "str | Path | Image.Image | Features | None" = None
    """An image of the catalog by its key, a file, a picture, or its features."""
    conditions: tuple[str, ...] = ()
    text_weight: float = BALANCED
    more_like: tuple[str, ...] = ()
    less_like: tuple[str, ...] = ()
    """Keys of images; what is shown less is never a result itself."""
    keep: tuple[str, ...] = KEPT
    """Columns in which results have the value of the image asked with, where that is known."""
    where: tuple[str, ...] = ()
    """Conditions COLUMN=VALUE that results meet."""
    top_k: int = TOP_K

    def __post_init__(self) -> None:
        if self.image is None and not self.conditions and not self.more_like:
            raise LikewiseError("there is nothing to look for: give an image, a text, or both.")
        if not 0.0 <= self.text_weight <= 1.0:
            raise LikewiseError(f"the weight of the text is {self.text_weight}: use 0 (image alone) to 1 (text alone).")


def parse_condition(text: str) -> str:
    """What is asked for: "like this, but in red" asks for "in red"."""
    return _OPENING.sub("", " ".join(text.split()))


def parse_conditions(text: str | Sequence[str]) -> tuple[str, ...]:
    """One text or several as conditions; each once, empty ones left out."""
    given = [text] if isinstance(text, str) else text
    return tuple(dict.fromkeys(each for one in given if (each := parse_condition(one))))
