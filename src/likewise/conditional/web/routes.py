"""The search page, "like this, but …", for the owner alone: experts stay blind to what models think."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import Response

from likewise.conditional.conditional_query import BALANCED, ConditionalQuery, parse_conditions
from likewise.conditional.search_filters import KEPT
from likewise.conditional.web.search import SearchService, results_json, slider_json
from likewise.errors import LikewiseError
from likewise.labeling.store.images import image_key
from likewise.optional_dependencies import installed_version
from likewise.web.access import CsrfHeader, CurrentOwner, CurrentSite
from likewise.web.pages import ensure_image_links, render, script_settings
from likewise.web.schemas import MAX_ID
from likewise.web.site import Site

router = APIRouter(include_in_schema=False)
PICTURES_SHOWN = 24
RESULTS_SHOWN = 18
MAX_MARKED, MAX_CONDITIONS = 30, 12
Result = TypeVar("Result")
ImageId = Annotated[int | None, Query(ge=1, le=MAX_ID)]
ImageIds = Annotated[list[Annotated[int, Query(ge=1, le=MAX_ID)]], Query(max_length=MAX_MARKED)]
Texts = Annotated[list[Annotated[str, Query(max_length=300)]], Query(max_length=MAX_CONDITIONS)]


@router.get("/search")
def page(request: Request, who: CurrentOwner) -> Response:
    service = _service(request)
    ready = service.ready()
    boot = script_settings(request, "", "search") | {
        "models": [model.label for model in service.models()] if ready else [],
        "columns": service.kept_columns if ready else [],
        "filters": service.filters if ready else [],
        "images": len(service.catalog) if ready else 0,
        "kept": list(KEPT),
    }
    ways: dict[str, Any] = {} if ready else {"columns": service.text_columns, "torch": bool(installed_version("torch"))}
    return render(
        request, "conditional/search.html", boot=boot, ready=ready, workspace=service.workspace.quoted, **ways
    )


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
    shown = keys[after : after + PICTURES_SHOWN]
    links = ensure_image_links(site.engine, shown)
    return {"total": len(keys), "pictures": [{**links[key], "name": key} for key in shown]}


@router.post("/api/search/upload", dependencies=[CsrfHeader])
async def upload(request: Request, who: CurrentOwner) -> dict[str, str]:
    """A picture as the body; only what the encoder sees in it is kept."""
    from starlette.concurrency import run_in_threadpool

    content = await request.body()
    return {"upload": await run_in_threadpool(_or_conflict, lambda: _service(request).uploads.add(content))}


class SearchQuestion:
    """The question in an address; images by their ids on this site."""

    def __init__(
        self,
        request: Request,
        site: CurrentSite,
        image: ImageId = None,
        upload: Annotated[str, Query(max_length=64)] = "",
        text: Texts = [],  # noqa: B006
        more: ImageIds = [],  # noqa: B006
        less: ImageIds = [],  # noqa: B006
        weight: Annotated[float, Query(ge=0, le=1)] = BALANCED,
        model: Annotated[int, Query(ge=0, le=1000)] = 0,
        keep: Annotated[str, Query(max_length=300)] = "",
        where: Texts = [],  # noqa: B006
    ) -> None:
        service = _service(request)
        self.key = None if image is None else _key(site, image)
        more_like, less_like = (tuple(_key(site, one) for one in some) for some in (more, less))
        kept = tuple(name for name in keep.split(",") if name)
        self.searcher = _or_conflict(lambda: service.searcher(model))
        self.asked = _or_conflict(
            lambda: ConditionalQuery(
                service.uploaded(upload, self.searcher) if upload else self.key,
                parse_conditions(text),
                weight,
                more_like,
                less_like,
                kept,
                tuple(where),
                RESULTS_SHOWN,
            )
        )


@router.get("/api/search")
def search(who: CurrentOwner, site: CurrentSite, question: Annotated[SearchQuestion, Depends()]) -> dict[str, Any]:
    """The best images for a reference (of the catalog or uploaded), conditions, or both."""
    searcher, asked = question.searcher, question.asked
    found = _or_conflict(lambda: searcher.answer(asked))
    marked = [*asked.more_like, *asked.less_like]
    links = ensure_image_links(site.engine, [*found["image"], *marked, *([question.key] if question.key else [])])
    named = {key: {**links[key], "name": key} for key in links}
    return {
        "found": [{**links[row["name"]], **row} for row in results_json(searcher, found)],
        "reference": named[question.key] if question.key else None,
        "more": [named[key] for key in asked.more_like],
        "less": [named[key] for key in asked.less_like],
        "kept": {column: str(value) for column, value in searcher.kept_values(asked).items()},
        "guessed": asked.image is not None and question.key is None,
        "allowed": int(searcher.allowed(asked).sum()),
        "conditions": asked.conditions,
        "weak": [condition for condition in asked.conditions if searcher.text_check.is_weak(condition)],
    }


@router.get("/api/search/slider")
def slider(who: CurrentOwner, site: CurrentSite, question: Annotated[SearchQuestion, Depends()]) -> dict[str, Any]:
    """What the slider would change: the first result, and more, at five places of it."""
    places = _or_conflict(lambda: slider_json(question.searcher, question.asked))
    links = ensure_image_links(site.engine, [place["first"] for place in places if place["first"]])
    return {"places": [{**place, "first": links.get(place["first"])} for place in places]}


def _service(request: Request) -> SearchService:
    service = request.app.state.conditional
    assert isinstance(service, SearchService)
    return service


def _key(site: Site, image: int) -> str:
    key = image_key(site.engine, image)
    if key is None:
        raise HTTPException(404, "there is no such picture")
    return key


def _or_conflict(do: Callable[[], Result]) -> Result:
    """A user's mistake as an answer that the page can show."""
    try:
        return do()
    except LikewiseError as error:
        raise HTTPException(409, str(error)) from error
