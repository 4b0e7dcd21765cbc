"""From a finished making to a test that others can take: LAT of the crowd, AAT of the designers, one bundle."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
from sqlalchemy import Engine

from likewise.catalog.table import read_catalog
from likewise.errors import LikewiseError
from likewise.labeling.store.notes import add_note, read_notes
from likewise.labeling.store.questions import change_question
from likewise.outfits.aat import Draft, Known, Selected, draft_of, questions_of_drafts, select_drafts
from likewise.outfits.bundle import OutfitTest, write_test
from likewise.outfits.dimensions import PLAN
from likewise.outfits.lat import replace_choice
from likewise.outfits.plan import Making
from likewise.outfits.protocol import Item, Question
from likewise.outfits.sorting import sorted_items
from likewise.outfits.stages import ask
from likewise.workspace import Workspace, read_json

DRAFT, VOTE, FACTOR = "aat-draft", "aat-vote", "factor"
NO_ATTRIBUTE = {"image", "item", "category", "width", "height", "digest", "caption", "line", "domain", "view", "split"}


def catalog_items(workspace: Workspace, mapping: Mapping[str, str] | None = None) -> dict[str, Item]:
    """The items of a catalog that have one of the twenty categories."""
    items, _ = sorted_items(read_catalog(workspace), mapping)
    return {name: Item(name, category, image) for name, image, category in items.iter_rows()}


def catalog_attributes(workspace: Workspace) -> Known:
    """Whatever else a catalog says about its items, in words."""
    catalog = read_catalog(workspace).unique("item", keep="first", maintain_order=True)
    columns = [c for c, kind in catalog.schema.items() if kind == pl.String and c not in NO_ATTRIBUTE]
    if not columns:
        return {}
    return {row["item"]: {name: row[name] for name in columns} for row in catalog.iter_rows(named=True)}


def read_drafts(engine: Engine) -> list[Draft]:
    """Drafts that were not withdrawn."""
    return [draft_of(note.body) for note in read_notes(engine, DRAFT) if note.body is not None]


def read_votes(engine: Engine) -> dict[str, dict[str, bool]]:
    """draft -> person -> for or against; nobody votes on their own draft."""
    authors = {draft.name: draft.author for draft in read_drafts(engine)}
    votes: dict[str, dict[str, bool]] = {}
    for note in read_notes(engine, VOTE):
        if note.author is not None and authors.get(note.key) != note.author:
            votes.setdefault(note.key, {})[note.author] = bool(note.body)
    return votes


def selected_drafts(engine: Engine) -> Selected:
    return select_drafts(read_drafts(engine), read_votes(engine), PLAN)


def read_factor_tags(engine: Engine) -> dict[str, dict[str, list[str]]]:
    """question -> person -> factors."""
    tags: dict[str, dict[str, list[str]]] = {}
    for note in read_notes(engine, FACTOR):
        tags.setdefault(note.key, {})[note.author or "owner"] = list(note.body)
    return tags


def replace_by_hand(making: Making, engine: Engine, question: str, old: str, new: str) -> Question:
    """Put another distractor in; possible until the first answer to the question in its next asking."""
    stage, slug = ("panel", making.slug("rounds-1")) if making.done("panel") else ("blank", making.slug("panel"))
    if making.done("rounds-1"):
        raise LikewiseError(f"the rounds of {making.name} have begun: its choices stay as they are.")
    items = catalog_items(making.workspace, making.plan().mapping)
    if new not in items:
        raise LikewiseError(f"there is no item {new} in the catalog.")
    questions = making.questions(stage)
    places = [place for place, each in enumerate(questions) if each.name == question]
    if not places:
        raise LikewiseError(f"{making.name} has no question {question}.")
    changed = replace_choice(questions[places[0]], old, items[new])
    change_question(engine, slug, ask([changed])[0])  # first: it refuses what was answered
    questions[places[0]] = changed
    making.write_questions(stage, questions)
    add_note(engine, "replaced", f"{making.name}/{question}", None, {"old": old, "new": new})
    return changed


def publish(
    making: Making, engine: Engine, path: Path, *, licence: str, title: str | None = None, overwrite: bool = False
) -> OutfitTest:
    """The bundle of a finished test: the crowd's LAT, and the selected drafts as AAT where there are any."""
    if not making.done("crowd"):
        raise LikewiseError(f"{making.name} is not finished: see `likewise outfits make-test {making.workspace.path}`.")
    lat = [replace(q, name=f"LAT-{number:03d}") for number, q in enumerate(making.questions("crowd"), 1)]
    chosen = selected_drafts(engine)
    aat = questions_of_drafts(chosen.drafts, catalog_items(making.workspace), making.plan().seed)
    final = read_json(making.folder / "final.json")
    made = {
        "fully_consistent": final["fully_consistent"],
        "shortfalls": final["shortfalls"] or "none",
        "people": f"{max((sum(q.people) for q in lat), default=0)} at most per question",
        "AAT_lacking": sum(chosen.lacking.values()) if aat else "no AAT",
    }
    root = making.workspace.root
    return write_test(
        path,
        [*lat, *aat],
        lambda image: (root / image).read_bytes(),
        title=title or making.name,
        licence=licence,
        made=made,
        overwrite=overwrite,
    )
