"""The search page, "like this, but …", for the owner alone: experts stay blind to what models think."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response

from likewise.errors import LikewiseError
from likewise.labeling.store.engine import writing
from likewise.labeling.store.images import ensure_images, image_key
from likewise.web.access import CheckedHeader, Owner, TheSite
from likewise.web.pages import boot_of, image_of, render
from likewise.web.search import SearchDesk
from likewise.web.shapes import LARGEST_ID
from likewise.web.site import Site

router = APIRouter(include_in_schema=False)
PICTURES_SHOWN = 24
FOUND = 18
Given = TypeVar("Given")


@router.get("/search")
def page(request: Request, who: Owner) -> Response:
    desk = _desk(request)
    ready = desk.ready()
    boot = boot_of(request, "", "search") | {"ways": [way.label for way in desk.ways()] if ready else []}
    return render(request, "search.html", boot=boot, ready=ready, workspace=desk.workspace.path.name)


@router.get("/api/search/pictures")
def pictures(
    request: Request,
    who: Owner,
    site: TheSite,
    find: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[int, Query(ge=0, le=LARGEST_ID)] = 0,
) -> dict[str, Any]:
    """Pictures of the catalog to start from: all, or those whose name or category holds a text."""
    keys = _said(lambda: _desk(request).searcher().matching(find))
    return {"total": len(keys), "pictures": _shown(site, keys[after : after + PICTURES_SHOWN])}


@router.post("/api/search/upload", dependencies=[CheckedHeader])
async def upload(request: Request, who: Owner) -> dict[str, str]:
    """A picture as the body; only what the encoder sees in it is kept."""
    from starlette.concurrency import run_in_threadpool

    content = await request.body()
    return {"upload": await run_in_threadpool(_said, lambda: _desk(request).upload(content))}


@router.get("/api/search")
def search(
    request: Request,
    who: Owner,
    site: TheSite,
    image: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    upload: Annotated[str, Query(max_length=64)] = "",
    text: Annotated[str, Query(max_length=300)] = "",
    weight: Annotated[float, Query(ge=0, le=1)] = 0.5,
    way: Annotated[int, Query(ge=0, le=1000)] = 0,
) -> dict[str, Any]:
    """The best images for a reference (of the catalog or uploaded), a condition, or both."""
    desk = _desk(request)
    key = None if image is None else image_key(site.engine, image)
    if image is not None and key is None:
        raise HTTPException(404, "there is no such picture")

    def find() -> Any:
        searcher = desk.searcher(way)
        start = desk.uploaded(upload, searcher) if upload else key
        return searcher.ask(start, text, text_weight=weight, top=FOUND)

    found = _said(find)
    rows = _shown(site, found["image"].to_list())
    return {
        "found": [{**row, "score": score} for row, score in zip(rows, found["score"].round(4).to_list(), strict=True)],
        "reference": _shown(site, [key])[0] if key else None,
    }


def _desk(request: Request) -> SearchDesk:
    desk = request.app.state.search
    assert isinstance(desk, SearchDesk)
    return desk


def _shown(site: Site, keys: list[str]) -> list[dict[str, Any]]:
    with writing(site.engine) as connection:
        ids = ensure_images(connection, keys)
    return [{**image_of(ids[key]), "name": key} for key in keys]


def _said(do: Callable[[], Given]) -> Given:
    """A user's mistake as an answer that the page can show."""
    try:
        return do()
    except LikewiseError as error:
        raise HTTPException(409, str(error)) from error
