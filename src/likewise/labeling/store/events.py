"""Storing what browsers send: answers and undos. Every event is added once, whoever repeats it, and never changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, bindparam, select

from likewise.errors import LikewiseError
from likewise.labeling.store.answer_transaction import AnswerTransaction, AssignmentKey
from likewise.labeling.store.current_vote import current_event, queue_state_of
from likewise.labeling.store.engine import write_transaction
from likewise.labeling.store.models import ANSWERED, LATER, PUT_OFF, UNDO, Event
from likewise.labeling.store.queue import QueueProgress
from likewise.labeling.votes import ANSWERS

MAX_TIMED_MILLISECONDS = 60_000  # whoever looks at a pair for longer went for coffee
ALLOWED_ANSWERS = (*ANSWERS, LATER)
SELECT_BY_CLIENT_ID = select(Event.client_id, Event.expert, Event.pair).where(
    Event.client_id.in_(bindparam("client_ids", expanding=True))
)


@dataclass(frozen=True)
class SubmittedAnswer:
    """One answer as a browser sends it."""

    client_id: str
    pair: int
    answer: str
    reason: str | None = None
    milliseconds: int | None = None


@dataclass
class SubmissionResult:
    """What became of the answers sent: stored now or before, or refused with the reason why."""

    accepted: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    progress: QueueProgress | None = None


def add_answers(engine: Engine, expert: int, answers: Sequence[SubmittedAnswer]) -> SubmissionResult:
    """Store an expert's answers in one transaction; an answer that came before (by its client id) is not stored twice.

    An answer to a pair that was answered before is a new revision; the old one stays in the table.
    """
    with write_transaction(engine, expert) as connection:
        return store_answers(connection, [(expert, answers)])[0]


def store_answers(
    connection: Connection, sent: Sequence[tuple[int, Sequence[SubmittedAnswer]]]
) -> list[SubmissionResult]:
    """What became of the answers of each request, all within the transaction of whoever calls."""
    seen = _events_by_client_id(connection, [answer.client_id for _, answers in sent for answer in answers])
    asked = {(expert, answer.pair) for expert, answers in sent for answer in answers}
    transaction = AnswerTransaction.load(connection, asked)
    results = []
    for expert, answers in sent:
        stored = SubmissionResult()
        for answer in answers:
            refusal = _process_answer(transaction, seen, expert, answer)
            if refusal is None:
                stored.accepted.append(answer.client_id)
            else:
                stored.refused.append((answer.client_id, refusal))
        stored.progress = transaction.progress(expert)
        results.append(stored)
    transaction.write()
    return results


def _process_answer(
    transaction: AnswerTransaction, seen: dict[str, AssignmentKey], expert: int, answer: SubmittedAnswer
) -> str | None:
    """Add one answer to the transaction, unless it was stored before; the reason where it is refused."""
    known = seen.get(answer.client_id)
    if known is not None:
        return None if known == (expert, answer.pair) else "this client id belongs to another answer"
    if (expert, answer.pair) not in transaction.entries:
        return "this pair is not in your queue"
    if answer.answer not in ALLOWED_ANSWERS:
        return f"an answer is one of {', '.join(ALLOWED_ANSWERS)}"
    seen[answer.client_id] = (expert, answer.pair)
    given = {"client_id": answer.client_id, "answer": answer.answer, "reason": answer.reason}
    transaction.add_event(expert, answer.pair, **given, milliseconds=answer.milliseconds)
    if answer.answer != LATER and answer.milliseconds is not None:
        counters = transaction.by_expert[expert].counters
        counters["n_timed"] += 1
        counters["timed_milliseconds"] += min(answer.milliseconds, MAX_TIMED_MILLISECONDS)
    transaction.set_state(expert, answer.pair, PUT_OFF if answer.answer == LATER else ANSWERED)
    return None


def undo_answer(engine: Engine, expert: int, pair: int, client_id: str) -> None:
    """Take the expert's current answer to a pair back, by an event of its own."""
    with write_transaction(engine, expert) as connection:
        known = _events_by_client_id(connection, [client_id]).get(client_id)
        if known == (expert, pair):
            return
        if known is not None:
            raise LikewiseError("this client id belongs to another answer.")
        transaction = AnswerTransaction.load(connection, {(expert, pair)})
        if (expert, pair) not in transaction.entries:
            raise LikewiseError("this pair is not in your queue.")
        rows = connection.execute(
            select(Event.revision, Event.answer, Event.undoes).where(Event.expert == expert, Event.pair == pair)
        )
        events = [(revision, answer, undoes) for revision, answer, undoes in rows]
        current = current_event(events)
        if current is None or current[1] not in ALLOWED_ANSWERS:
            raise LikewiseError("there is no answer of yours to this pair to take back.")
        transaction.add_event(expert, pair, client_id=client_id, answer=UNDO, undoes=current[0])
        left = current_event([*events, (transaction.revisions[expert, pair], UNDO, current[0])])
        transaction.set_state(expert, pair, queue_state_of(left))
        transaction.write()


def _events_by_client_id(connection: Connection, client_ids: Sequence[str]) -> dict[str, AssignmentKey]:
    """Whose events, about which pair, carry these client ids."""
    found = connection.execute(SELECT_BY_CLIENT_ID, {"client_ids": list(client_ids)})
    return {str(client_id): (expert, pair) for client_id, expert, pair in found}
