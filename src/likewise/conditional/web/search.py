"""What the search page needs while the site runs: a catalog that can be searched, and pictures that were brought along.

Nothing is loaded before the first search; uploaded pictures stay in memory, the last few of them, and nowhere else.
"""

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

from likewise.catalog.images import load_image
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from PIL import Image

    from likewise.conditional.protocol import Features
    from likewise.conditional.search import Searcher, SearchModel

UPLOADS_KEPT = 64
UPLOAD_PIXELS = 1024  # the longer side that is kept


@dataclass
class Upload:
    """A picture that was brought along, and what each encoder sees in it."""

    picture: "Image.Image"
    features: "dict[str, Features]" = field(default_factory=dict)


@dataclass
class SearchService:
    """One per site; requests of several threads share it."""

    workspace: WorkspaceFolder
    _searchers: "dict[SearchModel, Searcher]" = field(default_factory=dict)
    _uploads: OrderedDict[str, Upload] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ready(self) -> bool:
        """Whether features of a two-tower encoder are there at all; says it without loading anything."""
        return bool(self.models())

    def models(self) -> "list[SearchModel]":
        """Encoders and methods to choose among, those with a Combiner first."""
        from likewise.conditional.search import available_models

        return available_models(self.workspace)

    def searcher(self, number: int = 0) -> "Searcher":
        """The catalog, ready to be searched with one of the models; loaded once."""
        from likewise.conditional.search import Searcher

        models = self.models()
        if number >= len(models):
            raise LikewiseError("there is no such model here: reload the page.")
        model = models[number]
        with self._lock:
            if model not in self._searchers:
                self._searchers[model] = Searcher.open(self.workspace, model.encoder, model.method, workers=1)
            return self._searchers[model]

    def upload(self, content: bytes) -> str:
        """Take a picture in; the token by which to ask for it."""
        try:
            picture = load_image(BytesIO(content))
            picture.thumbnail((UPLOAD_PIXELS, UPLOAD_PIXELS))
        except Exception as error:  # decoders raise nearly anything on what is no picture
            raise LikewiseError("this file cannot be read as a picture.") from error
        token = secrets.token_urlsafe(12)
        with self._lock:
            self._uploads[token] = Upload(picture)
            while len(self._uploads) > UPLOADS_KEPT:
                self._uploads.popitem(last=False)
        return token

    def uploaded(self, token: str, searcher: "Searcher") -> "Features":
        """An uploaded picture as the encoder of a searcher sees it."""
        with self._lock:
            if token not in self._uploads:
                raise LikewiseError("this picture is not here any more: choose it again.")
            self._uploads.move_to_end(token)
            upload = self._uploads[token]
        if searcher.tower.spec not in upload.features:
            upload.features[searcher.tower.spec] = searcher.image_features(upload.picture)
        return upload.features[searcher.tower.spec]
