"""Storing votes from elsewhere: imported, simulated, or decided by an adjudicator."""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl
from sqlalchemy import Connection, Engine, func, select

from likewise.errors import LikewiseError
from likewise.labeling.store.assignment import refresh_queue_states
from likewise.labeling.store.clock import now
from likewise.labeling.store.engine import write_transaction
from likewise.labeling.store.experts import ensure_experts
from likewise.labeling.store.images import insert_many
from likewise.labeling.store.models import NAMED, Event, QueueEntry
from likewise.labeling.store.pairs import ensure_pairs
from likewise.labeling.store.read import VOTES
from likewise.labeling.votes import PAIR, VOTE_KEY, and_others, tidy_votes

QUERIES_PER_SELECT = 500


@dataclass(frozen=True)
class AddedVotes:
    """How many votes were new, already there, or (only when asked for) replaced an earlier answer."""

    added: int
    repeated: int
    replaced: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def add_votes(
    engine: Engine, votes: pl.DataFrame, source: str, *, replace: bool = False, kind: str = NAMED
) -> AddedVotes:
    """Store votes (query, candidate, expert, answer, optional time) in one transaction: all of them, or none.

    A vote that is already there is skipped and counted; the first time and source stay. An answer other than the
    expert's stored one is refused, or with `replace` becomes the expert's next revision; the old one stays in the log.
    """
    tidy = tidy_votes(votes)
    with write_transaction(engine) as connection:
        compared = tidy.join(
            _stored_answers(connection, tidy["query"].unique().sort().to_list()),
            on=VOTE_KEY,
            how="left",
            maintain_order="left",
        )
        changed = compared.filter(pl.col("stored") != pl.col("answer"))
        if changed.height and not replace:
            query, candidate, expert, answer, _, stored = changed.row(0)
            raise LikewiseError(
                f"{expert} answered the pair ({query}, {candidate}) {stored!r} before and {answer!r} in {source}"
                f"{and_others(changed.height)}: nothing was stored; correct the new votes, or ask to replace."
            )
        new = compared.filter(pl.col("stored").is_null())
        _add_events(connection, pl.concat([new, changed]).drop("stored"), source, kind)
    return AddedVotes(new.height, votes.height - new.height - changed.height, changed.height)


def _add_events(connection: Connection, votes: pl.DataFrame, source: str, kind: str) -> None:
    """One event per vote, each the next revision of its expert's answer to its pair."""
    if votes.is_empty():
        return
    pairs = ensure_pairs(connection, ((q, c, 0) for q, c in votes.select(PAIR).rows()), asked=False, counts=True)
    experts = ensure_experts(connection, votes["expert"].unique().sort().to_list(), kind)
    named = [experts[name] for name in votes["expert"].unique().sort()]
    latest = connection.execute(
        select(Event.pair, Event.expert, func.max(Event.revision))
        .where(Event.expert.in_(named))
        .group_by(Event.pair, Event.expert)
    )
    revision = {(pair, expert): number for pair, expert, number in latest}
    moment, rows = now(), []
    for query, candidate, name, answer, time in votes.iter_rows():
        pair, expert = pairs[query, candidate, 0], experts[name]
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
    for expert in list(connection.scalars(select(QueueEntry.expert).where(QueueEntry.expert.in_(named)).distinct())):
        refresh_queue_states(connection, expert)


def _stored_answers(connection: Connection, queries: list[str]) -> pl.DataFrame:
    """Every current answer to these queries: query, candidate, expert, stored."""
    rows: list[tuple[str, ...]] = []
    for start in range(0, len(queries), QUERIES_PER_SELECT):
        some = queries[start : start + QUERIES_PER_SELECT]
        found = connection.execute(
            select(VOTES.c.query, VOTES.c.candidate, VOTES.c.expert, VOTES.c.answer).where(VOTES.c.query.in_(some))
        )
        rows.extend(tuple(row) for row in found)
    return pl.DataFrame(rows, schema=dict.fromkeys((*PAIR, "expert", "stored"), pl.String), orient="row")
