"""What an expert is asked next: one indexed lookup, however many pairs there are."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, bindparam, select

from likewise.labeling.store.engine import read_transaction
from likewise.labeling.store.models import OPEN, PUT_OFF, Expert, Pair, QueueEntry

# Built once: building a statement costs more than running it. NEXT walks the index (expert, state, position).
SELECT_NEXT = (
    select(QueueEntry.pair, QueueEntry.position)
    .where(QueueEntry.expert == bindparam("of_expert"), QueueEntry.state == bindparam("in_state"))
    .order_by(QueueEntry.position, QueueEntry.pair)
    .limit(bindparam("most"))
)
SELECT_PAIRS = select(Pair.id, Pair.query_image, Pair.candidate_image).where(
    Pair.id.in_(bindparam("of_pairs", expanding=True))
)
SELECT_PROGRESS = select(
    Expert.n_answered, Expert.n_total, Expert.n_put_off, Expert.n_timed, Expert.timed_milliseconds
).where(Expert.id == bindparam("of_expert"))


@dataclass(frozen=True)
class QueuedPair:
    """A pair as its expert sees it: three ids and nothing else."""

    pair: int
    query_image: int
    candidate_image: int


@dataclass(frozen=True)
class QueueProgress:
    answered: int
    total: int
    later: int
    seconds_per_pair: float | None


@dataclass(frozen=True)
class GridPage:
    """One query and all its candidates that the expert has not answered yet, in the expert's order."""

    query_image: int
    candidates: list[tuple[QueuedPair, str | None]]  # with the answer where there is one: "later"


def next_pairs(
    engine: Engine, expert: int, count: int, skip: Collection[int] = ()
) -> tuple[list[QueuedPair], QueueProgress]:
    """The expert's next pairs; those put off come back when nothing else is left."""
    with read_transaction(engine) as connection:
        found = _pairs_in_state(connection, expert, OPEN, count, skip)
        if len(found) < count:
            found += _pairs_in_state(connection, expert, PUT_OFF, count - len(found), skip)
        return found, read_progress(connection, expert)


def next_grid(engine: Engine, expert: int, skip: Collection[int] = ()) -> tuple[GridPage | None, QueueProgress]:
    """The query of the expert's next pair with everything still to be answered about it."""
    with read_transaction(engine) as connection:
        progress = read_progress(connection, expert)
        first = _pairs_in_state(connection, expert, OPEN, 1, skip) or _pairs_in_state(
            connection, expert, PUT_OFF, 1, skip
        )
        if not first:
            return None, progress
        found = connection.execute(
            select(Pair.id, Pair.query_image, Pair.candidate_image, QueueEntry.state)
            .join(QueueEntry, QueueEntry.pair == Pair.id)
            .where(
                Pair.query_image == first[0].query_image,
                QueueEntry.expert == expert,
                QueueEntry.state.in_((OPEN, PUT_OFF)),
            )
            .order_by(QueueEntry.position, Pair.id)
        )
        candidates = [
            (QueuedPair(*row[:3]), "later" if row[3] == PUT_OFF else None) for row in found if row[0] not in skip
        ]
        return GridPage(first[0].query_image, candidates), progress


def read_queued_pair(engine: Engine, expert: int, pair: int) -> QueuedPair | None:
    """A pair of this expert's queue; None if it is not theirs."""
    with read_transaction(engine) as connection:
        row = connection.execute(
            select(Pair.id, Pair.query_image, Pair.candidate_image)
            .join(QueueEntry, QueueEntry.pair == Pair.id)
            .where(QueueEntry.expert == expert, QueueEntry.pair == pair)
        ).one_or_none()
        return None if row is None else QueuedPair(*row)


def read_progress(connection: Connection, expert: int) -> QueueProgress:
    return make_progress(*connection.execute(SELECT_PROGRESS, {"of_expert": expert}).one())


def make_progress(answered: int, total: int, later: int, n_timed: int, milliseconds: int) -> QueueProgress:
    """Progress out of somebody's counters."""
    return QueueProgress(answered, total, later, round(milliseconds / n_timed / 1000.0, 2) if n_timed else None)


def _pairs_in_state(
    connection: Connection, expert: int, state: int, count: int, skip: Collection[int]
) -> list[QueuedPair]:
    named = {"of_expert": expert, "in_state": state, "most": count + len(skip)}
    pairs = [pair for pair, _ in connection.execute(SELECT_NEXT, named) if pair not in skip][:count]
    if not pairs:
        return []
    by_id = {row[0]: QueuedPair(*row) for row in connection.execute(SELECT_PAIRS, {"of_pairs": pairs})}
    return [by_id[pair] for pair in pairs]
