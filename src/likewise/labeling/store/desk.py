"""One request's answers being worked through: what is known of its pairs, and what will be written.

The statements are built once: building them anew costs several times what the database needs to run them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, func, insert, select, update
from sqlalchemy.orm import aliased

from likewise.labeling.store.clock import now
from likewise.labeling.store.models import ANSWERED, HELD, OPEN, PUT_OFF, Event, Expert, Pair, Place, table_of

SITE = "site"
PAIRS_BEFORE_REPEAT = 12
COUNTERS = ("n_answered", "n_put_off", "n_timed", "timed_milliseconds")

_expert: BindParameter[int] = bindparam("of_expert")
_pairs: BindParameter[int] = bindparam("of_pairs", expanding=True)
_first, _again = aliased(Pair), aliased(Pair)
_experts, _queue = table_of(Expert), table_of(Place)
PLACES = select(Place.pair, Place.position, Place.state).where(Place.expert == _expert, Place.pair.in_(_pairs))
REVISIONS = (
    select(Event.pair, func.max(Event.revision))
    .where(Event.expert == _expert, Event.pair.in_(_pairs))
    .group_by(Event.pair)
)
TWINS = (
    select(_first.id, _again.id, Place.position, Place.state)
    .join(
        _again,
        (_again.query_image == _first.query_image)
        & (_again.candidate_image == _first.candidate_image)
        & (_again.asking > 0),
    )
    .join(Place, (Place.pair == _again.id) & (Place.expert == _expert))
    .where(_first.id.in_(_pairs), _first.asking == 0)
)
END_OF_QUEUE = select(Expert.end_of_queue).where(Expert.id == _expert)
ADD_EVENTS = insert(table_of(Event))
MOVE = (
    update(_queue)
    .where(_queue.c.expert == _expert, _queue.c.pair == bindparam("of_pair"))
    .values(position=bindparam("to_position"), state=bindparam("to_state"))
)
COUNT = (
    update(_experts)
    .where(_experts.c.id == _expert)
    .values(
        {_experts.c[name]: _experts.c[name] + bindparam(f"by_{name}") for name in COUNTERS}
        | {_experts.c.end_of_queue: bindparam("to_end"), _experts.c.last_seen: bindparam("seen")}
    )
)


@dataclass
class Desk:
    """What is known about the pairs of one request while it is worked through."""

    connection: Connection
    expert: int
    places: dict[int, tuple[int, int]]  # pair -> position, state
    revisions: dict[int, int]
    twins: dict[int, tuple[int, int, int]]  # pair -> its hidden repeat's pair, position, state
    end_of_queue: int
    events: list[dict[str, Any]] = field(default_factory=list)
    moved: dict[int, tuple[int, int]] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTERS, 0))

    @staticmethod
    def of(connection: Connection, expert: int, pairs: Sequence[int]) -> "Desk":
        named = {"of_expert": expert, "of_pairs": list(pairs)}
        places = {row[0]: (row[1], row[2]) for row in connection.execute(PLACES, named)}
        revisions = {row[0]: row[1] for row in connection.execute(REVISIONS, named)}
        twins = {row[0]: (row[1], row[2], row[3]) for row in connection.execute(TWINS, named)}
        end = connection.execute(END_OF_QUEUE, {"of_expert": expert}).scalar_one()
        return Desk(connection, expert, places, revisions, twins, end)

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
        self.connection.execute(ADD_EVENTS, self.events)
        moves = [
            {"of_expert": self.expert, "of_pair": pair, "to_position": position, "to_state": state}
            for pair, (position, state) in self.moved.items()
        ]
        self.connection.execute(MOVE, moves)
        counted = {f"by_{name}": change for name, change in self.counters.items()}
        self.connection.execute(COUNT, counted | {"of_expert": self.expert, "to_end": self.end_of_queue, "seen": now()})
