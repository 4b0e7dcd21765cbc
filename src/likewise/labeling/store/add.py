"""Storing votes from elsewhere: imported, simulated, or decided by an adjudicator."""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl
from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.orm import aliased

from likewise.errors import LikewiseError
from likewise.labeling.store.assignment import drop_repeats_answered_elsewhere, refresh_queue_states
from likewise.labeling.store.clock import store_time_now
from likewise.labeling.store.current_vote import current_event
from likewise.labeling.store.engine import write_transaction
from likewise.labeling.store.experts import ensure_experts
from likewise.labeling.store.images import insert_many
from likewise.labeling.store.models import NAMED, Event, Expert, Image, Pair, QueueEntry
from likewise.labeling.store.pairs import ensure_pairs
from likewise.labeling.votes import ANSWERS, PAIR, VOTE_KEY, and_others, tidy_votes

QUERIES_PER_SELECT = 500
FIRST, SECOND = 0, 1  # askings of a pair: the vote, and its hidden repeat


@dataclass(frozen=True)
class AddedVotes:
    """How many votes were new, already there, or (only when asked for) replaced an earlier answer."""

    added: int
    repeated: int
    replaced: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def add_votes(
    engine: Engine,
    votes: pl.DataFrame,
    source: str,
    *,
    replace: bool = False,
    kind: str = NAMED,
    repeats: pl.DataFrame | None = None,
) -> AddedVotes:
    """Store votes (query, candidate, expert, answer, optional time) in one transaction: all of them, or none.

    A vote that is already there is skipped and counted; the first time and source stay. An answer other than the
    expert's stored one is refused, or with `replace` becomes the expert's next revision; the old one stays in the log.
    `repeats` are answers to hidden repeats of pairs: they say how far an expert agrees with himself.
    """
    with write_transaction(engine) as connection:
        added = _add_askings(connection, votes, FIRST, source, replace=replace, kind=kind)
        if repeats is not None and repeats.height:
            again = _add_askings(connection, repeats, SECOND, source, replace=replace, kind=kind)
            added = AddedVotes(
                added.added + again.added, added.repeated + again.repeated, added.replaced + again.replaced
            )
        named = {*votes["expert"], *(repeats["expert"] if repeats is not None else ())}
        _refresh_queues(connection, sorted(named))
    return added


def _add_askings(
    connection: Connection, votes: pl.DataFrame, asking: int, source: str, *, replace: bool, kind: str
) -> AddedVotes:
    """Store the answers to one asking of their pairs."""
    tidy = tidy_votes(votes)
    compared = tidy.join(
        _stored_answers(connection, tidy["query"].unique().sort().to_list(), asking),
        on=VOTE_KEY,
        how="left",
        maintain_order="left",
    )
    changed = compared.filter(pl.col("stored") != pl.col("answer"))
    if changed.height and not replace:
        query, candidate, expert, answer, _, stored = changed.row(0)
        raise LikewiseError(
            f"{expert} answered the pair ({query}, {candidate}) {stored!r} before and {answer!r} in {source}"
            f"{and_others(changed.height)}: nothing was stored; correct the new votes, or ask to replace (--replace)."
        )
    new = compared.filter(pl.col("stored").is_null())
    _add_events(connection, pl.concat([new, changed]).drop("stored"), asking, source, kind)
    return AddedVotes(new.height, votes.height - new.height - changed.height, changed.height)


def _add_events(connection: Connection, votes: pl.DataFrame, asking: int, source: str, kind: str) -> None:
    """One event per vote, each the next revision of its expert's answer to its pair."""
    if votes.is_empty():
        return
    # A repeat that the site has not made yet will be asked there too; a pair that comes with votes only is not.
    keys = ((q, c, asking) for q, c in votes.select(PAIR).rows())
    pairs = ensure_pairs(connection, keys, asked=asking == SECOND, counts=True)
    experts = ensure_experts(connection, votes["expert"].unique().sort().to_list(), kind)
    named = [experts[name] for name in votes["expert"].unique().sort()]
    latest = connection.execute(
        select(Event.pair, Event.expert, func.max(Event.revision))
        .where(Event.expert.in_(named))
        .group_by(Event.pair, Event.expert)
    )
    revision = {(pair, expert): number for pair, expert, number in latest}
    moment, rows = store_time_now(), []
    for query, candidate, name, answer, time in votes.iter_rows():
        pair, expert = pairs[query, candidate, asking], experts[name]
        rows.append(
            {
                "pair": pair,
                "expert": expert,
                "revision": revision.get((pair, expert), 0) + 1,
                "answer": answer,
                "time": time,
                "stored": moment,
                "source": source,
            }
        )
    insert_many(connection, Event, rows)


def _refresh_queues(connection: Connection, names: list[str]) -> None:
    """Bring the queues of these experts up to date; what they answered elsewhere is not asked again on the site."""
    queued = (
        select(QueueEntry.expert).join(Expert, Expert.id == QueueEntry.expert).where(Expert.name.in_(names)).distinct()
    )
    for expert in list(connection.scalars(queued)):
        refresh_queue_states(connection, expert)
        drop_repeats_answered_elsewhere(connection, expert)


def _stored_answers(connection: Connection, queries: list[str], asking: int) -> pl.DataFrame:
    """Every current answer to these queries: query, candidate, expert, stored."""
    rows: list[tuple[str, ...]] = []
    for start in range(0, len(queries), QUERIES_PER_SELECT):
        some = queries[start : start + QUERIES_PER_SELECT]
        rows.extend(_current_answers(connection, some, asking))
    return pl.DataFrame(rows, schema=dict.fromkeys((*PAIR, "expert", "stored"), pl.String), orient="row")


def _current_answers(connection: Connection, queries: list[str], asking: int) -> list[tuple[str, ...]]:
    """The answers to one asking; the view `votes` takes the other where one has none."""
    query, candidate = aliased(Image), aliased(Image)
    found = connection.execute(
        select(query.key, candidate.key, Expert.name, Event.revision, Event.answer, Event.undoes)
        .select_from(Event)
        .join(Pair, Pair.id == Event.pair)
        .join(query, query.id == Pair.query_image)
        .join(candidate, candidate.id == Pair.candidate_image)
        .join(Expert, Expert.id == Event.expert)
        .where(Pair.asking == asking, query.key.in_(queries))
    )
    events: dict[tuple[str, str, str], list[tuple[int, str, int | None]]] = {}
    for key, other, name, revision, answer, undoes in found:
        events.setdefault((key, other, name), []).append((revision, answer, undoes))
    current = {key: current_event(of_pair) for key, of_pair in events.items()}
    return [(*key, event[1]) for key, event in current.items() if event is not None and event[1] in ANSWERS]
