"""From a finished build to a test that others can take: LAT of the crowd, AAT of the designers, one bundle."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Engine

from likewise.catalog.table import read_catalog
from likewise.errors import LikewiseError
from likewise.files import written_together
from likewise.labeling.store.expert_notes import add_note, read_notes
from likewise.labeling.store.questions import change_question
from likewise.outfits.aat import (
    ItemAttributes,
    QuestionDraft,
    SelectedDrafts,
    parse_question_draft,
    questions_from_drafts,
    select_drafts,
)
from likewise.outfits.builder import OutfitTestBuilder
from likewise.outfits.bundle import OutfitTest, write_test
from likewise.outfits.category_mapping import categorize_items
from likewise.outfits.designer_pictures import designer_items, image_path
from likewise.outfits.dimensions import AAT_PLAN
from likewise.outfits.lat import replace_choice
from likewise.outfits.looks.columns import describing_columns
from likewise.outfits.protocol import Item, OutfitQuestion
from likewise.outfits.stages import to_site_questions
from likewise.workspace import WorkspaceFolder, read_json

DRAFT, VOTE, FACTOR = "aat-draft", "aat-vote", "factor"
NON_ATTRIBUTE_COLUMNS = frozenset({"line", "domain", "view"})


def catalog_items(workspace: WorkspaceFolder, mapping: Mapping[str, str] | None = None) -> dict[str, Item]:
    """The items of a catalog that have one of the twenty categories."""
    items, _ = categorize_items(read_catalog(workspace), mapping)
    return {name: Item(name, category, image) for name, image, category in items.iter_rows()}


def question_items(workspace: WorkspaceFolder, engine: Engine) -> dict[str, Item]:
    """What AAT questions may show: pictures that designers brought along, then the catalog's items."""
    return designer_items(workspace, engine) | catalog_items(workspace)


def catalog_attributes(workspace: WorkspaceFolder) -> ItemAttributes:
    """Whatever else a catalog says about its items in words that recur; titles and free texts are no attributes."""
    catalog = read_catalog(workspace).unique("item", keep="first", maintain_order=True)
    columns = [name for name in describing_columns(catalog) if name not in NON_ATTRIBUTE_COLUMNS]
    if not columns:
        return {}
    return {row["item"]: {name: row[name] for name in columns} for row in catalog.iter_rows(named=True)}


def read_drafts(engine: Engine) -> list[QuestionDraft]:
    """Drafts that were not withdrawn."""
    return [parse_question_draft(note.body) for note in read_notes(engine, DRAFT) if note.body is not None]


def read_votes(engine: Engine) -> dict[str, dict[str, bool]]:
    """draft -> person -> for or against; nobody votes on their own draft."""
    authors = {draft.name: draft.author for draft in read_drafts(engine)}
    votes: dict[str, dict[str, bool]] = {}
    for note in read_notes(engine, VOTE):
        if note.author is not None and authors.get(note.key) != note.author:
            votes.setdefault(note.key, {})[note.author] = bool(note.body)
    return votes


def selected_drafts(engine: Engine) -> SelectedDrafts:
    return select_drafts(read_drafts(engine), read_votes(engine), AAT_PLAN)


def read_factor_tags(engine: Engine) -> dict[str, dict[str, list[str]]]:
    """question -> person -> factors."""
    tags: dict[str, dict[str, list[str]]] = {}
    for note in read_notes(engine, FACTOR):
        tags.setdefault(note.key, {})[note.author or "owner"] = list(note.body)
    return tags


def replace_distractor(builder: OutfitTestBuilder, engine: Engine, question: str, old: str, new: str) -> OutfitQuestion:
    """Put another distractor in; possible until the first answer to the question in its next asking."""
    stage, slug = ("panel", builder.slug("rounds-1")) if builder.is_done("panel") else ("blank", builder.slug("panel"))
    if builder.is_done("rounds-1"):
        raise LikewiseError(f"the rounds of {builder.name} have begun: its choices stay as they are.")
    items = catalog_items(builder.workspace, builder.plan().mapping)
    if new not in items:
        raise LikewiseError(f"there is no item {new} in the catalog.")
    questions = builder.questions(stage)
    places = [place for place, each in enumerate(questions) if each.name == question]
    if not places:
        raise LikewiseError(f"{builder.name} has no question {question}.")
    changed = replace_choice(questions[places[0]], old, items[new])
    change_question(engine, slug, to_site_questions([changed])[0])  # first: it refuses what was answered
    questions[places[0]] = changed
    with written_together(builder.folder) as staged:
        builder.write_questions(stage, questions, staged)
    add_note(engine, "replaced", f"{builder.name}/{question}", None, {"old": old, "new": new})
    return changed


def publish_test(
    builder: OutfitTestBuilder,
    engine: Engine,
    path: Path,
    *,
    licence: str,
    title: str | None = None,
    overwrite: bool = False,
) -> OutfitTest:
    """The bundle of a finished test: the crowd's LAT, and the selected drafts as AAT where there are any."""
    if not builder.is_done("crowd"):
        raise LikewiseError(
            f"{builder.name} is not finished: see `likewise outfits make-test {builder.workspace.quoted}`."
        )
    lat = [replace(q, name=f"LAT-{number:03d}") for number, q in enumerate(builder.questions("crowd"), 1)]
    chosen = selected_drafts(engine)
    aat = questions_from_drafts(chosen.drafts, question_items(builder.workspace, engine), builder.plan().seed)
    final = read_json(builder.folder / "final.json")
    made = {
        "fully_consistent": final["fully_consistent"],
        "shortfalls": final["shortfalls"] or "none",
        "people": f"{max((sum(q.people) for q in lat), default=0)} at most per question",
        "AAT_lacking": sum(chosen.lacking.values()) if aat else "no AAT",
    }
    return write_test(
        path,
        [*lat, *aat],
        lambda image: image_path(builder.workspace, image).read_bytes(),
        title=title or builder.name,
        licence=licence,
        made=made,
        overwrite=overwrite,
    )
