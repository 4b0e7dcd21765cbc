"""Pictures that visitors bring along to search with: the last few, in memory and nowhere else."""

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from likewise.catalog.images import open_image, open_picture
from likewise.errors import LikewiseError

UPLOADS_KEPT = 64
MAX_UPLOAD_PIXELS = 50_000_000
UPLOAD_PIXELS = 1024  # the longer side that is kept


@dataclass
class Upload:
    """A picture that was brought along, and what each encoder sees in it."""

    picture: Image.Image
    vectors: dict[str, NDArray[np.floating[Any]]] = field(default_factory=dict)


def refuse_large_picture(content: bytes) -> None:
    """Raise for more pixels than a camera takes, by what the file says before it is unpacked."""
    try:
        width, height = open_image(BytesIO(content)).size
    except Exception:  # no picture at all: whoever opens it says so
        return
    if width * height > MAX_UPLOAD_PIXELS:
        raise LikewiseError(
            f"this picture has {width:,} x {height:,} pixels: choose one of at most {MAX_UPLOAD_PIXELS:,} in all."
        )


@dataclass
class Uploads:
    """One per page; requests of several threads share it."""

    _kept: OrderedDict[str, Upload] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _decoding: threading.Lock = field(default_factory=threading.Lock)

    def add(self, content: bytes) -> str:
        """Take a picture in; the token by which to ask for it."""
        with self._decoding:  # one at a time: a small file can hold a large picture
            refuse_large_picture(content)
            picture = open_picture(BytesIO(content), "this file")
            picture.thumbnail((UPLOAD_PIXELS, UPLOAD_PIXELS))
        token = secrets.token_urlsafe(12)
        with self._lock:
            self._kept[token] = Upload(picture)
            while len(self._kept) > UPLOADS_KEPT:
                self._kept.popitem(last=False)
        return token

    def forget_vectors(self) -> None:
        """Where an encoder may have been replaced by another of its name; the pictures stay."""
        with self._lock:
            for upload in self._kept.values():
                upload.vectors = {}

    def get(self, token: str) -> Upload:
        with self._lock:
            if token not in self._kept:
                raise LikewiseError("this picture is not here any more: choose it again.")
            self._kept.move_to_end(token)
            return self._kept[token]
