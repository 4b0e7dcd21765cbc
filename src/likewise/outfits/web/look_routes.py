"""The owner's page of looks: slots with items, complete, swap, why, save and export. Everything is in the address, so a
look can be kept as a bookmark, and works with the keyboard and without scripts."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from likewise.outfits.looks.stylist import LookFilter, LookStylist, Suggestion
from likewise.outfits.rules import GROUPS
from likewise.outfits.web.look_service import LookService
from likewise.outfits.web.views import pictures
from likewise.web.access import CsrfForm, CurrentOwner, CurrentSite, or_bad_request
from likewise.web.pages import render
from likewise.web.site import Site

router = APIRouter(prefix="/owner/looks", include_in_schema=False)
SHOWN = 12
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
    do: Annotated[str, Query(max_length=10)] = "",
) -> Response:
    """The look, and what is suggested: for a slot, instead of an item, to complete it, or by its name."""
    service = get_service(request)
    view = or_bad_request(lambda: _view(service, site, item, model, slot, swap, find, where, do))
    return render(request, "outfits/looks.html", view=view)


@router.post("/save", dependencies=[CsrfForm])
def save(
    request: Request,
    who: CurrentOwner,
    item: Annotated[list[str], Form(max_length=MAX_ITEMS)],
    model: Annotated[str, Form(alias="with", max_length=300)] = "",
) -> Response:
    service = get_service(request)
    opened = or_bad_request(lambda: service.open(model))
    rows = or_bad_request(lambda: [opened.stylist.wardrobe.row(name) for name in item])
    service.save(opened, rows)
    return RedirectResponse(f"/owner/looks?{_query(item, model, do='saved')}", 303)


@router.get("/export.csv")
def export(request: Request, who: CurrentOwner) -> Response:
    """All saved looks, as `outfits train --outfits` reads them."""
    headers = {"Content-Disposition": 'attachment; filename="looks.csv"'}
    return Response(get_service(request).saved().write_csv(), media_type="text/csv", headers=headers)


def _query(items: list[str], model: str, **more: str) -> str:
    words = [("item", name) for name in items] + [("with", model)] + list(more.items())
    return urlencode([(name, value) for name, value in words if value])


def _view(
    service: LookService, site: Site, items: list[str], model: str, slot: str, swap: str, find: str, where: str, do: str
) -> dict[str, Any]:
    opened = service.open(model)
    stylist, names = opened.stylist, list(dict.fromkeys(items))
    rows = [stylist.wardrobe.row(name) for name in names]
    limit = LookFilter(tuple(part for part in where.split(",") if part), k=SHOWN)
    rating = stylist.rate(rows) if len(rows) > 1 else None
    fits = {} if rating is None else {one.row: one.fit for one in rating.items}
    offered, title = _offers(stylist, rows, names, slot, swap, find, limit, do)
    shown = [*rows, *(one.row for one in offered)]
    links = pictures(site, [stylist.wardrobe.items[row].image for row in shown])

    def card(row: int) -> dict[str, Any]:
        item = stylist.wardrobe.items[row]
        about = {
            "item": item.item,
            "category": item.category,
            "picture": links[item.image],
            "slot": stylist.slot_of(row),
        }
        return about | {"fit": fits.get(row)}

    def address(items: list[str], **more: str) -> str:
        return f"/owner/looks?{_query(items, model, where=where, **more)}"

    worn = [
        card(row) | {"remove": address([n for n in names if n != name]), "swap": address(names, swap=name)}
        for row, name in zip(rows, names, strict=True)
    ]
    kept = [name for name in names if name != swap] if swap else names
    offers = [
        card(one.row) | {"fit": one.fit, "add": address([*kept, stylist.wardrobe.items[one.row].item])}
        for one in offered
    ]
    have = {one["slot"] for one in worn}
    slots = [name for names in GROUPS.values() for name in names if len(stylist.wardrobe.candidates(name))]
    return {
        "worn": worn,
        "empty": [{"slot": name, "pick": address(names, slot=name)} for name in stylist.missing_slots(rows)],
        "slots": [{"slot": name, "pick": address(names, slot=name)} for name in slots if name not in have],
        "offers": offers,
        "title": title,
        "rating": rating,
        "weakest": stylist.wardrobe.items[rating.items[0].row].item if rating else "",
        "models": service.models(),
        "model": model or service.models()[0],
        "complete": address(names, do="complete"),
        "add_all": address([*names, *(one["item"] for one in offers)]) if do == "complete" and offers else "",
        "where": where,
        "items": names,
        "n_saved": service.saved()["outfit"].n_unique(),
        "saved": do == "saved",
        "notes": opened.notes,
    }


def _offers(
    stylist: LookStylist,
    rows: list[int],
    names: list[str],
    slot: str,
    swap: str,
    find: str,
    limit: LookFilter,
    do: str,
) -> tuple[list[Suggestion], str]:
    """What to choose from, and a heading."""
    if swap and swap in names:
        row = stylist.wardrobe.row(swap)
        rest = [one for one in rows if one != row]
        return [
            one for one in stylist.suggest(rest, stylist.slot_of(row), limit) if one.row != row
        ], f"Instead of {swap}"
    if do == "complete" and rows and stylist.missing_slots(rows):
        [look, *_] = stylist.complete(rows, limit=limit, n_looks=1)
        return list(look.added), "To complete the look"
    if slot:
        found = stylist.suggest(rows, stylist.wardrobe.find_slot(slot), limit)
        return found, f"For {slot}"
    if find:
        words = find.lower().split()
        there = [
            row
            for row, item in enumerate(stylist.wardrobe.items)
            if all(word in f"{item.item} {item.category}".lower() for word in words) and row not in rows
        ]
        return [Suggestion(row, stylist.slot_of(row), 0.0) for row in there[:SHOWN]], f"Items with {find}"
    return [], ""
