"""The owner's page of looks: slots with items, complete, swap, why, save and export. Everything is in the address, so a
look can be kept as a bookmark; it works with the keyboard, and but for one's own pictures without scripts."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from likewise.outfits.web.look_service import LookService
from likewise.outfits.web.look_view import PAGE, LookAddress, look_view
from likewise.outfits.web.own_pictures import own_picture_response
from likewise.spreadsheets import csv_text
from likewise.web.access import CsrfForm, CsrfHeader, CurrentOwner, CurrentSite, or_bad_request
from likewise.web.pages import render, script_settings
from likewise.web.sub_path import with_prefix

router = APIRouter(prefix=PAGE, include_in_schema=False)
api = APIRouter(prefix="/api/looks", include_in_schema=False)
MAX_ITEMS = 12
Names = Annotated[list[str], Query(max_length=MAX_ITEMS)]
Word = Annotated[str, Query(max_length=300)]


def get_service(request: Request) -> LookService:
    service = request.app.state.outfits
    assert isinstance(service, LookService)
    return service


@router.get("")
def look_page(
    request: Request,
    who: CurrentOwner,
    site: CurrentSite,
    item: Names = [],  # noqa: B006
    model: Annotated[str, Query(alias="with", max_length=300)] = "",
    slot: Word = "",
    swap: Word = "",
    find: Word = "",
    where: Word = "",
    why: Word = "",
    do: Annotated[str, Query(max_length=10)] = "",
) -> Response:
    """The look, and what is suggested: for a slot, instead of an item, to complete it, or by its name."""
    asked = LookAddress(tuple(dict.fromkeys(item)), model, where, slot, swap, find, why, do)
    service = get_service(request)
    view = or_bad_request(lambda: look_view(service, site, asked)) if service.models() else None
    boot = script_settings(request, "", "looks") | {"page": with_prefix(PAGE), "query": asked.query()}
    return render(request, "outfits/looks.html", view=view, boot=boot, workspace=service.workspace.quoted)


@api.post("/upload", dependencies=[CsrfHeader])
async def upload(request: Request, who: CurrentOwner) -> dict[str, str]:
    """A picture of one's own as the body; it becomes an item of the look."""
    content = await request.body()
    service = get_service(request)
    return {"item": await run_in_threadpool(or_bad_request, lambda: service.add_picture(content))}


@router.get("/picture/{name}")
def own_picture(request: Request, who: CurrentOwner, name: str) -> Response:
    return own_picture_response(lambda: get_service(request).picture_path(name))


@router.post("/save", dependencies=[CsrfForm])
def save(
    request: Request,
    who: CurrentOwner,
    item: Annotated[list[str], Form(max_length=MAX_ITEMS)],
    model: Annotated[str, Form(alias="with", max_length=300)] = "",
) -> Response:
    service = get_service(request)
    opened = or_bad_request(lambda: service.open(model, item))
    rows = or_bad_request(lambda: [opened.stylist.wardrobe.row(name) for name in item])
    service.save(opened, rows)
    return RedirectResponse(f"{PAGE}?{LookAddress(tuple(item), model).query(do='saved')}", 303)


@router.post("/remove", dependencies=[CsrfForm])
def remove(request: Request, who: CurrentOwner, outfit: Annotated[str, Form(max_length=100)]) -> Response:
    get_service(request).remove(outfit)
    return RedirectResponse(PAGE, 303)


@router.get("/export.csv")
def export(request: Request, who: CurrentOwner) -> Response:
    """All saved looks, as `outfits train --outfits` reads them."""
    headers = {"Content-Disposition": 'attachment; filename="looks.csv"'}
    return Response(csv_text(get_service(request).saved()), media_type="text/csv", headers=headers)
