"""What the search page needs while the site runs: a catalog that can be asked, and pictures that were brought along.

Nothing is loaded before the first question; of an uploaded picture only its features are kept, and only for a while.
"""

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

from likewise.catalog.images import load_image
from likewise.errors import LikewiseError
from likewise.workspace import Workspace

if TYPE_CHECKING:
    from likewise.conditional.protocol import Features
    from likewise.conditional.search import Searcher

UPLOADS_KEPT = 64
FEATURES = "features"


@dataclass
class SearchDesk:
    """One per site; requests of several threads share it."""

    workspace: Workspace
    _searchers: "dict[str, Searcher]" = field(default_factory=dict)
    _uploads: "OrderedDict[str, Features]" = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ready(self) -> bool:
        """Whether features of a two-tower encoder are there at all; says it without loading anything."""
        return any((self.workspace.path / FEATURES).glob("*/meta.json"))

    def methods(self) -> list[str]:
        """The ways to compose image and text, the usual one first."""
        from likewise.conditional.methods import COMBINER, combiners

        return [*(f"{COMBINER}:{name}" for name in combiners(self.workspace)), "image+text"]

    def searcher(self, method: str = "") -> "Searcher":
        """The catalog, ready to be asked with one method; loaded once."""
        from likewise.conditional.search import Searcher

        if method and method not in self.methods():
            raise LikewiseError("there is no such method here: reload the page.")
        with self._lock:
            if method not in self._searchers:
                self._searchers[method] = Searcher.open(self.workspace, None, method or None, workers=1)
            return self._searchers[method]

    def upload(self, content: bytes) -> str:
        """Take a picture in; the word by which to ask for it."""
        try:
            picture = load_image(BytesIO(content))
        except Exception as error:  # decoders raise nearly anything on what is no picture
            raise LikewiseError("this file cannot be read as a picture.") from error
        features = self.searcher().features_of(picture)
        word = secrets.token_urlsafe(12)
        with self._lock:
            self._uploads[word] = features
            while len(self._uploads) > UPLOADS_KEPT:
                self._uploads.popitem(last=False)
        return word

    def uploaded(self, word: str) -> "Features":
        with self._lock:
            if word not in self._uploads:
                raise LikewiseError("this picture is not here any more: choose it again.")
            self._uploads.move_to_end(word)
            return self._uploads[word]
