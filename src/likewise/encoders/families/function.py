"""`python:<module>:<name>`: a function from a list of RGB pictures to an array with a row each, or an encoder object.

The function runs in the process that encodes, so it may hold a network; pictures are decoded by the workers.  A class
or object with `prepare` and `encode` is used as it is (see `protocol.py`).
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from likewise.encoders.digests import file_digest
from likewise.encoders.networks.recipe import centre_crop
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Encoder, OpenEncoder, Prepared, Vectors
from likewise.encoders.spec import Spec
from likewise.errors import LikewiseError

PIXELS = 512  # the shorter side of the pictures a function sees, unless size= says otherwise


def open_function_encoder(part: Spec, open_encoder: OpenEncoder) -> Encoder:
    """The encoder that a `python:` spec names."""
    found = find_function(part)
    if isinstance(found, type):
        found = found()
    if hasattr(found, "prepare") and hasattr(found, "encode"):
        for option, _ in part.options:
            if option not in ("dtype", "weight"):
                raise LikewiseError(f"{part.text!r}: an encoder object prepares pictures itself; leave {option}= out.")
        encoder: Encoder = found
        return encoder
    if not callable(found):
        raise LikewiseError(f"{part.target} is neither a function nor an encoder: name a function of pictures.")
    return FunctionEncoder(part, found)


def find_function(part: Spec) -> Any:
    """What a `python:MODULE:NAME` spec names."""
    module, colon, name = part.target.partition(":")
    if not colon:
        raise LikewiseError(f"{part.text!r} must be python:MODULE:NAME.")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise LikewiseError(f"{part.text!r}: there is no module {error.name!r} here or installed.") from error
    except AttributeError as error:
        raise LikewiseError(f"{part.text!r}: the module {module} has no {name!r}.") from error


@dataclass(frozen=True)
class PixelPreparation:
    """Preparation for a function: the picture itself."""

    pixels: int
    crop: float

    def prepare(self, image: Image.Image) -> Prepared:
        image = centre_crop(image, self.crop)
        scale = self.pixels / min(image.size)
        if scale < 1.0:
            image = image.resize((max(1, round(image.width * scale)), max(1, round(image.height * scale))))
        return np.asarray(image)


class FunctionEncoder:
    """An encoder around a function of a list of pictures."""

    def __init__(self, part: Spec, function: Callable[[list[Image.Image]], Any]) -> None:
        self.name = part.name
        self.text = part.without("name", "weight", "dtype").text
        self.function = function
        self.flip, self.box = part.flag("flip"), part.flag("box")
        self.recipe = PixelPreparation(part.positive_int("size") or PIXELS, part.fraction("crop"))

    @cached_property
    def version(self) -> str:
        source = Path(sys.modules[self.function.__module__].__file__ or "")
        return f"{self.text}@{file_digest(source)[:12]}" if source.is_file() else self.text

    @cached_property
    def dim(self) -> int:
        return int(self.load()([Image.new("RGB", (self.recipe.pixels,) * 2, "grey")]).shape[1])

    @property
    def pixels(self) -> int:
        return ceil(self.recipe.pixels / self.recipe.crop)

    @property
    def preparation(self) -> str:
        return str(self.recipe)

    def prepare(self, image: Image.Image) -> Prepared:
        return self.recipe.prepare(image)

    def load(self) -> Callable[[list[Image.Image]], Vectors]:
        """The function, with its result checked."""

        def run(pictures: list[Image.Image]) -> Vectors:
            rows = np.asarray(self.function(pictures), np.float32)
            if rows.ndim != 2 or len(rows) != len(pictures):
                raise LikewiseError(
                    f"{self.text} gave an array {rows.shape} for {len(pictures)} pictures: it must give a row each."
                )
            return rows

        return run

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        run = self.load()
        vectors = unit_rows(run([Image.fromarray(each) for each in batch]))
        if self.flip:
            mirrored = [Image.fromarray(np.ascontiguousarray(each[:, ::-1])) for each in batch]
            vectors = unit_rows(vectors + unit_rows(run(mirrored)))
        return vectors
