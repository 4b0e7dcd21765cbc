"""People verify templates on the labelling site: multiple choice, every answer blind to which one is right.

What comes back is a cleaned version (templates whose target most people chose) and a human score per task.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.conditional.evaluate import accuracy_table
from likewise.conditional.protocol import Floats
from likewise.labeling.store.questions import NewQuestion

PROMPTS = {
    "focus_attribute": "Which one is the same kind of thing, with the same {condition}?",
    "change_attribute": "Which one is the same kind of thing, but “{condition}”?",
    "focus_object": "Which one shows the same scene and also has “{condition}”?",
    "change_object": "Which one shows the same scene, with “{condition}” added?",
}
SEVERAL, NONE = "several", "none"
EXTRA_OPTIONS = ((SEVERAL, "More than one fits", None), (NONE, "None fits", None))
PEOPLE = "people"
VERDICT_SCHEMA = {
    "task": pl.String(),
    "template": pl.Int64(),
    "n_people": pl.Int64(),
    "n_right": pl.Int64(),
    "n_several": pl.Int64(),
    "n_none": pl.Int64(),
    "kept": pl.Boolean(),
}


def questionnaire_slug(name: str) -> str:
    """The address of a set's questions on the site."""
    return "conditions-" + "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name)[:50]


def choice_questions(name: str, templates: pl.DataFrame) -> list[NewQuestion]:
    """One multiple-choice question per template: the reference, the candidates in an order that says nothing."""
    questions = []
    for row in templates.iter_rows(named=True):
        candidates = [row["target"], *row["gallery"]]
        order = candidate_order(name, row["task"], row["template"], len(candidates))
        options = [(str(place), str(place), candidates[which]) for place, which in enumerate(order, 1)]
        prompt = PROMPTS.get(row["task"], "Which one is like this, but “{condition}”?")
        questions.append(
            NewQuestion(
                question_key(row["task"], row["template"]),
                (row["reference"],),
                (*options, *EXTRA_OPTIONS),
                prompt.format(condition=row["condition"]),
            )
        )
    return questions


def question_key(task: str, template: int) -> str:
    return f"{task}:{template}"


def candidate_order(name: str, task: str, template: int, n_candidates: int) -> list[int]:
    """Which candidate stands at each place; always the same for one template of one set."""
    digest = hashlib.blake2b(f"{name}\x1f{task}\x1f{template}".encode(), digest_size=8).digest()
    order = np.random.default_rng(int.from_bytes(digest, "big")).permutation(n_candidates)
    return [int(which) for which in order]


def sample_templates(templates: pl.DataFrame, per_task: int | None, seed: int) -> pl.DataFrame:
    """All templates, or so many of each task, drawn by the seed."""
    if per_task is None:
        return templates
    parts = [
        part.sample(min(per_task, len(part)), seed=seed, shuffle=True).sort("template")
        for _, part in templates.group_by(["task"], maintain_order=True)
    ]
    return pl.concat(parts)


@dataclass(frozen=True)
class VerificationResult:
    """What people said about a set."""

    verdicts: pl.DataFrame
    cleaned: pl.DataFrame
    scores: pl.DataFrame


def verify_templates(
    name: str, templates: pl.DataFrame, answers: pl.DataFrame, *, min_people: int = 1
) -> VerificationResult:
    """Templates whose target more than half of at least `min_people` chose, and the share of right answers."""
    given: dict[str, list[str]] = {}
    for question, value in answers.select("question", "value").iter_rows():
        given.setdefault(question, []).append(value)
    rows = []
    for row in templates.iter_rows(named=True):
        said = given.get(question_key(row["task"], row["template"]), [])
        if said:
            order = candidate_order(name, row["task"], row["template"], len(row["gallery"]) + 1)
            right = str(order.index(0) + 1)
            n_right = said.count(right)
            kept = len(said) >= min_people and 2 * n_right > len(said)
            counts = (len(said), n_right, said.count(SEVERAL), said.count(NONE))
            rows.append((row["task"], row["template"], *counts, kept))
    verdicts = pl.DataFrame(rows, schema=VERDICT_SCHEMA, orient="row")
    good = verdicts.filter("kept").select("task", "template")
    cleaned = templates.join(good, on=["task", "template"], how="semi", maintain_order="left")
    return VerificationResult(verdicts, cleaned, _scores(templates, verdicts))


def _scores(templates: pl.DataFrame, verdicts: pl.DataFrame) -> pl.DataFrame:
    shares: dict[str, Floats] = {}
    levels: dict[str, float] = {}
    totals: dict[str, int] = {}
    for (task,), part in verdicts.group_by(["task"], maintain_order=True):
        of_task = templates.filter(task=task)
        shares[str(task)] = (part["n_right"] / part["n_people"]).to_numpy()
        levels[str(task)] = float((1.0 / (of_task["gallery"].list.len() + 1)).mean() or 0.0)  # type: ignore[arg-type]
        totals[str(task)] = len(of_task)
    return accuracy_table(PEOPLE, shares, levels, totals)
