"""Options of the built-in descriptors: a part of the picture, its box, fewer pixels, the mean with the mirror image."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageOps

from likewise.encoders.network import unit_rows
from likewise.encoders.protocol import Encoder, Prepared, Vectors
from likewise.encoders.recipe import central


@dataclass(frozen=True)
class Viewed:
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
        return f"{self.inner.version} {self._way}"

    @property
    def _way(self) -> str:
        return f"crop={self.crop:g} flip={self.flip:d} box={self.box:d}" + (f" size={self.size}" if self.size else "")

    @property
    def dim(self) -> int:
        return self.inner.dim

    @property
    def pixels(self) -> int:
        return int(np.ceil(self.inner.pixels / self.crop))

    @property
    def preparation(self) -> str:
        return f"{self.inner.preparation} {self._way}"

    def prepare(self, image: Image.Image) -> Prepared:
        image = central(image, self.crop)
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
