"""A two-tower encoder of the registry, seen with both its sides and with the length of its features kept.

Cosine similarity does not need the length, the Combiner does (its inputs are unscaled CLIP features), so features
live in their own folder of the workspace, `features/<encoder>/`, in the same files as vectors (`docs/workspace.md`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import numpy as np

from likewise.conditional.base_features import encode_from_base_features, unscaled_spec
from likewise.conditional.protocol import Features
from likewise.encoders.lineage import encoder_lineage
from likewise.encoders.normalization import unit_rows
from likewise.encoders.registry import get_encoder
from likewise.encoders.spec import Spec, parse_spec
from likewise.encoders.text import encode_text, supports_text
from likewise.errors import LikewiseError
from likewise.lineage.record import Lineage
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from PIL import Image

FEATURES_FOLDER = "features"


@dataclass(frozen=True)
class FeatureWorkspace(WorkspaceFolder):
    """The same workspace, with features where vectors would be."""

    @property
    def vectors_folder(self) -> Path:
        return self.path / FEATURES_FOLDER


@dataclass(frozen=True)
class TwoTower:
    """An encoder with an image side and a text side in one space; cheap to make."""

    spec: str

    @classmethod
    def from_spec(cls, spec: str) -> "TwoTower":
        """The encoder, if it has a text side."""
        if not supports_text(spec):
            raise LikewiseError(
                f"{spec} has no text side, which a condition needs: use a two-tower model such as clip or hf:FOLDER."
            )
        return cls(spec)

    @property
    def unscaled(self) -> str:
        """The spec of its image side with the length of features kept; a folder by its whole path, for later."""
        part = parse_spec(self.spec)[0]
        folder = Path(part.target).expanduser()
        target = str(folder.resolve()) if part.family and folder.is_dir() else part.target
        return unscaled_spec(Spec(part.family, target, part.options).text)

    @property
    def name(self) -> str:
        return parse_spec(self.spec)[0].name

    @property
    def dim(self) -> int:
        return get_encoder(self.unscaled).dim

    def lineage(self, workspace: WorkspaceFolder) -> Lineage:
        """What it learned from."""
        return encoder_lineage(FeatureWorkspace(workspace.path), self.unscaled)

    def text_features(self, texts: Sequence[str]) -> Features:
        """(len(texts), dim); a text that occurs often is encoded once."""
        different = list(dict.fromkeys(texts))
        rows = {text: number for number, text in enumerate(different)}
        features = encode_text(self.spec, different, unit=False)
        return features[[rows[text] for text in texts]] if texts else features

    def picture_features(self, pictures: "Sequence[Image.Image]") -> Features:
        """Of pictures that are in no catalog."""
        encoder = get_encoder(self.unscaled)
        if not pictures:
            return np.empty((0, encoder.dim), np.float32)
        return encoder.encode([encoder.prepare(picture) for picture in pictures])

    def encode(
        self, workspace: WorkspaceFolder, *, workers: int | None = None, on_progress: ProgressCallback | None = None
    ) -> None:
        """Make the features of every image of the catalog, going on where an earlier run stopped."""
        from likewise.encoders.running.encode import encode_catalog

        place = FeatureWorkspace(workspace.path)
        encode_from_base_features(place, self.unscaled)
        encode_catalog(place, [self.unscaled], workers=workers, on_progress=on_progress)

    def image_features(self, workspace: WorkspaceFolder, images: Sequence[str]) -> Features:
        """(len(images), dim) of catalog images, which `encode` has made."""
        from likewise.encoders.storage.reading import read_vectors

        return read_vectors(FeatureWorkspace(workspace.path), self.unscaled, images)

    def encoded_images(self, workspace: WorkspaceFolder) -> list[str]:
        """The catalog images that have features, in catalog order."""
        from likewise.encoders.storage.reading import encoded_images

        return encoded_images(FeatureWorkspace(workspace.path), self.unscaled)


def encoded_towers(workspace: WorkspaceFolder) -> list[str]:
    """Specs of the two-tower encoders whose features are in a workspace, complete."""
    from likewise.encoders.storage.files import read_meta

    found = []
    for name in FeatureWorkspace(workspace.path).encoders():
        meta = read_meta(workspace.path / FEATURES_FOLDER / name)
        if meta is not None:
            part = parse_spec(meta.spec)[0].without("unscaled")
            inside = workspace.path / PurePath(part.target).name
            if part.family and not Path(part.target).is_dir() and inside.is_dir():  # the workspace was moved
                part = Spec(part.family, str(inside.resolve()), part.options)
            if _has_text_here(part.text):  # features of the network below a tower may be there as well
                found.append(part.text)
    return found


def _has_text_here(spec: str) -> bool:
    try:
        return supports_text(spec)
    except LikewiseError:  # its model is not on this machine any more
        return False


def normalize(features: Features) -> Features:
    """Rows scaled to length one."""
    shape = features.shape
    return unit_rows(features.reshape(-1, shape[-1])).reshape(shape)
