"""The steps `likewise condition verify` and `verified`: templates go to people, and their answers come back."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.conditional.step import store_results
from likewise.conditional.templates.files import (
    read_templates,
    refuse_existing_templates,
    template_settings,
    write_templates,
)
from likewise.conditional.templates.verify import (
    choice_questions,
    questionnaire_slug,
    sample_templates,
    verify_templates,
)
from likewise.errors import LikewiseError
from likewise.labeling.store import open_votes
from likewise.labeling.store.project import read_project
from likewise.labeling.store.questionnaires import add_questionnaire
from likewise.labeling.store.questions import add_questions, read_answers
from likewise.workspace import WorkspaceFolder

TITLE = "Which one fits?"
CONSENT = (
    "You will see a picture, a condition, and several candidates. Choose the one candidate that fits. There are no "
    "tricks: where several fit or none does, say so.\n\nYour answers are stored without your name."
)


@dataclass(frozen=True)
class PostedQuestions:
    """Questions on the site."""

    name: str
    n_questions: int
    n_new: int
    address: str
    """For guests; empty when only experts are asked."""


def post_questions(
    workspace: WorkspaceFolder, name: str | None = None, *, per_task: int | None = None, guests: int = 0, seed: int = 0
) -> PostedQuestions:
    """Put templates on the site, for invited experts or for so many guests."""
    if guests < 0 or (per_task is not None and per_task < 1):
        raise LikewiseError("ask for at least one template per task and for no fewer than 0 guests.")
    name, templates = read_templates(workspace, name)
    questions, slug = choice_questions(name, sample_templates(templates, per_task, seed)), questionnaire_slug(name)
    engine = open_votes(workspace)
    try:
        add_questionnaire(engine, slug, TITLE, consent=CONSENT, public=guests > 0, most_guests=guests)
        n_new = add_questions(engine, "choice", questions, slug)
        url = read_project(engine).url or ""
    finally:
        engine.dispose()
    return PostedQuestions(name, len(questions), n_new, f"{url}/q/{slug}" if guests else "")


@dataclass(frozen=True)
class VerifiedTemplates:
    """What people answered, and the file of the cleaned set."""

    name: str
    path: Path
    verdicts: pl.DataFrame
    scores: pl.DataFrame


def collect_answers(
    workspace: WorkspaceFolder,
    name: str | None = None,
    *,
    min_people: int = 1,
    replace: bool = False,
) -> VerifiedTemplates:
    """Write `<name>-verified` (the templates whose target most people chose) and the people's row of the results."""
    name, templates = read_templates(workspace, name)
    engine = open_votes(workspace)
    try:
        answers = read_answers(engine, questionnaire_slug(name))
    finally:
        engine.dispose()
    if answers.is_empty():
        raise LikewiseError(
            f"nobody has answered a question about {name} yet: put them on the site with `likewise condition verify` "
            "and start it with `likewise label serve`."
        )
    found = verify_templates(name, templates, answers, min_people=min_people)
    settings = template_settings(workspace, name) | {
        "verified": {
            "from": name,
            "people": answers["expert"].n_unique(),
            "answers": len(answers),
            "answered": len(found.verdicts),
            "kept": len(found.cleaned),
            "least_people": min_people,
        }
    }
    refuse_existing_templates(workspace, f"{name}-verified", replace=replace)
    store_results(workspace, name, found.scores, official=False)  # before what would refuse to be written again
    path = write_templates(workspace, f"{name}-verified", found.cleaned, settings, replace=replace)
    return VerifiedTemplates(name, path, found.verdicts, found.scores)
