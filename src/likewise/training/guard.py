"""The guard of the test set: a check reads images and vectors through it, test rows only in the final evaluation.

Whatever asks for a test row before that, even a single one among others, gets an error instead of data.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from likewise.catalog.images import load_image
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.reading import read_vectors
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder


class TestSetAccessError(LikewiseError):
    """Somebody asked for test rows before the final evaluation."""

    __test__ = False


@dataclass
class TestSetGuard:
    """Reads rows of a workspace, but no row of `test_images` before `unlock` was called."""

    __test__ = False
    workspace: WorkspaceFolder
    test_images: frozenset[str]
    is_unlocked: bool = False

    def unlock(self) -> None:
        """Called once, by the final evaluation."""
        self.is_unlocked = True

    def vectors(self, encoder: str, images: Sequence[str]) -> Vectors:
        self.check_access(images)
        return read_vectors(self.workspace, encoder, images)

    def load_image(self, image: str, at_least: int) -> Image.Image:
        self.check_access([image])
        return load_image(self.workspace.root / image, at_least)

    def check_access(self, images: Sequence[str]) -> None:
        if self.is_unlocked:
            return
        leaked = [image for image in images if image in self.test_images]
        if leaked:
            raise TestSetAccessError(
                f"{len(leaked)} of {len(images)} rows belong to test classes (first: {leaked[0]}) and may only be "
                "read by the final evaluation: this is a mistake in the training code, not in your data."
            )
