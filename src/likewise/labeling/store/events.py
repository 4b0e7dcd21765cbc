"""Storing what browsers send: answers and undos. Every event is added once, whoever repeats it, and never changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, bindparam, select

from likewise.errors import LikewiseError
from likewise.labeling.store.desk import Asked, Desk
from likewise.labeling.store.engine import writing
from likewise.labeling.store.models import ANSWERED, LATER, PUT_OFF, UNDO, Event
from likewise.labeling.store.queue import Progress
from likewise.labeling.store.standing import standing_event, state_of
from likewise.labeling.votes import ANSWERS

LONGEST_TIMED_MILLISECONDS = 60_000  # whoever looks at a pair for longer went for coffee
GIVEN = (*ANSWERS, LATER)
SEEN = select(Event.client_id, Event.expert, Event.pair).where(
    Event.client_id.in_(bindparam("client_ids", expanding=True))
)


@dataclass(frozen=True)
class GivenAnswer:
    """One answer as a browser sends it."""

    client_id: str
    pair: int
    answer: str
    reason: str | None = None
    milliseconds: int | None = None


@dataclass
class Stored:
    """What became of the answers sent: stored now or before, or refused with the reason why."""

    accepted: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    progress: Progress | None = None


def add_answers(engine: Engine, expert: int, answers: Sequence[GivenAnswer]) -> Stored:
    """Store an expert's answers in one transaction; an answer that came before (by its client id) is not stored twice.

    An answer to a pair that was answered before is a new revision; the old one stays in the table.
    """
    with writing(engine, expert) as connection:
        return store_answers(connection, [(expert, answers)])[0]


def store_answers(connection: Connection, sent: Sequence[tuple[int, Sequence[GivenAnswer]]]) -> list[Stored]:
    """What became of the answers of each request, all within the transaction of whoever calls."""
    seen = _seen(connection, [answer.client_id for _, answers in sent for answer in answers])
    asked = {(expert, answer.pair) for expert, answers in sent for answer in answers}
    desk = Desk.of(connection, asked)
    results = []
    for expert, answers in sent:
        stored = Stored()
        for answer in answers:
            refusal = _take(desk, seen, expert, answer)
            if refusal is None:
                stored.accepted.append(answer.client_id)
            else:
                stored.refused.append((answer.client_id, refusal))
        stored.progress = desk.progress(expert)
        results.append(stored)
    desk.write()
    return results


def _take(desk: Desk, seen: dict[str, Asked], expert: int, answer: GivenAnswer) -> str | None:
    """Put one answer on the desk, unless it was there before; the reason where it is refused."""
    known = seen.get(answer.client_id)
    if known is not None:
        return None if known == (expert, answer.pair) else "this client id belongs to another answer"
    if (expert, answer.pair) not in desk.places:
        return "this pair is not in your queue"
    if answer.answer not in GIVEN:
        return f"an answer is one of {', '.join(GIVEN)}"
    seen[answer.client_id] = (expert, answer.pair)
    given = {"client_id": answer.client_id, "answer": answer.answer, "reason": answer.reason}
    desk.add(expert, answer.pair, **given, milliseconds=answer.milliseconds)
    if answer.answer != LATER and answer.milliseconds is not None:
        counters = desk.people[expert].counters
        counters["n_timed"] += 1
        counters["timed_milliseconds"] += min(answer.milliseconds, LONGEST_TIMED_MILLISECONDS)
    desk.move(expert, answer.pair, PUT_OFF if answer.answer == LATER else ANSWERED)
    return None


def undo_answer(engine: Engine, expert: int, pair: int, client_id: str) -> None:
    """Take the expert's standing answer to a pair back, by an event of its own."""
    with writing(engine, expert) as connection:
        known = _seen(connection, [client_id]).get(client_id)
        if known == (expert, pair):
            return
        if known is not None:
            raise LikewiseError("this client id belongs to another answer.")
        desk = Desk.of(connection, {(expert, pair)})
        if (expert, pair) not in desk.places:
            raise LikewiseError("this pair is not in your queue.")
        rows = connection.execute(
            select(Event.revision, Event.answer, Event.undoes).where(Event.expert == expert, Event.pair == pair)
        )
        events = [(revision, answer, undoes) for revision, answer, undoes in rows]
        standing = standing_event(events)
        if standing is None or standing[1] not in GIVEN:
            raise LikewiseError("there is no answer of yours to this pair to take back.")
        desk.add(expert, pair, client_id=client_id, answer=UNDO, undoes=standing[0])
        left = standing_event([*events, (desk.revisions[expert, pair], UNDO, standing[0])])
        desk.move(expert, pair, state_of(left))
        desk.write()


def _seen(connection: Connection, client_ids: Sequence[str]) -> dict[str, Asked]:
    """Whose events, about which pair, carry these client ids."""
    found = connection.execute(SEEN, {"client_ids": list(client_ids)})
    return {str(client_id): (expert, pair) for client_id, expert, pair in found}
