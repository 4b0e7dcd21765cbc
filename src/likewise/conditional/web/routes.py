"""The search page, "like this, but …", for the owner alone: experts stay blind to what models think."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response

from likewise.conditional.search_filters import KEPT
from likewise.conditional.web.search import SearchService
from likewise.errors import LikewiseError
from likewise.labeling.store.engine import write_transaction
from likewise.labeling.store.images import ensure_images, image_key
from likewise.web.access import CsrfHeader, CurrentOwner, CurrentSite
from likewise.web.pages import image_links, render, script_settings
from likewise.web.schemas import MAX_ID
from likewise.web.site import Site

router = APIRouter(include_in_schema=False)
PICTURES_SHOWN = 24
RESULTS_SHOWN = 18
Result = TypeVar("Result")


@router.get("/search")
def page(request: Request, who: CurrentOwner) -> Response:
    service = _service(request)
    ready = service.ready()
    boot = script_settings(request, "", "search") | {
        "models": [model.label for model in service.models()] if ready else [],
        "columns": service.columns() if ready else [],
        "kept": list(KEPT),
    }
    return render(request, "conditional/search.html", boot=boot, ready=ready, workspace=service.workspace.path.name)


@router.get("/api/search/pictures")
def pictures(
    request: Request,
    who: CurrentOwner,
    site: CurrentSite,
    find: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[int, Query(ge=0, le=MAX_ID)] = 0,
) -> dict[str, Any]:
    """Pictures of the catalog to start from: all, or those whose name or category holds a text."""
    keys = _or_conflict(lambda: _service(request).searcher().find_images(find))
    return {"total": len(keys), "pictures": _image_entries(site, keys[after : after + PICTURES_SHOWN])}


@router.post("/api/search/upload", dependencies=[CsrfHeader])
async def upload(request: Request, who: CurrentOwner) -> dict[str, str]:
    """A picture as the body; only what the encoder sees in it is kept."""
    from starlette.concurrency import run_in_threadpool

    content = await request.body()
    return {"upload": await run_in_threadpool(_or_conflict, lambda: _service(request).uploads.add(content))}


@router.get("/api/search")
def search(
    request: Request,
    who: CurrentOwner,
    site: CurrentSite,
    image: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
    upload: Annotated[str, Query(max_length=64)] = "",
    text: Annotated[str, Query(max_length=300)] = "",
    weight: Annotated[float, Query(ge=0, le=1)] = 0.5,
    model: Annotated[int, Query(ge=0, le=1000)] = 0,
    keep: Annotated[str, Query(max_length=300)] = "",
) -> dict[str, Any]:
    """The best images for a reference (of the catalog or uploaded), a condition, or both."""
    service = _service(request)
    key = None if image is None else image_key(site.engine, image)
    if image is not None and key is None:
        raise HTTPException(404, "there is no such picture")

    def find() -> Any:
        searcher = service.searcher(model)
        start = service.uploaded(upload, searcher) if upload else key
        kept = [name for name in keep.split(",") if name]
        return searcher.search(start, text, text_weight=weight, top_k=RESULTS_SHOWN, keep=kept)

    found = _or_conflict(find)
    rows = _image_entries(site, found["image"].to_list())
    return {
        "found": [{**row, "score": score} for row, score in zip(rows, found["score"].round(4).to_list(), strict=True)],
        "reference": _image_entries(site, [key])[0] if key else None,
    }


def _service(request: Request) -> SearchService:
    service = request.app.state.conditional
    assert isinstance(service, SearchService)
    return service


def _image_entries(site: Site, keys: list[str]) -> list[dict[str, Any]]:
    with write_transaction(site.engine) as connection:
        ids = ensure_images(connection, keys)
    return [{**image_links(ids[key]), "name": key} for key in keys]


def _or_conflict(do: Callable[[], Result]) -> Result:
    """A user's mistake as an answer that the page can show."""
    try:
        return do()
    except LikewiseError as error:
        raise HTTPException(409, str(error)) from error
