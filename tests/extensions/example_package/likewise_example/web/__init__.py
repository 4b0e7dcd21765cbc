"""One more page of the site, for the owner."""

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.web.access import CurrentOwner, CurrentSite
from likewise.web.extension_pages import OWNER, Pages
from likewise.web.pages import render

from ..measure import mean_brightness

router = APIRouter(include_in_schema=False)


@router.get("/owner/brightness")
def page(request: Request, who: CurrentOwner, site: CurrentSite) -> Response:
    value = mean_brightness(site.settings.workspace)
    return render(request, "brightness/page.html", percent=round(100 * value))


PAGES = Pages(
    routers=(router,),
    roles={("GET", "/owner/brightness"): frozenset({OWNER})},
    folder=Path(__file__).parent,
    links={"/owner/brightness": "Brightness"},
)
