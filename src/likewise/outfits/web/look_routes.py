"""The owner's page of looks: slots with items, complete, swap, why, save and export. Everything is in the address, so a
look can be kept as a bookmark; it works with the keyboard, and but for one's own pictures without scripts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

import polars as pl
from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from likewise.lineage.guard import MARK
from likewise.outfits.looks.stylist import LookFilter, LookRating, LookStylist, Reason, Suggestion
from likewise.outfits.looks.workspace_looks import OpenedLook
from likewise.outfits.protocol import Item
from likewise.outfits.rules import GROUPS
from likewise.outfits.web.look_service import LookService, is_own
from likewise.outfits.web.own_pictures import own_picture_response
from likewise.outfits.web.views import pictures
from likewise.spreadsheets import csv_text
from likewise.web.access import CsrfForm, CsrfHeader, CurrentOwner, CurrentSite, or_bad_request
from likewise.web.pages import render, script_settings
from likewise.web.site import Site
from likewise.web.sub_path import with_prefix

PAGE = "/owner/looks"
router = APIRouter(prefix=PAGE, include_in_schema=False)
api = APIRouter(prefix="/api/looks", include_in_schema=False)
SHOWN = 12
MAX_ITEMS = 12
Names = Annotated[list[str], Query(max_length=MAX_ITEMS)]
Word = Annotated[str, Query(max_length=300)]


def get_service(request: Request) -> LookService:
    service = request.app.state.outfits
    assert isinstance(service, LookService)
    return service


@dataclass(frozen=True)
class LookAddress:
    """What the address of the page says: the look, and what is suggested or explained."""

    items: tuple[str, ...]
    model: str = ""
    where: str = ""
    slot: str = ""
    swap: str = ""
    find: str = ""
    why: str = ""
    do: str = ""

    def query(self, items: Sequence[str] | None = None, **more: str) -> str:
        """The query of an address with other items, and with what is wanted next."""
        words = [("item", name) for name in (self.items if items is None else items)]
        words += [("with", self.model), ("where", self.where), *more.items()]
        return urlencode([(name, value) for name, value in words if value])

    def link(self, items: Sequence[str] | None = None, **more: str) -> str:
        return with_prefix(f"{PAGE}?{self.query(items, **more)}")


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
    view = or_bad_request(lambda: _view(get_service(request), site, asked))
    boot = script_settings(request, "", "looks") | {"page": with_prefix(PAGE), "query": asked.query()}
    return render(request, "outfits/looks.html", view=view, boot=boot)


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


def _view(service: LookService, site: Site, asked: LookAddress) -> dict[str, Any]:
    opened = service.open(asked.model, asked.items)
    stylist, names = opened.stylist, list(asked.items)
    rows = [stylist.wardrobe.row(name) for name in names]
    limit = LookFilter(tuple(part for part in asked.where.split(",") if part), k=SHOWN)
    rating = stylist.rate(rows) if len(rows) > 1 else None
    fits = {} if rating is None else {one.row: one.fit for one in rating.items}
    offered, title = _offers(stylist, rows, asked, limit)
    better = list(rating.items[0].better) if rating else []
    saved = service.saved()
    shown = [stylist.wardrobe.items[row].image for row in (*rows, *(one.row for one in (*offered, *better)))]
    links = _pictures(site, [*shown, *saved["image"]])

    def card(row: int, fit: float | None = None) -> dict[str, Any]:
        item = stylist.wardrobe.items[row]
        return {
            "item": item.item,
            "name": _said(item.item),
            "own": is_own(item.item),
            "category": item.category,
            "picture": links[item.image],
            "slot": stylist.slot_of(row),
            "fit": fits.get(row) if fit is None else fit,
        }

    def offer(one: Suggestion, instead: str) -> dict[str, Any]:
        kept = [name for name in names if name != instead]
        return card(one.row, one.fit) | {"add": asked.link([*kept, stylist.wardrobe.items[one.row].item])}

    worn = [
        card(row)
        | {
            "remove": asked.link([n for n in names if n != name]),
            "swap": asked.link(swap=name),
            "why": asked.link(why=name),
        }
        for row, name in zip(rows, names, strict=True)
    ]
    offers = [offer(one, asked.swap) for one in offered]
    learned = _learned(opened, opened.look(rows))
    completed = [*rows, *(one.row for one in offered)] if asked.do == "complete" and offered else []
    have = {one["slot"] for one in worn}
    slots = [name for names in GROUPS.values() for name in names if len(stylist.wardrobe.candidates(name))]
    return {
        "worn": worn,
        "empty": [{"slot": name, "pick": asked.link(slot=name)} for name in stylist.missing_slots(rows)],
        "slots": [{"slot": name, "pick": asked.link(slot=name)} for name in slots if name not in have],
        "offers": offers,
        "title": title,
        "rating": rating,
        "why": _why(stylist, rows, asked, rating, card),
        "better": [offer(one, stylist.wardrobe.items[rating.items[0].row].item) for one in better] if rating else [],
        "models": service.models(),
        "mark": MARK,
        "model": asked.model or service.models()[0],
        "categories": sorted({item.category for item in stylist.wardrobe.items if item.category}),
        "complete": asked.link(do="complete"),
        "learned": learned,
        "add_all": asked.link([*names, *(one["item"] for one in offers)]) if completed else "",
        "completed_learned": _learned(opened, opened.look(completed)),
        "where": asked.where,
        "items": names,
        "looks": _saved_looks(opened, saved, links, asked),
        "n_saved": saved["outfit"].n_unique(),
        "saved": asked.do == "saved",
        "notes": [] if learned else opened.said(rows),
    }


def _learned(opened: OpenedLook, look: Sequence[Item]) -> str:
    """What the model learned of a look: the whole, items of it, or nothing."""
    [overlap] = opened.screening(look).overlaps
    if not look or not overlap.learned:
        return ""
    if overlap.n_answers:
        return "this very look"
    if len(look) == 1:
        return "outfits with this item"
    if overlap.n_images == len(look):
        return f"outfits with each of its {len(look)} items, not from this look"
    return f"outfits with {overlap.n_images} of its {len(look)} items"


def _said(item: str) -> str:
    return "your picture" if is_own(item) else item


def _pictures(site: Site, images: Sequence[str]) -> dict[str, Any]:
    """The addresses of pictures: of the catalog, and of one's own."""
    links: dict[str, Any] = {}
    for image in images:
        name = image.removeprefix("picture: ")
        if name != image and is_own(name):
            address = with_prefix(f"{PAGE}/picture/{name.partition('=')[0]}")
            links[image] = {"thumb": address, "full": address}
    return links | pictures(site, [image for image in images if image not in links])


