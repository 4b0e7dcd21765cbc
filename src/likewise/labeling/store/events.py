"""Storing what browsers send: answers and undos. Every event is added once, whoever repeats it, and never changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, func, insert, select, update
from sqlalchemy.orm import aliased

from likewise.errors import LikewiseError
from likewise.labeling.store.clock import now
from likewise.labeling.store.engine import writing
from likewise.labeling.store.models import ANSWERED, HELD, LATER, OPEN, PUT_OFF, UNDO, Event, Expert, Pair, Place
from likewise.labeling.store.standing import standing_event, state_of
from likewise.labeling.votes import ANSWERS

SITE = "site"
LONGEST_TIMED_MILLISECONDS = 60_000  # whoever looks at a pair for longer went for coffee
PAIRS_BEFORE_REPEAT = 12
GIVEN = (*ANSWERS, LATER)


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


@dataclass
class _Desk:
    """What is known about the pairs of one request while it is worked through."""

    connection: Connection
    expert: int
    places: dict[int, tuple[int, int]]  # pair -> position, state
    revisions: dict[int, int]
    twins: dict[int, tuple[int, int, int]]  # pair -> its hidden repeat's pair, position, state
    end_of_queue: int
    events: list[dict[str, Any]] = field(default_factory=list)
    moved: dict[int, tuple[int, int]] = field(default_factory=dict)
    counters: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("n_answered", "n_put_off", "n_timed", "timed_milliseconds"), 0)
    )

    @staticmethod
    def of(connection: Connection, expert: int, pairs: Sequence[int]) -> "_Desk":
        found = connection.execute(
            select(Place.pair, Place.position, Place.state).where(Place.expert == expert, Place.pair.in_(pairs))
        )
        places = {pair: (position, state) for pair, position, state in found}
        latest = connection.execute(
            select(Event.pair, func.max(Event.revision))
            .where(Event.expert == expert, Event.pair.in_(pairs))
            .group_by(Event.pair)
        )
        first, again = aliased(Pair), aliased(Pair)
        repeats = connection.execute(
            select(first.id, again.id, Place.position, Place.state)
            .join(
                again,
                (again.query_image == first.query_image)
                & (again.candidate_image == first.candidate_image)
                & (again.asking > 0),
            )
            .join(Place, (Place.pair == again.id) & (Place.expert == expert))
            .where(first.id.in_(pairs), first.asking == 0)
        )
        end = connection.execute(select(Expert.end_of_queue).where(Expert.id == expert)).scalar_one()
        return _Desk(
            connection,
            expert,
            places,
            {row[0]: row[1] for row in latest},
            {pair: (twin, position, state) for pair, twin, position, state in repeats},
            end,
        )

    def add(self, pair: int, **event: Any) -> None:
        self.revisions[pair] = self.revisions.get(pair, 0) + 1
        moment = now()
        row = {"undoes": None, "reason": None, "milliseconds": None} | event
        row |= {"pair": pair, "expert": self.expert, "revision": self.revisions[pair], "source": SITE}
        self.events.append(row | {"time": moment, "stored": moment})

    def move(self, pair: int, state: int) -> None:
        """Change a place's state; what is put off goes to the end, and an answer lets the pair's repeat follow."""
        position, before = self.places[pair]
        self.counters["n_answered"] += (state == ANSWERED) - (before == ANSWERED)
        self.counters["n_put_off"] += (state == PUT_OFF) - (before == PUT_OFF)
        if state == PUT_OFF:
            position, self.end_of_queue = self.end_of_queue, self.end_of_queue + 1
        self.places[pair] = self.moved[pair] = (position, state)
        if pair in self.twins:
            twin, twin_position, twin_state = self.twins[pair]
            if state == ANSWERED and twin_state == HELD:
                self.moved[twin] = (max(twin_position, position + PAIRS_BEFORE_REPEAT), OPEN)
            elif state != ANSWERED and twin_state == OPEN:
                self.moved[twin] = (twin_position, HELD)
            if twin in self.moved:
                self.twins[pair] = (twin, *self.moved[twin])
                if twin in self.places:
                    self.places[twin] = self.moved[twin]

    def write(self) -> None:
        if not self.events:
            return
        self.connection.execute(insert(Event), self.events)
        self.connection.execute(
            update(Place)
            .where(Place.expert == self.expert, Place.pair == bindparam("of_pair"))
            .values(position=bindparam("to_position"), state=bindparam("to_state")),
            [
                {"of_pair": pair, "to_position": position, "to_state": state}
                for pair, (position, state) in self.moved.items()
            ],
        )
        changes: dict[str, Any] = {name: getattr(Expert, name) + change for name, change in self.counters.items()}
        changes |= {"end_of_queue": self.end_of_queue, "last_seen": now()}
        self.connection.execute(update(Expert).where(Expert.id == self.expert).values(**changes))


def add_answers(engine: Engine, expert: int, answers: Sequence[GivenAnswer]) -> Stored:
    """Store an expert's answers in one transaction; an answer that came before (by its client id) is not stored twice.

    An answer to a pair that was answered before is a new revision; the old one stays in the table.
    """
    stored = Stored()
    if not answers:
        return stored
    with writing(engine, expert) as connection:
        seen = _seen(connection, [answer.client_id for answer in answers])
        desk = _Desk.of(connection, expert, sorted({answer.pair for answer in answers}))
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
    return stored


def undo_answer(engine: Engine, expert: int, pair: int, client_id: str) -> None:
    """Take the expert's standing answer to a pair back, by an event of its own."""
    with writing(engine, expert) as connection:
        known = _seen(connection, [client_id]).get(client_id)
        if known == (expert, pair):
            return
        if known is not None:
            raise LikewiseError("this client id belongs to another answer.")
        desk = _Desk.of(connection, expert, [pair])
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
    found = connection.execute(select(Event.client_id, Event.expert, Event.pair).where(Event.client_id.in_(client_ids)))
    return {str(client_id): (expert, pair) for client_id, expert, pair in found}
