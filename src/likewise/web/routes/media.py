"""Pictures by opaque id, never by path, and only for someone who is logged in."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.responses import Response

from likewise.labeling.store.images import image_key
from likewise.web.access import CurrentSite, CurrentVisitor
from likewise.web.pages import picture_response
from likewise.web.schemas import MAX_ID

router = APIRouter(prefix="/media", include_in_schema=False)
ImageId = Annotated[int, Path(ge=1, le=MAX_ID)]


@router.get("/thumb/{image}")
def thumb(image: ImageId, request: Request, who: CurrentVisitor, site: CurrentSite) -> Response:
    key = _key(image, site)
    return picture_response(request, site.thumbnails.thumbnail(key))


@router.get("/full/{image}")
def full(image: ImageId, request: Request, who: CurrentVisitor, site: CurrentSite) -> Response:
    key = _key(image, site)
    return picture_response(request, site.thumbnails.original(key))


def _key(image: int, site: CurrentSite) -> str:
    """Ids are 48 random bits: whoever has one got it with a pair or a question of theirs."""
    key = image_key(site.engine, image)
    if key is None:
        raise HTTPException(404, "there is no such picture")
    return key
