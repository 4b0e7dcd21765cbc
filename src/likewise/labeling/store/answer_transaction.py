"""One transaction of answers, of one expert or of several: the queue entries read, and what will be written.

The statements are built once (building them anew costs several times what the database needs to run them), and their
number does not grow with the number of answers.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update
from sqlalchemy.orm import aliased

from likewise.labeling.store.clock import store_time_now
from likewise.labeling.store.models import (
    ANSWERED,
    HELD,
    OPEN,
    PUT_OFF,
    RETIRED,
    Event,
    Expert,
    Pair,
    QueueEntry,
    table_of,
)
from likewise.labeling.store.queue import QueueProgress, make_progress, read_progress
from likewise.labeling.votes import PAIRS_BEFORE_REPEAT

SITE = "site"
COUNTERS = ("n_answered", "n_put_off", "n_timed", "timed_milliseconds")

AssignmentKey = tuple[int, int]  # an expert and a pair

_first, _repeat, _repeat_entry = aliased(Pair), aliased(Pair), aliased(QueueEntry)
_experts, _queue = table_of(Expert), table_of(QueueEntry)
_latest = (
    select(func.max(Event.revision))
    .where(Event.pair == QueueEntry.pair, Event.expert == QueueEntry.expert)
    .correlate(QueueEntry)
    .scalar_subquery()
)
# Found by pair, and `+ 0` so that SQLite does not scan an expert's whole queue instead (it would for a list of twos).
SELECT_ASSIGNMENTS = (
    select(
        QueueEntry.expert,
        QueueEntry.pair,
        QueueEntry.position,
        QueueEntry.state,
        _latest,
        _repeat_entry.pair,
        _repeat_entry.position,
        _repeat_entry.state,
        Expert.end_of_queue,
        Expert.n_total,
        *(_experts.c[name] for name in COUNTERS),
    )
    .join(Expert, Expert.id == QueueEntry.expert)
    .join(_first, _first.id == QueueEntry.pair)
    .outerjoin(
        _repeat,
        (_repeat.query_image == _first.query_image)
        & (_repeat.candidate_image == _first.candidate_image)
        & (_repeat.asking > 0)
        & (_first.asking == 0),
    )
    .outerjoin(_repeat_entry, (_repeat_entry.pair == _repeat.id) & (_repeat_entry.expert == QueueEntry.expert))
    .where(
        QueueEntry.pair.in_(bindparam("of_pairs", expanding=True)),
        (QueueEntry.expert + 0).in_(bindparam("of_experts", expanding=True)),
    )
)
INSERT_EVENTS = insert(table_of(Event))
UPDATE_QUEUE = (
    update(_queue)
    .where(_queue.c.expert == bindparam("of_expert"), _queue.c.pair == bindparam("of_pair"))
    .values(position=bindparam("to_position"), state=bindparam("to_state"))
)
UPDATE_COUNTERS = (
    update(_experts)
    .where(_experts.c.id == bindparam("of_expert"))
    .values(
        {_experts.c[name]: bindparam(f"to_{name}") for name in COUNTERS}
        | {
            _experts.c.n_total: bindparam("to_total"),
            _experts.c.end_of_queue: bindparam("to_end"),
            _experts.c.last_seen: bindparam("seen"),
        }
    )
)


@dataclass
class ExpertCounters:
    """An expert's counters within a transaction."""

    end_of_queue: int
    n_total: int
    counters: dict[str, int]

    @property
    def progress(self) -> QueueProgress:
        counted = self.counters
        return make_progress(
            counted["n_answered"],
            self.n_total,
            counted["n_put_off"],
            counted["n_timed"],
            counted["timed_milliseconds"],
        )


