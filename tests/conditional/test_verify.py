"""People verify templates: what they are shown, what their answers make of a set, and the commands around it."""

import json
import uuid
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sqlalchemy import select

from likewise.conditional.templates.annotations import catalog_annotations
from likewise.conditional.templates.build import build_templates
from likewise.conditional.templates.verify import (
    NONE,
    SEVERAL,
    candidate_order,
    choice_questions,
    question_key,
    verify_templates,
)
from likewise.labeling.store import open_votes
from likewise.labeling.store.engine import read_transaction
from likewise.labeling.store.experts import invite_expert, read_experts
from likewise.labeling.store.models import StoredQuestion
from likewise.labeling.store.question_queue import next_question
from likewise.labeling.store.questions import add_question_answers
from likewise.synthetic import make_items
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]

CATALOG = make_items(200, 3).with_columns(pl.col("item").alias("image"))
TEMPLATES = build_templates(catalog_annotations(CATALOG), per_task=30)


def right_place(name: str, row: dict[str, object]) -> str:
    """Where a question shows its target, read from the question itself."""
    [asked] = [each for each in choice_questions(name, pl.DataFrame([row])) if each.name]
    [place] = [value for value, _, image in asked.options if image == row["target"]]
    return place


def answers(said: dict[str, list[str]]) -> pl.DataFrame:
    rows = [(question, value) for question, values in said.items() for value in values]
    return pl.DataFrame(rows, schema=["question", "value"], orient="row")


def test_a_question_shows_every_candidate_and_nothing_about_which_is_right() -> None:
    asked = choice_questions("set", TEMPLATES)
    places = []
    for row, question in zip(TEMPLATES.iter_rows(named=True), asked, strict=True):
        shown = [image for _, _, image in question.options if image]
        assert sorted(shown) == sorted([row["target"], *row["gallery"]])
        assert question.images == (row["reference"],) and row["condition"] in question.prompt
        assert [value for value, _, _ in question.options[-2:]] == [SEVERAL, NONE]
        places.append(shown.index(row["target"]))
    assert len(set(places)) == 15 and np.mean(places) == pytest.approx(6.375, abs=1.2)  # three standard errors
    assert candidate_order("set", "focus_object", 3, 15) == candidate_order("set", "focus_object", 3, 15)


def test_the_cleaned_set_holds_what_most_people_chose() -> None:
    rows = TEMPLATES.filter(task="focus_object").head(5).to_dicts()
    wrong = {
        name: "1" if right_place("set", row) != "1" else "2"
        for row in rows
        for name in [question_key("focus_object", row["template"])]
    }
    right = {question_key("focus_object", row["template"]): right_place("set", row) for row in rows}
    names = list(right)
    said = {
        names[0]: [right[names[0]]] * 3,
        names[1]: [right[names[1]], right[names[1]], wrong[names[1]]],
        names[2]: [right[names[2]], SEVERAL],
        names[3]: [NONE, wrong[names[3]], right[names[3]]],
    }
    found = verify_templates("set", TEMPLATES, answers(said), min_people=2)
    assert found.verdicts["kept"].to_list() == [True, True, False, False]
    assert found.verdicts["n_several"].to_list() == [0, 0, 1, 0]
    assert found.cleaned["template"].to_list() == [rows[0]["template"], rows[1]["template"]]
    score = found.scores.row(0, named=True)
    assert score["value"] == pytest.approx(np.mean([1, 2 / 3, 1 / 2, 1 / 3]))
    assert (score["n"], score["n_total"], score["chance"]) == (4, 30, pytest.approx(1 / 15))


def test_from_the_site_to_a_cleaned_set(run: Run, drawn: WorkspaceFolder) -> None:
    assert run("condition", "build", drawn.path, "--name", "asked", "--per-task", 6).code == 0
    early = run("condition", "verified", drawn.path, "--templates", "asked")
    assert early.code == 2 and "nobody has answered" in early.err
    asked = json.loads(run("condition", "verify", drawn.path, "--templates", "asked", "--per-task", 4, "--json").out)
    assert asked["questions"] == asked["new"] == 16
    templates = {
        question_key(row["task"], row["template"]): row
        for row in pl.read_parquet(drawn.path / "templates" / "asked.parquet").iter_rows(named=True)
    }
    engine = open_votes(drawn)
    invite_expert(engine, "Anna")
    expert = next(one.id for one in read_experts(engine) if one.name == "Anna")
    with read_transaction(engine) as connection:
        name_of = {row.id: row.name for row in connection.execute(select(StoredQuestion.id, StoredQuestion.name))}
    n_answered = 0
    while (question := next_question(engine, expert, None)[0]) is not None:
        given = [(str(uuid.uuid4()), question.id, right_place("asked", templates[name_of[question.id]]), 900)]
        assert len(add_question_answers(engine, expert, None, given).accepted) == 1
        n_answered += 1
    engine.dispose()
    assert n_answered == 16
    done = json.loads(run("condition", "verified", drawn.path, "--templates", "asked", "--json").out)
    kept = pl.read_parquet(Path(done["file"]))
    assert len(kept) == 16
    average = next(row for row in done["scores"] if row["task"] == "average")
    assert average["n"] == 16 and average["n_total"] == 24 and average["value"] == 1.0
    table = pl.read_parquet(drawn.results_folder / "conditions.parquet").filter(templates="asked", encoder="people")
    assert set(table["measure"]) == {"Recall@1"}
