"""What the outfit pages show: questions and items with pictures by id; nothing is decided here."""

from collections.abc import Iterable, Sequence
from typing import Any

from likewise.outfits.builder import STAGES, OutfitTestBuilder, list_builders
from likewise.outfits.designer_pictures import FOLDER, designer_items
from likewise.outfits.dimensions import AAT_PLAN
from likewise.outfits.protocol import Item, OutfitQuestion
from likewise.outfits.publish import catalog_items, question_items, read_drafts, read_votes, selected_drafts
from likewise.outfits.stages import BuildStatus
from likewise.web.pages import ensure_image_links
from likewise.web.site import Site
from likewise.web.sub_path import with_prefix

QUESTIONS_PER_PAGE = 20
ITEMS_SHOWN = 48
ALTERNATIVES = 12


def pictures(site: Site, images: Iterable[str]) -> dict[str, Any]:
    """Image key -> the addresses of its thumbnail and original."""
    own = {image: designer_picture(image) for image in set(images) if image.startswith(f"{FOLDER}/")}
    return dict(ensure_image_links(site.engine, set(images) - set(own))) | own


def designer_picture(image: str) -> dict[str, str]:
    """The same of a picture that a designer brought along."""
    address = with_prefix(f"/outfits/designs/picture/{image.rpartition('/')[2].removesuffix('.jpg')}")
    return {"thumb": address, "full": address}


def tests_view(site: Site, statuses: dict[str, BuildStatus]) -> list[dict[str, Any]]:
    """Every test in the making, with the stages that are done."""
    shown = []
    for builder in list_builders(site.settings.workspace):
        status = statuses.get(builder.name)
        done = [stage for stage in STAGES if _done(builder, stage)]
        shown.append(
            {
                "name": builder.name,
                "stages": [(stage, stage in done) for stage in STAGES],
                "status": status,
                "has_questions": builder.is_done("blank"),
                "address": f"/q/{builder.slug('crowd')}"
                if builder.is_done("final") and not builder.is_done("crowd")
                else None,
            }
        )
    return shown


def _done(builder: OutfitTestBuilder, stage: str) -> bool:
    if stage == "rounds":
        return all(builder.is_done(f"rounds-{number}") for number in range(1, builder.plan().n_rounds + 1))
    return builder.is_done(stage)


def questions_view(site: Site, builder: OutfitTestBuilder, page: int) -> dict[str, Any]:
    """The questions that can be changed by hand, some at a time, with other items to choose from."""
    stage = "panel" if builder.is_done("panel") else "blank"
    questions = builder.questions(stage)
    some = questions[(page - 1) * QUESTIONS_PER_PAGE : page * QUESTIONS_PER_PAGE]
    by_category: dict[str, list[Item]] = {}
    for item in catalog_items(site.settings.workspace, builder.plan().mapping).values():
        by_category.setdefault(item.category, []).append(item)
    others = {question.name: _alternatives(question, by_category, page) for question in some}
    images = [item.image for question in some for item in (*question.items, *question.choices, *others[question.name])]
    return {
        "stage": stage,
        "page": page,
        "n_pages": -(-len(questions) // QUESTIONS_PER_PAGE),
        "questions": some,
        "others": others,
        "pictures": pictures(site, images),
    }


def _alternatives(question: OutfitQuestion, by_category: dict[str, list[Item]], page: int) -> list[Item]:
    inside = {item.item for item in (*question.items, *question.choices)}
    free = [item for item in by_category.get(question.category, []) if item.item not in inside]
    start = (hash_of(question.name) * page) % max(1, len(free))
    return (free[start:] + free[:start])[:ALTERNATIVES]


def hash_of(name: str) -> int:
    """A number that depends on the name only."""
    return sum((place + 1) * ord(letter) for place, letter in enumerate(name))


def plan_view(site: Site) -> list[dict[str, Any]]:
    """The AAT's plan: of each sub-dimension its quota, its drafts, and how many are chosen so far."""
    drafts, chosen = read_drafts(site.engine), selected_drafts(site.engine)
    return [
        {
            "dimension": dimension,
            "sub_dimension": sub,
            "quota": quota,
            "drafts": sum((d.dimension, d.sub_dimension) == (dimension, sub) for d in drafts),
            "chosen": sum((d.dimension, d.sub_dimension) == (dimension, sub) for d in chosen.drafts),
        }
        for dimension, quotas in AAT_PLAN.items()
        for sub, quota in quotas.items()
    ]


def drafts_view(site: Site, author: str | None = None) -> list[dict[str, Any]]:
    """Drafts (of one author) with pictures and votes."""
    items = question_items(site.settings.workspace, site.engine)
    votes = read_votes(site.engine)
    drafts = [
        draft
        for draft in read_drafts(site.engine)
        if author in (None, draft.author) and all(name in items for name in (*draft.worn, *draft.choices))
    ]
    shown = pictures(site, [items[name].image for draft in drafts for name in (*draft.worn, *draft.choices)])
    return [
        {
            "draft": draft,
            "worn": [(items[name], shown[items[name].image]) for name in draft.worn],
            "choices": [(items[name], shown[items[name].image]) for name in draft.choices],
            "votes": votes.get(draft.name, {}),
        }
        for draft in drafts
    ]


def own_pictures_view(site: Site, author: str) -> list[dict[str, Any]]:
    """The pictures that a designer brought along, and whether a question shows them."""
    used = {name for draft in read_drafts(site.engine) for name in (*draft.worn, *draft.choices)}
    mine = designer_items(site.settings.workspace, site.engine, author).values()
    return [{"item": item, "picture": designer_picture(item.image), "used": item.item in used} for item in mine]


def shelf_view(site: Site, categories: Sequence[str], search: str) -> list[tuple[str, list[tuple[Item, Any]]]]:
    """Items to choose from, by category; `search` narrows them by words in their names."""
    words = search.lower().split()
    items = question_items(site.settings.workspace, site.engine).values()
    found: dict[str, list[Item]] = {category: [] for category in categories}
    for item in items:
        if item.category in found and all(word in f"{item.item} {item.image}".lower() for word in words):
            found[item.category].append(item)
    some = {category: each[:ITEMS_SHOWN] for category, each in found.items() if each}
    shown = pictures(site, [item.image for each in some.values() for item in each])
    return [(category, [(item, shown[item.image]) for item in each]) for category, each in some.items()]