def _why(
    stylist: LookStylist,
    rows: Sequence[int],
    asked: LookAddress,
    rating: LookRating | None,
    card: Callable[[int], dict[str, Any]],
) -> dict[str, Any] | None:
    """What speaks against one piece, by default the weakest, and the rules that the look breaks."""
    if rating is None:
        return None
    weakest = rating.items[0]
    row = stylist.wardrobe.row(asked.why) if asked.why in asked.items else weakest.row
    reasons = weakest.why if row == weakest.row else stylist.why(rows, row)
    sentences = [_sentence(stylist, reason) for reason in reasons]
    return card(row) | {"weakest": row == weakest.row, "sentences": sentences, "broken": rating.broken}


def _sentence(stylist: LookStylist, reason: Reason) -> str:
    """A companion with its slot: `the shoes 4711` says more than `4711`."""
    if reason.kind != "item":
        return reason.sentence
    slot = stylist.slot_of(stylist.wardrobe.row(reason.name))
    said = "your picture" if is_own(reason.name) else f"the {slot} {reason.name}"
    return reason.sentence.replace(reason.name, said)


def _saved_looks(
    opened: OpenedLook, saved: pl.DataFrame, links: dict[str, Any], asked: LookAddress
) -> list[dict[str, Any]]:
    """The newest first."""
    looks = list(saved.group_by("outfit", maintain_order=True))[::-1]
    return [
        {
            "outfit": outfit[0],
            "open": asked.link(rows["item"].to_list()),
            "learned": _learned(opened, [Item(*row) for row in rows.select("item", "category", "image").iter_rows()]),
            "pictures": [(links[image], category) for image, category in rows.select("image", "category").iter_rows()],
        }
        for outfit, rows in looks[:SHOWN]
    ]


def _offers(
    stylist: LookStylist, rows: list[int], asked: LookAddress, limit: LookFilter
) -> tuple[list[Suggestion], str]:
    """What to choose from, and a heading."""
    if asked.swap in asked.items:
        row = stylist.wardrobe.row(asked.swap)
        rest = [one for one in rows if one != row]
        found = [one for one in stylist.suggest(rest, stylist.slot_of(row), limit) if one.row != row]
        return found, f"Instead of {_said(asked.swap)}"
    if asked.do == "complete" and rows and stylist.missing_slots(rows):
        [look, *_] = stylist.complete(rows, limit=limit, n_looks=1)
        return list(look.added), "To complete the look"
    if asked.slot:
        found = stylist.suggest(rows, stylist.wardrobe.find_slot(asked.slot), limit)
        return found, f"For {asked.slot}"
    if asked.find:
        words = asked.find.lower().split()
        there = [
            row
            for row, item in enumerate(stylist.wardrobe.items)
            if all(word in f"{item.item} {item.category}".lower() for word in words) and row not in rows
        ]
        return [Suggestion(row, stylist.slot_of(row), 0.0) for row in there[:SHOWN]], f"Items with {asked.find}"
    return [], ""
