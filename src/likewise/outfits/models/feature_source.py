"""Where a model gets its inputs: the vectors of encoders, or the image files themselves, by image key."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from likewise.encoders.families.joined import concatenate_vectors
from likewise.encoders.lineage import joined_lineage
from likewise.encoders.spec import parse_spec
from likewise.errors import LikewiseError
from likewise.lineage.record import Lineage
from likewise.outfits.vectors import VectorLookup, read_image_vectors
from likewise.workspace import WorkspaceFolder


class FeatureSource(Protocol):
    """A place where images can be looked up: a workspace, a test's folder, or arrays in memory."""

    def vectors(self, encoder: str) -> VectorLookup:
        """All vectors of one encoder."""

    def image_path(self, image: str) -> Path:
        """The file of an image."""

    def lineage(self, encoders: str) -> Lineage:
        """What one encoder, or several joined by `+`, learned from."""


@dataclass(frozen=True)
class WorkspaceFeatures:
    """The pictures and stored vectors of a workspace; vectors are read once."""

    workspace: WorkspaceFolder
    _read: dict[str, VectorLookup] = field(default_factory=dict, compare=False, repr=False)

    def vectors(self, encoder: str) -> VectorLookup:
        if encoder not in self._read:
            self._read[encoder] = read_image_vectors(self.workspace, encoder)
        return self._read[encoder]

    def image_path(self, image: str) -> Path:
        return self.workspace.root / image

    def lineage(self, encoders: str) -> Lineage:
        return joined_lineage(self.workspace, [part.without("weight").text for part in parse_spec(encoders)])


@dataclass(frozen=True)
class InMemoryFeatures:
    """Vectors in memory, by encoder."""

    known: Mapping[str, VectorLookup]
    root: Path | None = field(default=None)

    def vectors(self, encoder: str) -> VectorLookup:
        if encoder not in self.known:
            raise LikewiseError(f"there are no {encoder} vectors here; there are {', '.join(sorted(self.known))}.")
        return self.known[encoder]

    def image_path(self, image: str) -> Path:
        if self.root is None:
            raise LikewiseError(f"the picture {image} is not here: only vectors were given.")
        return self.root / image

    def lineage(self, encoders: str) -> Lineage:
        return Lineage(unknown=tuple(part.name for part in parse_spec(encoders)))


def joined_vectors(features: FeatureSource, encoders: str) -> VectorLookup:
    """Vectors of one encoder, or of several joined by `+` side by side, of the images that all of them have."""
    parts = parse_spec(encoders)
    if len(parts) == 1:
        return features.vectors(encoders)
    parts_vectors = [features.vectors(part.without("weight").text) for part in parts]
    images = tuple(image for image in parts_vectors[0].images if all(image in other for other in parts_vectors[1:]))
    if not images:
        raise LikewiseError(f"no image has a vector of each of {encoders}: encode the catalog with all of them.")
    vectors = concatenate_vectors([one.lookup(images) for one in parts_vectors], [part.weight for part in parts])
    return VectorLookup(encoders, images, vectors)


def joined_version(encoders: str) -> str:
    """The versions of the encoders, as far as they can be known without their vectors."""
    return "+".join(_version(part.without("weight").text) for part in parse_spec(encoders))


@cache
def _version(encoder: str) -> str:
    from likewise.encoders.registry import get_encoder

    try:
        return get_encoder(encoder).version
    except LikewiseError:  # vectors brought in from elsewhere
        return encoder
