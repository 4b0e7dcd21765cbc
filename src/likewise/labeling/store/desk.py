"""Answers being worked through, of one expert or of several at once: what is known of their pairs, and what is written.

The statements are built once (building them anew costs several times what the database needs to run them), and their
number does not grow with the number of answers.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update
from sqlalchemy.orm import aliased

from likewise.labeling.store.clock import now
from likewise.labeling.store.models import ANSWERED, HELD, OPEN, PUT_OFF, Event, Expert, Pair, Place, table_of
from likewise.labeling.store.queue import Progress, progress_from, progress_of

SITE = "site"
PAIRS_BEFORE_REPEAT = 12
COUNTERS = ("n_answered", "n_put_off", "n_timed", "timed_milliseconds")

Asked = tuple[int, int]  # an expert and a pair

_first, _again, _twin = aliased(Pair), aliased(Pair), aliased(Place)
_experts, _queue = table_of(Expert), table_of(Place)
_latest = (
    select(func.max(Event.revision))
    .where(Event.pair == Place.pair, Event.expert == Place.expert)
    .correlate(Place)
    .scalar_subquery()
)
# Found by pair, and `+ 0` so that SQLite does not walk an expert's whole queue instead (it would for a list of twos).
KNOWN = (
    select(
        Place.expert,
        Place.pair,
        Place.position,
        Place.state,
        _latest,
        _twin.pair,
        _twin.position,
        _twin.state,
        Expert.end_of_queue,
        Expert.n_total,
        *(_experts.c[name] for name in COUNTERS),
    )
    .join(Expert, Expert.id == Place.expert)
    .join(_first, _first.id == Place.pair)
    .outerjoin(
        _again,
        (_again.query_image == _first.query_image)
        & (_again.candidate_image == _first.candidate_image)
        & (_again.asking > 0)
        & (_first.asking == 0),
    )
    .outerjoin(_twin, (_twin.pair == _again.id) & (_twin.expert == Place.expert))
    .where(
        Place.pair.in_(bindparam("of_pairs", expanding=True)),
        (Place.expert + 0).in_(bindparam("of_experts", expanding=True)),
    )
)
ADD_EVENTS = insert(table_of(Event))
MOVE = (
    update(_queue)
    .where(_queue.c.expert == bindparam("of_expert"), _queue.c.pair == bindparam("of_pair"))
    .values(position=bindparam("to_position"), state=bindparam("to_state"))
)
COUNT = (
    update(_experts)
    .where(_experts.c.id == bindparam("of_expert"))
    .values(
        {_experts.c[name]: bindparam(f"to_{name}") for name in COUNTERS}
        | {_experts.c.end_of_queue: bindparam("to_end"), _experts.c.last_seen: bindparam("seen")}
    )
)


@dataclass
class Person:
    """An expert's counters while their answers are worked through."""

    end_of_queue: int
    n_total: int
    counters: dict[str, int]

    @property
    def progress(self) -> Progress:
        counted = self.counters
        return progress_from(
            counted["n_answered"],
            self.n_total,
            counted["n_put_off"],
            counted["n_timed"],
            counted["timed_milliseconds"],
        )


@dataclass
class Desk:
    """What is known about the pairs that experts sent answers to, and what will be written."""

    connection: Connection
    places: dict[Asked, tuple[int, int]] = field(default_factory=dict)  # position, state
    revisions: dict[Asked, int] = field(default_factory=dict)
    twins: dict[Asked, tuple[int, int, int]] = field(default_factory=dict)  # the hidden repeat's pair, position, state
    people: dict[int, Person] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    moved: dict[Asked, tuple[int, int]] = field(default_factory=dict)

    @staticmethod
    def of(connection: Connection, asked: Collection[Asked]) -> "Desk":
        desk = Desk(connection)
        pairs, experts = {pair for _, pair in asked}, {expert for expert, _ in asked}
        for row in connection.execute(KNOWN, {"of_pairs": sorted(pairs), "of_experts": sorted(experts)}):
            key = expert, pair = row[0], row[1]
            if (expert, pair) in asked:
                desk.places[key], desk.revisions[key] = (row[2], row[3]), row[4] or 0
                if row[5] is not None:
                    desk.twins[key] = (row[5], row[6], row[7])
                if expert not in desk.people:
                    desk.people[expert] = Person(row[8], row[9], dict(zip(COUNTERS, row[10:], strict=True)))
        return desk

    def progress(self, expert: int) -> Progress:
        """How far an expert is with what lies on the desk."""
        person = self.people.get(expert)
        return progress_of(self.connection, expert) if person is None else person.progress

    def add(self, expert: int, pair: int, **event: Any) -> None:
        revision = self.revisions[expert, pair] = self.revisions[expert, pair] + 1
        moment = now()
        row = {"undoes": None, "reason": None, "milliseconds": None} | event
        row |= {"pair": pair, "expert": expert, "revision": revision, "source": SITE}
        self.events.append(row | {"time": moment, "stored": moment})

    def move(self, expert: int, pair: int, state: int) -> None:
        """Change a place's state; what is put off goes to the end, and an answer lets the pair's repeat follow."""
        asked, person = (expert, pair), self.people[expert]
        position, before = self.places[asked]
        person.counters["n_answered"] += (state == ANSWERED) - (before == ANSWERED)
        person.counters["n_put_off"] += (state == PUT_OFF) - (before == PUT_OFF)
        if state == PUT_OFF:
            position, person.end_of_queue = person.end_of_queue, person.end_of_queue + 1
        self.places[asked] = self.moved[asked] = (position, state)
        if asked in self.twins:
            twin, twin_position, twin_state = self.twins[asked]
            again = (expert, twin)
            if state == ANSWERED and twin_state == HELD:
                self.moved[again] = (max(twin_position, position + PAIRS_BEFORE_REPEAT), OPEN)
            elif state != ANSWERED and twin_state == OPEN:
                self.moved[again] = (twin_position, HELD)
            if again in self.moved:
                self.twins[asked] = (twin, *self.moved[again])
                if again in self.places:
                    self.places[again] = self.moved[again]

    def write(self) -> None:
        if not self.events:
            return
        self.connection.execute(ADD_EVENTS, self.events)
        moves = [
            {"of_expert": expert, "of_pair": pair, "to_position": position, "to_state": state}
            for (expert, pair), (position, state) in self.moved.items()
        ]
        self.connection.execute(MOVE, moves)
        seen = now()
        counts = []
        for expert in sorted({event["expert"] for event in self.events}):
            person = self.people[expert]
            counted = {f"to_{name}": value for name, value in person.counters.items()}
            counts.append(counted | {"of_expert": expert, "to_end": person.end_of_queue, "seen": seen})
        self.connection.execute(COUNT, counts)