@dataclass
class AnswerTransaction:
    """What the queue says about the pairs that experts sent answers to, and what will be written."""

    connection: Connection
    entries: dict[AssignmentKey, tuple[int, int]] = field(default_factory=dict)  # position, state
    revisions: dict[AssignmentKey, int] = field(default_factory=dict)
    repeats: dict[AssignmentKey, tuple[int, int, int]] = field(default_factory=dict)  # pair, position, state
    by_expert: dict[int, ExpertCounters] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    changed_entries: dict[AssignmentKey, tuple[int, int]] = field(default_factory=dict)

    @staticmethod
    def load(connection: Connection, assignments: Collection[AssignmentKey]) -> "AnswerTransaction":
        transaction = AnswerTransaction(connection)
        pairs, experts = {pair for _, pair in assignments}, {expert for expert, _ in assignments}
        for row in connection.execute(SELECT_ASSIGNMENTS, {"of_pairs": sorted(pairs), "of_experts": sorted(experts)}):
            expert, key = row[0], (row[0], row[1])
            if key in assignments:
                transaction.entries[key], transaction.revisions[key] = (row[2], row[3]), row[4] or 0
                if row[5] is not None:
                    transaction.repeats[key] = (row[5], row[6], row[7])
                if expert not in transaction.by_expert:
                    counters = dict(zip(COUNTERS, row[10:], strict=True))
                    transaction.by_expert[expert] = ExpertCounters(row[8], row[9], counters)
        return transaction

    def progress(self, expert: int) -> QueueProgress:
        """How far an expert is, with the answers of this transaction."""
        own = self.by_expert.get(expert)
        return read_progress(self.connection, expert) if own is None else own.progress

    def add_event(self, expert: int, pair: int, **event: Any) -> None:
        revision = self.revisions[expert, pair] = self.revisions[expert, pair] + 1
        moment = store_time_now()
        row = {"undoes": None, "reason": None, "milliseconds": None} | event
        row |= {"pair": pair, "expert": expert, "revision": revision, "source": SITE}
        self.events.append(row | {"time": moment, "stored": moment})

    def set_state(self, expert: int, pair: int, state: int) -> None:
        """Change an entry's state; what is put off goes to the end, and an answer lets the pair's repeat follow."""
        key, own = (expert, pair), self.by_expert[expert]
        position, before = self.entries[key]
        own.n_total += before == RETIRED  # withdrawn while somebody looked at it: answered all the same
        own.counters["n_answered"] += (state == ANSWERED) - (before == ANSWERED)
        own.counters["n_put_off"] += (state == PUT_OFF) - (before == PUT_OFF)
        if state == PUT_OFF:
            position, own.end_of_queue = own.end_of_queue, own.end_of_queue + 1
        self.entries[key] = self.changed_entries[key] = (position, state)
        if key in self.repeats:
            repeat, repeat_position, repeat_state = self.repeats[key]
            repeat_key = (expert, repeat)
            if state == ANSWERED and repeat_state == HELD:
                self.changed_entries[repeat_key] = (max(repeat_position, position + PAIRS_BEFORE_REPEAT), OPEN)
            elif state != ANSWERED and repeat_state == OPEN:
                self.changed_entries[repeat_key] = (repeat_position, HELD)
            if repeat_key in self.changed_entries:
                self.repeats[key] = (repeat, *self.changed_entries[repeat_key])
                if repeat_key in self.entries:
                    self.entries[repeat_key] = self.changed_entries[repeat_key]

    def write(self) -> None:
        if not self.events:
            return
        self.connection.execute(INSERT_EVENTS, self.events)
        changes = [
            {"of_expert": expert, "of_pair": pair, "to_position": position, "to_state": state}
            for (expert, pair), (position, state) in self.changed_entries.items()
        ]
        self.connection.execute(UPDATE_QUEUE, changes)
        seen = store_time_now()
        counts = []
        for expert in sorted({event["expert"] for event in self.events}):
            own = self.by_expert[expert]
            counted = {f"to_{name}": value for name, value in own.counters.items()}
            counts.append(
                counted | {"of_expert": expert, "to_end": own.end_of_queue, "to_total": own.n_total, "seen": seen}
            )
        self.connection.execute(UPDATE_COUNTERS, counts)
