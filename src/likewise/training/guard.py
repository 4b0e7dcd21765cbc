"""The one door through which a check reads images and vectors; test rows stay shut until the final evaluation.

Whatever asks for a test row before that, even a single one among others, gets an error instead of data.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from likewise.catalog.images import load_image
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.reading import read_vectors
from likewise.errors import LikewiseError
from likewise.workspace import Workspace


class TestRowsRead(LikewiseError):  # noqa: N818  # says what happened
    """Somebody asked for test rows before the final evaluation."""

    __test__ = False


@dataclass
class Door:
    """Reads rows of a workspace, but no row of `shut` before `open_test` was called."""

    workspace: Workspace
    shut: frozenset[str]
    is_open: bool = False

    def open_test(self) -> None:
        """Called once, by the final evaluation."""
        self.is_open = True

    def vectors(self, encoder: str, images: Sequence[str]) -> Vectors:
        self.check(images)
        return read_vectors(self.workspace, encoder, images)

    def picture(self, image: str, at_least: int) -> Image.Image:
        self.check([image])
        return load_image(self.workspace.root / image, at_least)

    def check(self, images: Sequence[str]) -> None:
        if self.is_open:
            return
        leaked = [image for image in images if image in self.shut]
        if leaked:
            raise TestRowsRead(
                f"{len(leaked)} of {len(images)} rows belong to test classes (first: {leaked[0]}) and may only be "
                "read by the final evaluation: this is a mistake in the training code, not in your data."
            )
