"""Several encoders side by side in memory; over a catalog, from stored vectors (`running/derive.py`)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from likewise.encoders.protocol import Encoder, OpenEncoder, Prepared, Vectors
from likewise.encoders.spec import Spec, parse_spec


@dataclass(frozen=True)
class JoinedEncoder:
    """Unit vectors side by side; the similarity is the weighted mean of the similarities."""

    name: str
    encoders: tuple[Encoder, ...]
    weights: tuple[float, ...]

    @property
    def version(self) -> str:
        return "+".join(encoder.version for encoder in self.encoders)

    @property
    def dim(self) -> int:
        return sum(encoder.dim for encoder in self.encoders)

    @property
    def pixels(self) -> int:
        return max(encoder.pixels for encoder in self.encoders)

    @property
    def preparation(self) -> str:
        return " + ".join(encoder.preparation for encoder in self.encoders)

    def prepare(self, image: Image.Image) -> Prepared:
        prepared = np.empty(len(self.encoders), object)
        for number, encoder in enumerate(self.encoders):
            prepared[number] = encoder.prepare(image)
        return prepared

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        vectors = [encoder.encode([each[i] for each in batch]) for i, encoder in enumerate(self.encoders)]
        return concatenate_vectors(vectors, self.weights)


def open_joined(part: Spec, open_encoder: OpenEncoder) -> Encoder:
    """The encoders that a spec joins, or the only one in the brackets."""
    parts = parse_spec(part.target)
    return join_encoders(parts, open_encoder) if len(parts) > 1 else open_encoder(part.target)


def join_encoders(parts: Sequence[Spec], open_encoder: OpenEncoder) -> JoinedEncoder:
    encoders = tuple(open_encoder(part.without("weight").text) for part in parts)
    return JoinedEncoder("+".join(part.name for part in parts), encoders, tuple(part.weight for part in parts))


def concatenate_vectors(vectors: Sequence[Vectors], weights: Sequence[float]) -> Vectors:
    """Rows of unit length from rows of unit length."""
    total = sum(weights)
    scaled = [np.float32(np.sqrt(weight / total)) * part for weight, part in zip(weights, vectors, strict=True)]
    return np.concatenate(scaled, axis=1)
