"""Pictures by opaque id, never by path, and only for someone who is logged in."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.responses import Response

from likewise.labeling.store.images import image_key
from likewise.web.access import CurrentSite, CurrentVisitor
from likewise.web.schemas import MAX_ID
from likewise.web.thumbnails import ImageContent

router = APIRouter(prefix="/media", include_in_schema=False)
ImageId = Annotated[int, Path(ge=1, le=MAX_ID)]
CACHED_SECONDS = 7 * 86_400


@router.get("/thumb/{image}")
def thumb(image: ImageId, request: Request, who: CurrentVisitor, site: CurrentSite) -> Response:
    key = _key(image, site)
    return _reply(request, site.thumbnails.thumbnail(key))


@router.get("/full/{image}")
def full(image: ImageId, request: Request, who: CurrentVisitor, site: CurrentSite) -> Response:
    key = _key(image, site)
    return _reply(request, site.thumbnails.original(key))


def _key(image: int, site: CurrentSite) -> str:
    """Ids are 48 random bits: whoever has one got it with a pair or a question of theirs."""
    key = image_key(site.engine, image)
    if key is None:
        raise HTTPException(404, "there is no such picture")
    return key


def _reply(request: Request, picture: ImageContent | None) -> Response:
    if picture is None:
        raise HTTPException(404, "this picture cannot be read")
    headers = {
        "ETag": f'"{picture.tag}"',
        "Cache-Control": f"private, max-age={CACHED_SECONDS}",  # private: no shared cache may keep them
        "Vary": "Cookie",
    }
    if f'"{picture.tag}"' in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(picture.content, media_type=picture.media_type, headers=headers)
