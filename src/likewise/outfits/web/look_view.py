"""What the page of looks shows: the look as cards, what is offered for it, why a piece does not fit, saved looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import polars as pl

from likewise.catalog import read_catalog
from likewise.lineage.guard import MARK
from likewise.outfits.looks.stylist import LookFilter, LookRating, LookStylist, Reason, Suggestion
from likewise.outfits.looks.workspace_looks import OpenedLook
from likewise.outfits.protocol import Item
from likewise.outfits.rules import GROUPS
from likewise.outfits.web.look_service import LookService, is_own
from likewise.outfits.web.views import pictures
from likewise.web.filters import filter_columns
from likewise.web.site import Site
from likewise.web.sub_path import with_prefix

PAGE = "/owner/looks"
SHOWN = 12


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


@dataclass(frozen=True)
class LookCards:
    """Items of a wardrobe as cards of the page; `fits` of what is worn, `links` of every picture that is shown."""

    stylist: LookStylist
    asked: LookAddress
    links: dict[str, Any]
    fits: dict[int, float]

    def card(self, row: int, fit: float | None = None) -> dict[str, Any]:
        item = self.stylist.wardrobe.items[row]
        return {
            "item": item.item,
            "name": _said(item.item),
            "own": is_own(item.item),
            "category": item.category,
            "picture": self.links[item.image],
            "slot": self.stylist.slot_of(row),
            "fit": self.fits.get(row) if fit is None else fit,
        }

    def worn(self, row: int, name: str) -> dict[str, Any]:
        """A piece of the look, with what can be done with it."""
        rest = [other for other in self.asked.items if other != name]
        links = {"remove": self.asked.link(rest), "swap": self.asked.link(swap=name), "why": self.asked.link(why=name)}
        return self.card(row) | links

    def offer(self, one: Suggestion, instead: str) -> dict[str, Any]:
        """A suggestion, with the look that it would make."""
        kept = [name for name in self.asked.items if name != instead]
        added = self.stylist.wardrobe.items[one.row].item
        return self.card(one.row, one.fit) | {"add": self.asked.link([*kept, added])}


def look_view(service: LookService, site: Site, asked: LookAddress) -> dict[str, Any]:
    """Everything that the page's template shows."""
    opened = service.open(asked.model, asked.items)
    stylist, names = opened.stylist, list(asked.items)
    rows = [stylist.wardrobe.row(name) for name in names]
    limit = LookFilter(tuple(part for part in asked.where.split(",") if part), k=SHOWN)
    rating = stylist.rate(rows) if len(rows) > 1 else None
    offered, title = _offers(stylist, rows, asked, limit)
    better = list(rating.items[0].better) if rating else []
    saved = service.saved()
    shown = [stylist.wardrobe.items[row].image for row in (*rows, *(one.row for one in (*offered, *better)))]
    fits = {} if rating is None else {one.row: one.fit for one in rating.items}
    cards = LookCards(stylist, asked, _pictures(site, [*shown, *saved["image"]]), fits)
    worn = [cards.worn(row, name) for row, name in zip(rows, names, strict=True)]
    offers = [cards.offer(one, asked.swap) for one in offered]
    weakest = stylist.wardrobe.items[rating.items[0].row].item if rating else ""
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
        "why": _why(cards, rows, rating),
        "better": [cards.offer(one, weakest) for one in better],
        "models": service.models(),
        "mark": MARK,
        "model": asked.model or service.models()[0],
        "categories": sorted({item.category for item in stylist.wardrobe.items if item.category}),
        "complete": asked.link(do="complete"),
        "learned": learned,
        "add_all": asked.link([*names, *(one["item"] for one in offers)]) if completed else "",
        "completed_learned": _learned(opened, opened.look(completed)),
        "where": asked.where,
        "condition_example": _condition_example(read_catalog(service.workspace)),
        "items": names,
        "looks": _saved_looks(opened, saved, cards.links, asked),
        "n_saved": saved["outfit"].n_unique(),
        "saved": asked.do == "saved",
        "notes": [] if learned else opened.said(rows),
    }


def _condition_example(catalog: pl.DataFrame) -> str:
    """A filter that this catalog has, as one types it."""
    columns = [column for column in filter_columns(catalog) if column["values"] and column["name"] != "item"]
    return f"{columns[0]['name']}={columns[0]['values'][0]}" if columns else ""


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


def _why(cards: LookCards, rows: Sequence[int], rating: LookRating | None) -> dict[str, Any] | None:
    """What speaks against one piece, by default the weakest, and the rules that the look breaks."""
    if rating is None:
        return None
    stylist, asked, weakest = cards.stylist, cards.asked, rating.items[0]
    row = stylist.wardrobe.row(asked.why) if asked.why in asked.items else weakest.row
    reasons = weakest.why if row == weakest.row else stylist.why(rows, row)
    sentences = [_sentence(stylist, reason) for reason in reasons]
    return cards.card(row) | {"weakest": row == weakest.row, "sentences": sentences, "broken": rating.broken}


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
