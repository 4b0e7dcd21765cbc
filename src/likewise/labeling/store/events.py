"""Storing what browsers send: answers and undos. Every event is added once, whoever repeats it, and never changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, bindparam, select

from likewise.errors import LikewiseError
from likewise.labeling.store.desk import Desk
from likewise.labeling.store.engine import writing
from likewise.labeling.store.models import ANSWERED, LATER, PUT_OFF, UNDO, Event
from likewise.labeling.store.queue import Progress, progress_of
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
    stored = Stored()
    with writing(engine, expert) as connection:
        seen = _seen(connection, [answer.client_id for answer in answers])
        desk = Desk.of(connection, expert, sorted({answer.pair for answer in answers}))
        for answer in answers:
            known = seen.get(answer.client_id)
            if known is not None:
                if known == (expert, answer.pair):
                    stored.accepted.append(answer.client_id)
                else:
                    stored.refused.append((answer.client_id, "this client id belongs to another answer"))
                continue
            if answer.pair not in desk.places:
                stored.refused.append((answer.client_id, "this pair is not in your queue"))
                continue
            if answer.answer not in GIVEN:
                stored.refused.append((answer.client_id, f"an answer is one of {', '.join(GIVEN)}"))
                continue
            seen[answer.client_id] = (expert, answer.pair)
            desk.add(
                answer.pair,
                client_id=answer.client_id,
                answer=answer.answer,
                reason=answer.reason,
                milliseconds=answer.milliseconds,
            )
            if answer.answer != LATER and answer.milliseconds is not None:
                desk.counters["n_timed"] += 1
                desk.counters["timed_milliseconds"] += min(answer.milliseconds, LONGEST_TIMED_MILLISECONDS)
            desk.move(answer.pair, PUT_OFF if answer.answer == LATER else ANSWERED)
            stored.accepted.append(answer.client_id)
        desk.write()
        stored.progress = progress_of(connection, expert)
    return stored


def undo_answer(engine: Engine, expert: int, pair: int, client_id: str) -> None:
    """Take the expert's standing answer to a pair back, by an event of its own."""
    with writing(engine, expert) as connection:
        known = _seen(connection, [client_id]).get(client_id)
        if known == (expert, pair):
            return
        if known is not None:
            raise LikewiseError("this client id belongs to another answer.")
        desk = Desk.of(connection, expert, [pair])
        if pair not in desk.places:
            raise LikewiseError("this pair is not in your queue.")
        rows = connection.execute(
            select(Event.revision, Event.answer, Event.undoes).where(Event.expert == expert, Event.pair == pair)
        )
        events = [(revision, answer, undoes) for revision, answer, undoes in rows]
        standing = standing_event(events)
        if standing is None or standing[1] not in GIVEN:
            raise LikewiseError("there is no answer of yours to this pair to take back.")
        desk.add(pair, client_id=client_id, answer=UNDO, undoes=standing[0])
        desk.move(pair, state_of(standing_event([*events, (desk.revisions[pair], UNDO, standing[0])])))
        desk.write()


def _seen(connection: Connection, client_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Whose events, about which pair, carry these client ids."""
    found = connection.execute(SEEN, {"client_ids": list(client_ids)})
    return {str(client_id): (expert, pair) for client_id, expert, pair in found}
