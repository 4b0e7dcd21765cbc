"""Options of the built-in descriptors: a part of the picture, its box, fewer pixels, the mean with the mirror image."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageOps

from likewise.encoders.families.descriptors.blend import PARTS, BlendDescriptor
from likewise.encoders.networks.recipe import centre_crop
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Encoder, OpenEncoder, Prepared, Vectors
from likewise.encoders.spec import Spec
from likewise.errors import LikewiseError

DESCRIPTORS: dict[str, Encoder] = {encoder.name: encoder for encoder in (*PARTS, BlendDescriptor())}


@dataclass(frozen=True)
class DescriptorWithOptions:
    """Another encoder that looks at pictures in its own way."""

    name: str
    inner: Encoder
    crop: float = 1.0
    flip: bool = False
    box: bool = False
    size: int | None = None
    """Of the longer side: finer detail is not seen."""

    @property
    def version(self) -> str:
        return f"{self.inner.version} {self._options_text}"

    @property
    def _options_text(self) -> str:
        return f"crop={self.crop:g} flip={self.flip:d} box={self.box:d}" + (f" size={self.size}" if self.size else "")

    @property
    def dim(self) -> int:
        return self.inner.dim

    @property
    def pixels(self) -> int:
        return int(np.ceil(self.inner.pixels / self.crop))

    @property
    def preparation(self) -> str:
        return f"{self.inner.preparation} {self._options_text}"

    def prepare(self, image: Image.Image) -> Prepared:
        image = centre_crop(image, self.crop)
        if self.size and self.size < max(image.size):
            share = self.size / max(image.size)
            image = image.resize((max(1, round(image.width * share)), max(1, round(image.height * share))))
        if not self.flip:
            return self.inner.prepare(image)
        return np.stack([self.inner.prepare(image), self.inner.prepare(ImageOps.mirror(image))])

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        if not self.flip:
            return self.inner.encode(batch)
        seen = self.inner.encode([each[0] for each in batch])
        mirrored = self.inner.encode([each[1] for each in batch])
        return unit_rows(seen + mirrored)


def open_descriptor_encoder(part: Spec, open_encoder: OpenEncoder) -> Encoder:
    """The descriptor a spec names, with its options."""
    encoder = DESCRIPTORS[part.target]
    for option, _ in part.options:
        if option not in ("size", "crop", "flip", "box", "dtype", "name", "weight"):
            raise LikewiseError(f"the built-in encoder {part.target} has no option {option!r}: leave it out.")
    crop, flip, box, size = part.fraction("crop"), part.flag("flip"), part.flag("box"), part.positive_int("size")
    if size is not None and size > encoder.pixels:
        raise LikewiseError(
            f"the built-in encoder {part.target} looks at {encoder.pixels} pixels: size={size} must not be more."
        )
    if crop == 1.0 and not flip and not box and size is None and part.name == part.target:
        return encoder
    return DescriptorWithOptions(part.name, encoder, crop, flip, box, size)
