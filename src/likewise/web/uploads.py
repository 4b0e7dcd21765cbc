"""Pictures that visitors bring along to search with: the last few, in memory and nowhere else."""

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image

from likewise.catalog.images import open_picture
from likewise.errors import LikewiseError

UPLOADS_KEPT = 64
UPLOAD_PIXELS = 1024  # the longer side that is kept


@dataclass
class Upload:
    """A picture that was brought along, and what each encoder sees in it."""

    picture: Image
    vectors: dict[str, NDArray[np.floating[Any]]] = field(default_factory=dict)


@dataclass
class Uploads:
    """One per page; requests of several threads share it."""

    _kept: OrderedDict[str, Upload] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, content: bytes) -> str:
        """Take a picture in; the token by which to ask for it."""
        picture = open_picture(BytesIO(content), "this file")
        picture.thumbnail((UPLOAD_PIXELS, UPLOAD_PIXELS))
        token = secrets.token_urlsafe(12)
        with self._lock:
            self._kept[token] = Upload(picture)
            while len(self._kept) > UPLOADS_KEPT:
                self._kept.popitem(last=False)
        return token

    def get(self, token: str) -> Upload:
        with self._lock:
            if token not in self._kept:
                raise LikewiseError("this picture is not here any more: choose it again.")
            self._kept.move_to_end(token)
            return self._kept[token]
