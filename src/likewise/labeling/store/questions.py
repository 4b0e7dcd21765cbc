"""Questions of other kinds on the same machinery: triplets, ratings, keep or delete, multiple choice with pictures."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl
from sqlalchemy import Engine, func, insert, select, update

from likewise.errors import LikewiseError
from likewise.labeling.store.clock import now
from likewise.labeling.store.engine import reading, writing
from likewise.labeling.store.events import LONGEST_TIMED_MILLISECONDS, Stored
from likewise.labeling.store.images import ensure_images, hidden_id, insert_many
from likewise.labeling.store.models import Expert, Question, QuestionAnswer, Questionnaire
from likewise.labeling.store.project import read_setting
from likewise.labeling.store.questionnaires import questionnaires_of
from likewise.labeling.store.queue import Progress
from likewise.labeling.votes import random_bytes

Kind = Literal["triplet", "rating", "keep", "choice"]
MAIN = "main"
PRIME = 1_000_003  # multiplying by a number of one's own modulo a prime shuffles differently for everyone

PROMPTS = {
    "triplet": "Which one looks more like the reference?",
    "rating": "How good is this, from 1 to 10?",
    "keep": "Keep this one?",
    "choice": "Which one fits best?",
}
ANSWER_SCHEMA = {
    "questionnaire": pl.String,
    "question": pl.String,
    "kind": pl.String,
    "expert": pl.String,
    "value": pl.String,
    "revision": pl.Int64,
    "milliseconds": pl.Int64,
    "time": pl.String,
}


@dataclass(frozen=True)
class NewQuestion:
    """A question by catalog keys. `name` is its owner's key; `options` are (value, label, image key or None).

    A triplet has one image (the reference) and two options with pictures; a rating and keep/delete need only images.
    """

    name: str
    images: tuple[str, ...]
    options: tuple[tuple[str, str, str | None], ...] = ()
    prompt: str = ""


@dataclass(frozen=True)
class AskedQuestion:
    """A question as a browser gets it: image ids, no keys."""

    id: int
    kind: str
    prompt: str
    images: list[int]
    options: list[dict[str, Any]]  # value, label, image (an id or None)


def add_questions(engine: Engine, kind: Kind, questions: Sequence[NewQuestion], questionnaire: str = MAIN) -> int:
    """Add questions; those whose name is there already stay as they are. How many are new."""
    if kind not in get_args(Kind):
        raise LikewiseError(f"there is no kind of question {kind!r}: use {', '.join(get_args(Kind))}.")
    for question in questions:
        _check(kind, question)
    with writing(engine) as connection:
        if not connection.execute(select(Questionnaire.slug).where(Questionnaire.slug == questionnaire)).first():
            row = {"slug": questionnaire, "title": "Questions", "consent": "", "public": False, "open": True}
            connection.execute(insert(Questionnaire), {**row, "most_guests": 0})
        there = set(connection.scalars(select(Question.name).where(Question.questionnaire == questionnaire)))
        new = {question.name: question for question in questions if question.name not in there}
        keys = [
            key for question in new.values() for key in (*question.images, *(o[2] for o in question.options if o[2]))
        ]
        ids, salt = ensure_images(connection, keys), str(read_setting(connection, "salt"))
        rows = [
            {
                "id": hidden_id(salt, "question", questionnaire, question.name),
                "questionnaire": questionnaire,
                "name": question.name,
                "kind": kind,
                "prompt": question.prompt or PROMPTS[kind],
                "images": json.dumps([ids[key] for key in question.images]),
                "options": json.dumps(
                    [
                        {"value": value, "label": label, "image": ids[key] if key else None}
                        for value, label, key in question.options or _usual_options(kind)
                    ]
                ),
            }
            for question in new.values()
        ]
        insert_many(connection, Question, rows)
    return len(rows)


def read_answers(engine: Engine, questionnaire: str | None = None) -> pl.DataFrame:
    """Every standing answer (each person's latest to each question), by question and expert."""
    wanted = (
        select(
            Question.questionnaire,
            Question.name,
            Question.kind,
            Expert.name,
            QuestionAnswer.value,
            QuestionAnswer.revision,
            QuestionAnswer.milliseconds,
            QuestionAnswer.stored,
        )
        .join(Question, Question.id == QuestionAnswer.question)
        .join(Expert, Expert.id == QuestionAnswer.expert)
    )
    if questionnaire is not None:
        wanted = wanted.where(Question.questionnaire == questionnaire)
    with reading(engine) as connection:
        rows = [tuple(row) for row in connection.execute(wanted)]
    key = ["questionnaire", "question", "expert"]
    answers = pl.DataFrame(rows, schema=ANSWER_SCHEMA, orient="row").sort(*key, "revision")
    return answers.unique(key, keep="last", maintain_order=True)


def next_question(
    engine: Engine, expert: int, questionnaire: str | None, skip: Collection[int] = ()
) -> tuple[AskedQuestion | None, Progress]:
    """Somebody's next question, in an order of their own, and how far they are."""
    factor = 2 + int.from_bytes(random_bytes(4, "questions", expert), "big") % (PRIME - 2)
    answered = select(QuestionAnswer.question).where(QuestionAnswer.expert == expert)
    with reading(engine) as connection:
        mine = questionnaires_of(questionnaire)
        order = ((Question.id % PRIME) * factor) % PRIME
        found = connection.execute(
            select(Question.id, Question.kind, Question.prompt, Question.images, Question.options)
            .where(Question.questionnaire.in_(mine), Question.id.not_in(answered))
            .order_by(order, Question.id)
            .limit(len(skip) + 1)
        )
        first = next((row for row in found if row.id not in skip), None)
        total = connection.execute(
            select(func.count()).select_from(Question).where(Question.questionnaire.in_(mine))
        ).scalar_one()
        milliseconds, n_timed = connection.execute(
            select(
                func.coalesce(func.sum(QuestionAnswer.milliseconds), 0), func.count(QuestionAnswer.milliseconds)
            ).where(QuestionAnswer.expert == expert)
        ).one()
        n_answered = connection.execute(
            select(func.count(func.distinct(QuestionAnswer.question))).where(QuestionAnswer.expert == expert)
        ).scalar_one()
    seconds = round(float(milliseconds or 0) / n_timed / 1000.0, 2) if n_timed else None
    asked = None
    if first is not None:
        images, options = json.loads(first.images), json.loads(first.options)
        asked = AskedQuestion(first.id, first.kind, first.prompt, images, options)
    return asked, Progress(n_answered, total, 0, seconds)


def has_questions(engine: Engine, expert: int | None) -> bool:
    with reading(engine) as connection:
        found = connection.execute(
            select(Question.id).where(Question.questionnaire.in_(questionnaires_of(None))).limit(1)
        )
        return expert is not None and found.first() is not None


def add_question_answers(
    engine: Engine, expert: int, questionnaire: str | None, answers: Sequence[tuple[str, int, str, int | None]]
) -> Stored:
    """Store (client id, question, value, milliseconds); as with pairs, once each, and a second answer is a revision."""
    stored = Stored()
    with writing(engine, expert) as connection:
        ids = sorted({question for _, question, _, _ in answers})
        known = connection.execute(
            select(Question.id, Question.options).where(
                Question.id.in_(ids), Question.questionnaire.in_(questionnaires_of(questionnaire))
            )
        )
        values = {number: {option["value"] for option in json.loads(options)} for number, options in known}
        sent = connection.execute(
            select(QuestionAnswer.client_id, QuestionAnswer.expert, QuestionAnswer.question).where(
                QuestionAnswer.client_id.in_([client_id for client_id, *_ in answers])
            )
        )
        seen = {client_id: (whose, question) for client_id, whose, question in sent}
        latest = connection.execute(
            select(QuestionAnswer.question, func.max(QuestionAnswer.revision))
            .where(QuestionAnswer.expert == expert, QuestionAnswer.question.in_(ids))
            .group_by(QuestionAnswer.question)
        )
        revisions = {row[0]: row[1] for row in latest}
        rows = []
        for client_id, question, value, milliseconds in answers:
            if client_id in seen:
                if seen[client_id] == (expert, question):
                    stored.accepted.append(client_id)
                else:
                    stored.refused.append((client_id, "this client id belongs to another answer"))
            elif question not in values:
                stored.refused.append((client_id, "this question is not yours"))
            elif value not in values[question]:
                stored.refused.append((client_id, "this is not one of the question's answers"))
            else:
                seen[client_id] = (expert, question)
                revisions[question] = revisions.get(question, 0) + 1
                timed = None if milliseconds is None else min(milliseconds, LONGEST_TIMED_MILLISECONDS)
                row = {"client_id": client_id, "question": question, "value": value, "milliseconds": timed}
                rows.append(row | {"expert": expert, "revision": revisions[question], "stored": now()})
                stored.accepted.append(client_id)
        insert_many(connection, QuestionAnswer, rows)
        connection.execute(update(Expert).where(Expert.id == expert).values(last_seen=now()))
    return stored


def _usual_options(kind: str) -> tuple[tuple[str, str, None], ...]:
    if kind == "rating":
        return tuple((str(number), str(number), None) for number in range(1, 11))
    return (("keep", "Keep", None), ("delete", "Delete", None))


def _check(kind: str, question: NewQuestion) -> None:
    where = f"the {kind} question {question.name!r}"
    if not question.name or (not question.images and kind != "choice"):
        raise LikewiseError(f"{where} needs a name and at least one image.")
    if kind == "triplet" and (len(question.images) != 1 or len(question.options) != 2):
        raise LikewiseError(f"{where} needs one reference and two options, each with a picture.")
    if kind == "choice" and len(question.options) < 2:
        raise LikewiseError(f"{where} needs at least two options.")
    values = [value for value, _, _ in question.options]
    if len(set(values)) < len(values) or not all(values):
        raise LikewiseError(f"{where} has options without a value of their own.")
