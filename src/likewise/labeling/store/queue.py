"""What an expert is asked next: one indexed lookup, however many pairs there are."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, bindparam, select

from likewise.labeling.store.engine import reading
from likewise.labeling.store.models import OPEN, PUT_OFF, Expert, Pair, Place

# Built once: building a statement costs more than running it. NEXT walks the index (expert, state, position).
NEXT = (
    select(Place.pair, Place.position)
    .where(Place.expert == bindparam("of_expert"), Place.state == bindparam("in_state"))
    .order_by(Place.position, Place.pair)
    .limit(bindparam("most"))
)
SHOWN = select(Pair.id, Pair.query_image, Pair.candidate_image).where(
    Pair.id.in_(bindparam("of_pairs", expanding=True))
)
PROGRESS = select(Expert.n_answered, Expert.n_total, Expert.n_put_off, Expert.n_timed, Expert.timed_milliseconds).where(
    Expert.id == bindparam("of_expert")
)


@dataclass(frozen=True)
class AskedPair:
    """A pair as its expert sees it: three ids and nothing else."""

    pair: int
    query_image: int
    candidate_image: int


@dataclass(frozen=True)
class Progress:
    answered: int
    total: int
    later: int
    seconds_per_pair: float | None


@dataclass(frozen=True)
class GridPage:
    """One query and all its candidates that the expert has not answered yet, in the expert's order."""

    query_image: int
    candidates: list[tuple[AskedPair, str | None]]  # with the answer where there is one: "later"


def next_pairs(engine: Engine, expert: int, count: int, skip: Collection[int] = ()) -> tuple[list[AskedPair], Progress]:
    """The expert's next pairs; those put off come back when nothing else is left."""
    with reading(engine) as connection:
        found = _in_state(connection, expert, OPEN, count, skip)
        if len(found) < count:
            found += _in_state(connection, expert, PUT_OFF, count - len(found), skip)
        return found, progress_of(connection, expert)


def next_grid(engine: Engine, expert: int, skip: Collection[int] = ()) -> tuple[GridPage | None, Progress]:
    """The query of the expert's next pair with everything still to be answered about it."""
    with reading(engine) as connection:
        progress = progress_of(connection, expert)
        first = _in_state(connection, expert, OPEN, 1, skip) or _in_state(connection, expert, PUT_OFF, 1, skip)
        if not first:
            return None, progress
        found = connection.execute(
            select(Pair.id, Pair.query_image, Pair.candidate_image, Place.state)
            .join(Place, Place.pair == Pair.id)
            .where(Pair.query_image == first[0].query_image, Place.expert == expert, Place.state.in_((OPEN, PUT_OFF)))
            .order_by(Place.position, Pair.id)
        )
        candidates = [
            (AskedPair(*row[:3]), "later" if row[3] == PUT_OFF else None) for row in found if row[0] not in skip
        ]
        return GridPage(first[0].query_image, candidates), progress


def asked_pair(engine: Engine, expert: int, pair: int) -> AskedPair | None:
    """A pair of this expert's queue; None if it is not theirs."""
    with reading(engine) as connection:
        row = connection.execute(
            select(Pair.id, Pair.query_image, Pair.candidate_image)
            .join(Place, Place.pair == Pair.id)
            .where(Place.expert == expert, Place.pair == pair)
        ).one_or_none()
        return None if row is None else AskedPair(*row)


def progress_of(connection: Connection, expert: int) -> Progress:
    return progress_from(*connection.execute(PROGRESS, {"of_expert": expert}).one())


def progress_from(answered: int, total: int, later: int, n_timed: int, milliseconds: int) -> Progress:
    """Progress out of somebody's counters."""
    return Progress(answered, total, later, round(milliseconds / n_timed / 1000.0, 2) if n_timed else None)


def _in_state(connection: Connection, expert: int, state: int, count: int, skip: Collection[int]) -> list[AskedPair]:
    named = {"of_expert": expert, "in_state": state, "most": count + len(skip)}
    pairs = [pair for pair, _ in connection.execute(NEXT, named) if pair not in skip][:count]
    if not pairs:
        return []
    by_id = {row[0]: AskedPair(*row) for row in connection.execute(SHOWN, {"of_pairs": pairs})}
    return [by_id[pair] for pair in pairs]
