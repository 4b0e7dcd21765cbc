"""A picture that somebody brings along to a page of outfits: checked, made small, and turned into a JPEG of ours."""

import threading
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from fastapi.responses import Response

from likewise.catalog.images import open_picture
from likewise.web.access import or_bad_request
from likewise.web.uploads import UPLOAD_PIXELS, refuse_large_picture

_decoding = threading.Lock()  # one at a time: a small file can hold a large picture


def prepare_picture(content: bytes) -> bytes:
    """The pixels alone, at most `UPLOAD_PIXELS` on the longer side; what is no picture, or too large, is refused."""
    with _decoding:
        refuse_large_picture(content)
        picture = open_picture(BytesIO(content), "this file")
        picture.thumbnail((UPLOAD_PIXELS, UPLOAD_PIXELS))
        output = BytesIO()
        picture.save(output, "JPEG", quality=90)
    return output.getvalue()


def own_picture_response(find: Callable[[], Path]) -> Response:
    """A picture that was kept; its name says what it holds, so browsers need not ask again."""
    path = or_bad_request(find, 404)
    return Response(path.read_bytes(), media_type="image/jpeg", headers={"Cache-Control": "private, max-age=604800"})
