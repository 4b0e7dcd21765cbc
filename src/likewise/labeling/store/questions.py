"""Questions of other kinds on the same machinery: triplets, ratings, keep or delete, multiple choice with pictures."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl
from sqlalchemy import Connection, Engine, func, insert, select, update

from likewise.errors import LikewiseError
from likewise.labeling.store.clock import store_time_now
from likewise.labeling.store.engine import read_transaction, write_transaction
from likewise.labeling.store.events import MAX_TIMED_MILLISECONDS, SubmissionResult
from likewise.labeling.store.images import ensure_images, insert_many, opaque_id
from likewise.labeling.store.models import Expert, QuestionAnswer, Questionnaire, QuestionProgress, StoredQuestion
from likewise.labeling.store.project import read_setting
from likewise.labeling.store.questionnaires import visible_questionnaires

QuestionKind = Literal["triplet", "rating", "keep", "choice"]
MAIN_QUESTIONNAIRE = "main"

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

    @property
    def keys(self) -> list[str]:
        """Every picture it shows."""
        return [*self.images, *(key for _, _, key in self.options if key)]


def add_questions(
    engine: Engine,
    kind: QuestionKind,
    questions: Sequence[NewQuestion],
    questionnaire: str = MAIN_QUESTIONNAIRE,
    n_shares: int | None = None,
) -> int:
    """Add questions; those whose name is there already stay as they are. How many are new.

    With `n_shares`, each question belongs to one of so many shares, and each expert is asked one share only.
    """
    if kind not in get_args(QuestionKind):
        raise LikewiseError(f"there is no kind of question {kind!r}: use {', '.join(get_args(QuestionKind))}.")
    for question in questions:
        _check(kind, question)
    with write_transaction(engine) as connection:
        there = select(Questionnaire.n_shares).where(Questionnaire.slug == questionnaire)
        shares = connection.execute(there).scalar_one_or_none()
        if shares is None:
            shares = n_shares or 0
            row = {"slug": questionnaire, "title": "Questions", "consent": "", "public": False, "open": True}
            connection.execute(insert(Questionnaire), {**row, "most_guests": 0, "n_shares": shares})
        elif n_shares is not None and n_shares != shares:
            raise LikewiseError(f"the questionnaire {questionnaire} is split into {shares} shares, not {n_shares}.")
        named = set(
            connection.scalars(select(StoredQuestion.name).where(StoredQuestion.questionnaire == questionnaire))
        )
        new = {question.name: question for question in questions if question.name not in named}
        keys = [key for question in new.values() for key in question.keys]
        ids, salt = ensure_images(connection, keys), str(read_setting(connection, "salt"))
        rows: list[dict[str, Any]] = [
            {
                "id": opaque_id(salt, "question", questionnaire, question.name),
                "questionnaire": questionnaire,
                "name": question.name,
                "kind": kind,
                "prompt": question.prompt or PROMPTS[kind],
                **_pictures(kind, question, ids),
            }
            for question in new.values()
        ]
        for number, row in enumerate(sorted(rows, key=lambda row: int(row["id"]))):  # ids are random: so are shares
            row["share"] = 1 + (len(named) + number) % shares if shares else 0
        insert_many(connection, StoredQuestion, rows)
    return len(rows)


def change_question(engine: Engine, questionnaire: str, question: NewQuestion) -> bool:
    """Change the pictures of a question that nobody answered yet; False where there is no such question."""
    with write_transaction(engine) as connection:
        at = (StoredQuestion.questionnaire == questionnaire) & (StoredQuestion.name == question.name)
        found = connection.execute(select(StoredQuestion.id, StoredQuestion.kind).where(at)).one_or_none()
        if found is None:
            return False
        _check(found.kind, question)
        answered = select(QuestionAnswer.id).where(QuestionAnswer.question == found.id).limit(1)
        if connection.execute(answered).first():
            raise LikewiseError(f"the question {question.name!r} was answered already: it stays as it is.")
        pictures = _pictures(found.kind, question, ensure_images(connection, question.keys))
        connection.execute(update(StoredQuestion).where(StoredQuestion.id == found.id).values(**pictures))
    return True


def read_questions(engine: Engine, questionnaire: str) -> pl.DataFrame:
    """The questions of a questionnaire by name: `question` (its id), `name`, `kind`, `share`."""
    wanted = select(StoredQuestion.id, StoredQuestion.name, StoredQuestion.kind, StoredQuestion.share)
    with read_transaction(engine) as connection:
        rows = connection.execute(
            wanted.where(StoredQuestion.questionnaire == questionnaire).order_by(StoredQuestion.name)
        )
        schema = {"question": pl.Int64, "name": pl.String, "kind": pl.String, "share": pl.Int64}
        return pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")


def read_answers(engine: Engine, questionnaire: str | None = None) -> pl.DataFrame:
    """Every current answer (each person's latest to each question), by question and expert."""
    wanted = (
        select(
            StoredQuestion.questionnaire,
            StoredQuestion.name,
            StoredQuestion.kind,
            Expert.name,
            QuestionAnswer.value,
            QuestionAnswer.revision,
            QuestionAnswer.milliseconds,
            QuestionAnswer.stored,
        )
        .join(StoredQuestion, StoredQuestion.id == QuestionAnswer.question)
        .join(Expert, Expert.id == QuestionAnswer.expert)
    )
    if questionnaire is not None:
        wanted = wanted.where(StoredQuestion.questionnaire == questionnaire)
    with read_transaction(engine) as connection:
        rows = [tuple(row) for row in connection.execute(wanted)]
    key = ["questionnaire", "question", "expert"]
    answers = pl.DataFrame(rows, schema=ANSWER_SCHEMA, orient="row").sort(*key, "revision")
    return answers.unique(key, keep="last", maintain_order=True)


def add_question_answers(
    engine: Engine, expert: int, questionnaire: str | None, answers: Sequence[tuple[str, int, str, int | None]]
) -> SubmissionResult:
    """Store (client id, question, value, milliseconds); as with pairs, once each, and a second answer is a revision."""
    stored = SubmissionResult()
    with write_transaction(engine, expert) as connection:
        ids = sorted({question for _, question, _, _ in answers})
        known = connection.execute(
            select(StoredQuestion.id, StoredQuestion.options, StoredQuestion.questionnaire).where(
                StoredQuestion.id.in_(ids), StoredQuestion.questionnaire.in_(visible_questionnaires(questionnaire))
            )
        )
        rows_known = list(known)
        values = {row.id: {option["value"] for option in json.loads(row.options)} for row in rows_known}
        slugs = {row.id: row.questionnaire for row in rows_known}
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
                timed = None if milliseconds is None else min(milliseconds, MAX_TIMED_MILLISECONDS)
                row = {"client_id": client_id, "question": question, "value": value, "milliseconds": timed}
                rows.append(row | {"expert": expert, "revision": revisions[question], "stored": store_time_now()})
                stored.accepted.append(client_id)
        insert_many(connection, QuestionAnswer, rows)
        _update_progress(connection, expert, rows, slugs)
        connection.execute(update(Expert).where(Expert.id == expert).values(last_seen=store_time_now()))
    return stored


def _pictures(kind: str, question: NewQuestion, ids: dict[str, int]) -> dict[str, str]:
    options = [
        {"value": value, "label": label, "image": ids[key] if key else None}
        for value, label, key in question.options or _default_options(kind)
    ]
    return {"images": json.dumps([ids[key] for key in question.images]), "options": json.dumps(options)}


def _update_progress(connection: Connection, expert: int, rows: list[dict[str, Any]], slugs: dict[int, str]) -> None:
    """Bring the progress of each questionnaire up to date with new answers; only a first one moves it on."""
    for slug in sorted({slugs[row["question"]] for row in rows}):
        mine = [row for row in rows if slugs[row["question"]] == slug]
        timed = [row["milliseconds"] for row in mine if row["milliseconds"] is not None]
        more = {
            "n_answered": sum(row["revision"] == 1 for row in mine),
            "n_timed": len(timed),
            "timed_milliseconds": sum(timed),
        }
        at = (QuestionProgress.expert == expert) & (QuestionProgress.questionnaire == slug)
        grown = {name: getattr(QuestionProgress, name) + value for name, value in more.items()}
        if not connection.execute(update(QuestionProgress).where(at).values(**grown)).rowcount:
            connection.execute(insert(QuestionProgress), {"expert": expert, "questionnaire": slug, **more})


def _default_options(kind: str) -> tuple[tuple[str, str, None], ...]:
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
