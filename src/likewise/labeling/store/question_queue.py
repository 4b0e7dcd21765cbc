"""What someone is asked next among questions of other kinds: a few indexed lookups, however many questions there are.

Ids of questions are random, so their order is one. Everybody has a start of their own, goes on to the end and then
from the beginning to that start; where they are follows from their last answer. Questions that were passed by (fetched
ahead by a page that was closed) come at the very end.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, func, select

from likewise.labeling.store.engine import read_transaction
from likewise.labeling.store.models import Expert, QuestionAnswer, Questionnaire, QuestionProgress, StoredQuestion
from likewise.labeling.store.questionnaires import visible_questionnaires
from likewise.labeling.store.queue import QueueProgress, make_progress
from likewise.labeling.votes import hash_bytes

MAX_QUESTION_ID = 2**48 + 1


@dataclass(frozen=True)
class QueuedQuestion:
    """A question as a browser gets it: image ids, no keys."""

    id: int
    kind: str
    prompt: str
    images: list[int]
    options: list[dict[str, Any]]  # value, label, image (an id or None)


def next_question(
    engine: Engine, expert: int, questionnaire: str | None, skip: Collection[int] = ()
) -> tuple[QueuedQuestion | None, QueueProgress]:
    """Somebody's next question, in an order of their own, and how far they are."""
    start = int.from_bytes(hash_bytes(6, "questions", expert), "big")
    with read_transaction(engine) as connection:
        mine = _assigned_questionnaires(connection, expert, questionnaire)
        progress, unfinished = _read_progress(connection, expert, mine)
        found = None
        for slug, share in unfinished:
            found = _next_in_questionnaire(connection, expert, slug, share, start, skip)
            if found is not None:
                break
    if found is None:
        return None, progress
    row = found
    return QueuedQuestion(row.id, row.kind, row.prompt, json.loads(row.images), json.loads(row.options)), progress


def question_progress(engine: Engine, expert: int, questionnaire: str | None) -> QueueProgress:
    """How far somebody is."""
    with read_transaction(engine) as connection:
        return _read_progress(connection, expert, _assigned_questionnaires(connection, expert, questionnaire))[0]


def has_questions(engine: Engine, expert: int | None) -> bool:
    with read_transaction(engine) as connection:
        found = connection.execute(
            select(StoredQuestion.id).where(StoredQuestion.questionnaire.in_(visible_questionnaires(None))).limit(1)
        )
        return expert is not None and found.first() is not None


def _assigned_questionnaires(connection: Connection, expert: int, questionnaire: str | None) -> list[tuple[str, int]]:
    """The questionnaires that somebody is asked, and which share of each (0: all of it)."""
    number = connection.execute(select(Expert.share).where(Expert.id == expert)).scalar_one()
    found = connection.execute(
        select(Questionnaire.slug, Questionnaire.n_shares)
        .where(Questionnaire.slug.in_(visible_questionnaires(questionnaire)))
        .order_by(Questionnaire.slug)
    )
    return [(slug, 1 + number % n_shares if n_shares else 0) for slug, n_shares in found]


def _read_progress(
    connection: Connection, expert: int, mine: list[tuple[str, int]]
) -> tuple[QueueProgress, list[tuple[str, int]]]:
    """Progress over all of somebody's questionnaires, and those that are not finished."""
    stored = connection.execute(select(QuestionProgress.__table__).where(QuestionProgress.expert == expert))
    known = {row.questionnaire: row for row in stored}
    answered = total = n_timed = milliseconds = 0
    unfinished = []
    for slug, share in mine:
        size = connection.execute(
            select(func.count())
            .select_from(StoredQuestion)
            .where(StoredQuestion.questionnaire == slug, StoredQuestion.share == share)
        ).scalar_one()
        row = known.get(slug)
        done = row.n_answered if row else 0
        answered, total = answered + done, total + size
        n_timed, milliseconds = (
            n_timed + (row.n_timed if row else 0),
            milliseconds + (row.timed_milliseconds if row else 0),
        )
        if done < size:
            unfinished.append((slug, share))
    return make_progress(answered, total, 0, n_timed, milliseconds), unfinished


def _next_in_questionnaire(
    connection: Connection, expert: int, slug: str, share: int, start: int, skip: Collection[int]
) -> Any:
    for low, high in ((start, MAX_QUESTION_ID), (0, start)):
        last = connection.execute(
            select(QuestionAnswer.question)
            .join(StoredQuestion, StoredQuestion.id == QuestionAnswer.question)
            .where(
                QuestionAnswer.expert == expert,
                QuestionAnswer.question >= low,
                QuestionAnswer.question < high,
                StoredQuestion.questionnaire == slug,
            )
            .order_by(QuestionAnswer.question.desc())
            .limit(1)
        ).scalar_one_or_none()
        found = _first_unseen(connection, slug, share, low if last is None else last + 1, high, skip)
        if found is not None:
            return found
    answered = select(QuestionAnswer.question).where(
        QuestionAnswer.expert == expert, QuestionAnswer.question == StoredQuestion.id
    )
    passed_by = connection.execute(
        _in_share(slug, share).where(~answered.exists()).order_by(StoredQuestion.id).limit(len(skip) + 1)
    )
    return next((row for row in passed_by if row.id not in skip), None)


def _first_unseen(connection: Connection, slug: str, share: int, low: int, high: int, skip: Collection[int]) -> Any:
    """The first question from `low` on that the page does not have yet."""
    within = (
        _in_share(slug, share).where(StoredQuestion.id >= low, StoredQuestion.id < high).order_by(StoredQuestion.id)
    )
    found = connection.execute(within.limit(len(skip) + 1))
    return next((row for row in found if row.id not in skip), None)


def _in_share(slug: str, share: int) -> Any:
    columns = (
        StoredQuestion.id,
        StoredQuestion.kind,
        StoredQuestion.prompt,
        StoredQuestion.images,
        StoredQuestion.options,
    )
    return select(*columns).where(StoredQuestion.questionnaire == slug, StoredQuestion.share == share)
