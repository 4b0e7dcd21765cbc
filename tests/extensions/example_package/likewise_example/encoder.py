"""An encoder of three numbers: how bright the upper, middle and lower part of a picture are."""

from collections.abc import Sequence

import numpy as np
from PIL import Image

from likewise.encoders.protocol import Prepared, Vectors


class Brightness:
    name = "brightness"
    version = "brightness@1"
    dim = 3
    pixels = 32
    preparation = "brightness"

    def prepare(self, image: Image.Image) -> Prepared:
        return np.asarray(image.convert("L").resize((1, 3)), dtype=np.float32).ravel() + 1

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        vectors = np.stack(batch)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)
