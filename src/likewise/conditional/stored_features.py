"""`features:FILE`: an encoder whose image and text features another program wrote, and no encoder at all.

The file is a NumPy archive (.npz) with `images` (keys or file names), `image_features`, `texts` and `text_features`,
one row each, with the lengths that the features have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from likewise.catalog.table import read_catalog
from likewise.conditional.picture_names import PictureNames
from likewise.conditional.protocol import Features
from likewise.conditional.towers import TwoTower
from likewise.errors import LikewiseError
from likewise.lineage.record import Lineage
from likewise.progress import ProgressCallback
from likewise.untrusted.archives import read_npz
from likewise.workspace import WorkspaceFolder

FEATURES_SPEC = "features:"
ARRAYS = ("images", "image_features", "texts", "text_features")
NO_ENCODER = "none"


@dataclass(frozen=True)
class StoredFeatures(TwoTower):
    """Both sides from one file."""

    @property
    def path(self) -> Path:
        return Path(self.spec.removeprefix(FEATURES_SPEC))

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def dim(self) -> int:
        return int(_read(self.path)["image_features"].shape[1])

    def lineage(self, workspace: WorkspaceFolder) -> Lineage:
        return Lineage(unknown=(self.name,))

    def encode(
        self, workspace: WorkspaceFolder, *, workers: int | None = None, on_progress: ProgressCallback | None = None
    ) -> None:
        self._rows(workspace)

    def encoded_images(self, workspace: WorkspaceFolder) -> list[str]:
        there = self._rows(workspace)
        return [image for image in read_catalog(workspace)["image"] if image in there]

    def image_features(self, workspace: WorkspaceFolder, images: Sequence[str]) -> Features:
        there = self._rows(workspace)
        found = _read(self.path)["image_features"]
        return np.asarray(found[[there[image] for image in images]], np.float32)

    def text_features(self, texts: Sequence[str]) -> Features:
        arrays = _read(self.path)
        row_of = {str(text): row for row, text in enumerate(arrays["texts"])}
        missing = [text for text in texts if text not in row_of]
        if missing:
            raise LikewiseError(
                f"{self.path} has no features of the text {missing[0]!r}, and of {len(missing) - 1} others: add them."
            )
        return np.asarray(arrays["text_features"][[row_of[text] for text in texts]], np.float32)

    def _rows(self, workspace: WorkspaceFolder) -> dict[str, int]:
        names = PictureNames.of(read_catalog(workspace))
        found = {names.key(str(name)): row for row, name in enumerate(_read(self.path)["images"])}
        known = {key: row for key, row in found.items() if key is not None}
        if not known:
            raise LikewiseError(f"{self.path} has features of no image of {workspace.path}: are they of this catalog?")
        return known


@dataclass(frozen=True)
class NoEncoder(TwoTower):
    """For methods that look at no features: runs of other systems."""

    spec: str = NO_ENCODER

    @property
    def name(self) -> str:
        return NO_ENCODER

    @property
    def dim(self) -> int:
        return 1

    def lineage(self, workspace: WorkspaceFolder) -> Lineage:
        return Lineage()

    def encode(
        self, workspace: WorkspaceFolder, *, workers: int | None = None, on_progress: ProgressCallback | None = None
    ) -> None:
        """Nothing to do."""

    def encoded_images(self, workspace: WorkspaceFolder) -> list[str]:
        return read_catalog(workspace)["image"].to_list()

    def image_features(self, workspace: WorkspaceFolder, images: Sequence[str]) -> Features:
        return np.zeros((len(images), 1), np.float32)

    def text_features(self, texts: Sequence[str]) -> Features:
        return np.zeros((len(texts), 1), np.float32)


def open_tower(spec: str) -> TwoTower:
    """A two-tower encoder by its spec, or the features of one in a file."""
    return StoredFeatures(spec) if spec.startswith(FEATURES_SPEC) else TwoTower.from_spec(spec)


def _read(path: Path) -> dict[str, NDArray[np.generic]]:
    if not path.is_file():
        raise LikewiseError(f"there are no features at {path}: give an .npz file with {', '.join(ARRAYS)}.")
    stat = path.stat()
    return _loaded(path, stat.st_size, stat.st_mtime_ns)


@cache
def _loaded(path: Path, size: int, written: int) -> dict[str, NDArray[np.generic]]:
    """`size` and `written` make a file that was written again another one."""
    arrays = read_npz(path, ARRAYS)
    if missing := [name for name in ARRAYS if name not in arrays]:
        raise LikewiseError(f"{path} has no array {', '.join(missing)}: it needs {', '.join(ARRAYS)}.")
    for names, features in (("images", "image_features"), ("texts", "text_features")):
        shapes = arrays[names].shape, arrays[features].shape
        if arrays[features].dtype.kind not in "fiu":
            raise LikewiseError(f"{path}: `{features}` holds {arrays[features].dtype}, not numbers.")
        if arrays[features].ndim != 2 or shapes[0] != shapes[1][:1]:
            raise LikewiseError(f"{path}: `{features}` must have one row for each of `{names}` ({shapes}).")
        if not np.isfinite(arrays[features].astype(np.float64)).all():
            raise LikewiseError(f"{path}: `{features}` holds numbers that are not finite.")
    if arrays["image_features"].shape[1] != arrays["text_features"].shape[1]:
        raise LikewiseError(f"{path}: image and text features must have the same width.")
    return arrays
