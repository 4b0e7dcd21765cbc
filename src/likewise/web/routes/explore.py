"""The explore pages: what models find, for whoever may look (`likewise explore`), or for the owner of a site."""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response
from markupsafe import escape
from starlette.concurrency import run_in_threadpool

from likewise.errors import LikewiseError
from likewise.explore.asking import ask_experts
from likewise.explore.gallery import MAX_SIDE_BY_SIDE
from likewise.status import workspace_status
from likewise.web.access import CsrfHeader, CurrentOwner, CurrentSite, IsOwner, get_site, or_bad_request
from likewise.web.explore import EXPLORE_VIEWS, CurrentExploreService, ExploreService
from likewise.web.pages import picture_response, render, script_settings
from likewise.web.schemas import PairsToAsk
from likewise.web.thumbnails import SMALL_SIDE_PIXELS

router = APIRouter(include_in_schema=False)
IMAGES_LISTED = 60
REPORT_ADDRESS = "/explore/report"
REPORT_POLICY = (  # the report's own policy, in the page, allows its one script by its hash
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
Key = Annotated[str, Query(max_length=1000)]
Names = Annotated[list[str], Query(alias="with", max_length=MAX_SIDE_BY_SIDE)]
Conditions = Annotated[list[str], Query(max_length=20)]


def get_service(request: Request) -> ExploreService:
    """Over the catalog and the vectors of now; ask once in a request."""
    get_site(request).follow_workspace()
    services = request.app.state.explore
    assert isinstance(services, CurrentExploreService)
    return services.get()


@router.get("/explore")
def neighbours_page(request: Request, is_owner: IsOwner) -> Response:
    return explore_page(request, "/explore", "neighbours", is_owner)


def explore_page(
    request: Request, address: str, view: str, is_owner: bool, further: dict[str, Any] | None = None
) -> Response:
    """One of the views; its script gets what all of them need."""
    service = get_service(request)
    encoders = service.workspace.encoders()
    boot = script_settings(request, "", view) | {"owner": is_owner, "encoders": [], "columns": []} | (further or {})
    if encoders:
        boot |= {
            "encoders": service.gallery.encoders,
            "columns": service.columns,
            "workspace": service.workspace.quoted,
            "images": len(service.gallery.images),
        }
    return render(
        request,
        f"explore/{view}.html",
        boot=boot,
        address=address,
        view=view,
        views=EXPLORE_VIEWS,
        is_owner=is_owner,
        ready=bool(encoders),
        report=REPORT_ADDRESS if service.workspace.report_file.exists() else None,
        workspace=service.workspace.quoted,
    )


@router.get(REPORT_ADDRESS)
def report_page(request: Request, is_owner: IsOwner) -> Response:
    """The report as it was written, told where it is served from, so that its pictures are links to explore."""
    service = get_service(request)
    file = service.workspace.report_file
    if not file.exists():
        raise HTTPException(404, "there is no report yet: run `likewise evaluate` and `likewise report`")
    page = file.read_text(encoding="utf-8").replace("<html ", '<html data-explore="/explore" ', 1)
    if said := _report_problem(service):
        page = page.replace("<main>", f'<main>\n<p class="basis" role="status"><strong>{escape(said)}</strong></p>', 1)
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


def _report_problem(service: ExploreService) -> str:
    """What to say above a report that is not of now; empty where it is."""
    try:
        state = workspace_status(service.workspace).part("report")
    except LikewiseError as error:
        return f"Whether this report is current is not known: {error}"
    known = state.state == "current"
    return "" if known else f"This report is {state.state}: {state.why}. “{state.command}” makes it current."


@router.get("/api/explore/picture")
def picture(
    request: Request, is_owner: IsOwner, site: CurrentSite, image: Key, size: Annotated[str, Query(max_length=8)] = ""
) -> Response:
    """A picture of the catalog by its key: small, as it is (full), or in between."""
    if size == "full":
        return picture_response(request, site.thumbnails.original(image))
    if size == "small":
        return picture_response(request, site.thumbnails.thumbnail(image, SMALL_SIDE_PIXELS))
    return picture_response(request, site.thumbnails.thumbnail(image))


@router.get("/api/explore/images")
def images(
    request: Request,
    is_owner: IsOwner,
    find: Annotated[str, Query(max_length=200)] = "",
    where: Conditions = [],  # noqa: B006
    after: Annotated[int, Query(ge=0)] = 0,
) -> dict[str, Any]:
    """Images of the catalog whose key or other texts hold a text."""
    gallery = get_service(request).gallery
    rows = or_bad_request(lambda: gallery.find_images(find, gallery.allowed(where)))
    shown = rows[after : after + IMAGES_LISTED].tolist()
    categories = gallery.catalog["category"].gather(shown).to_list()
    return {"total": len(rows), "images": [gallery.images[row] for row in shown], "categories": categories}


@router.post("/api/explore/upload", dependencies=[CsrfHeader])
async def upload(request: Request, is_owner: IsOwner) -> dict[str, str]:
    """A picture as the body; it stays in memory, the last few of them."""
    content = await request.body()
    return {"upload": await run_in_threadpool(or_bad_request, lambda: get_service(request).uploads.add(content))}


@router.get("/api/explore/neighbours")
def neighbours(
    request: Request,
    is_owner: IsOwner,
    image: Key = "",
    upload: Annotated[str, Query(max_length=64)] = "",
    names: Names = [],  # noqa: B006
    where: Conditions = [],  # noqa: B006
    k: Annotated[int, Query(ge=1, le=200)] = 12,
) -> dict[str, Any]:
    """The nearest items of an image of the catalog, or of an uploaded picture, under up to four encoders."""
    service = get_service(request)
    gallery = service.gallery
    row = gallery.row_of.get(image)
    if row is None and not upload:
        raise HTTPException(404, f"{image} is not an image of this catalog")

    def find() -> dict[str, Any]:
        encoders, allowed = gallery.choose_encoders(names), gallery.allowed(where)
        if row is not None:
            lists = gallery.neighbours(row, encoders, k=k, allowed=allowed)
            return {"query": service.image_json(row), "lists": service.lists_json(image, lists)}
        brought = service.uploads.get(upload)
        lists = gallery.neighbours(brought.picture, encoders, k=k, allowed=allowed, known=brought.vectors)
        return {"query": None, "lists": service.lists_json(None, lists)}

    return or_bad_request(find)


@router.get("/api/explore/step")
def step(
    request: Request,
    is_owner: IsOwner,
    image: Key = "",
    by: Annotated[int, Query(ge=-1, le=1)] = 1,
    where: Conditions = [],  # noqa: B006
) -> dict[str, str]:
    """The next or the previous image of the catalog that meets the conditions, round and round."""
    gallery = get_service(request).gallery
    rows = or_bad_request(lambda: gallery.find_images("", gallery.allowed(where)))
    here = gallery.row_of.get(image, -1)
    place = int(rows.searchsorted(here, "right" if by > 0 else "left")) - (by < 0)
    return {"image": gallery.images[int(rows[place % len(rows)])]}


@router.post("/api/explore/ask", dependencies=[CsrfHeader])
def ask(request: Request, body: PairsToAsk, who: CurrentOwner, site: CurrentSite) -> dict[str, Any]:
    """Put pairs before the experts."""
    workspace = get_service(request).workspace
    asked = or_bad_request(lambda: ask_experts(workspace, site.engine, body.pairs))
    return {"asked": asked.asked, "known": asked.known, "said": asked.sentence}
