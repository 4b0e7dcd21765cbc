"""Reading votes back: the current answer of each expert (the view `votes`), and every event behind it."""

import polars as pl
from sqlalchemy import Engine, column, func, select, table
from sqlalchemy.orm import aliased

from likewise.labeling.store.engine import read_transaction
from likewise.labeling.store.models import Event, Expert, Image, Pair
from likewise.labeling.votes import VOTE_KEY, VOTE_SCHEMA

VOTES = table("votes", *(column(name) for name in ("id", *VOTE_SCHEMA, "source")))

EVENT_SCHEMA = {
    "event": pl.Int64,
    "query": pl.String,
    "candidate": pl.String,
    "expert": pl.String,
    "asking": pl.Int64,
    "revision": pl.Int64,
    "answer": pl.String,
    "undoes": pl.Int64,
    "reason": pl.String,
    "milliseconds": pl.Int64,
    "time": pl.String,
    "stored": pl.String,
    "source": pl.String,
    "client_id": pl.String,
    "counts": pl.Boolean,
}


def read_votes(engine: Engine) -> pl.DataFrame:
    """Every current vote: query, candidate, expert, answer, time, sorted by (query, candidate, expert)."""
    with read_transaction(engine) as connection:
        found = connection.execute(select(*(VOTES.c[name] for name in VOTE_SCHEMA)))
        rows = [tuple(row) for row in found]
    # Sorted here, not by the database: PostgreSQL's order of text depends on its language settings.
    return pl.DataFrame(rows, schema=VOTE_SCHEMA, orient="row").sort(VOTE_KEY)


def count_votes_by_source(engine: Engine) -> pl.DataFrame:
    """Where the votes came from: source, expert, votes."""
    with read_transaction(engine) as connection:
        counts = select(VOTES.c.source, VOTES.c.expert, func.count()).group_by(VOTES.c.source, VOTES.c.expert)
        rows = [tuple(row) for row in connection.execute(counts)]
    schema = {"source": pl.String, "expert": pl.String, "votes": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("source", "expert")


def read_events(engine: Engine) -> pl.DataFrame:
    """The full log: every answer ever given, undone, put off or removed, in the order in which it was stored."""
    query, candidate = aliased(Image), aliased(Image)
    wanted = (
        select(
            Event.id,
            query.key,
            candidate.key,
            Expert.name,
            Pair.asking,
            Event.revision,
            Event.answer,
            Event.undoes,
            Event.reason,
            Event.milliseconds,
            Event.time,
            Event.stored,
            Event.source,
            Event.client_id,
            Pair.counts,
        )
        .join(Pair, Pair.id == Event.pair)
        .join(query, query.id == Pair.query_image)
        .join(candidate, candidate.id == Pair.candidate_image)
        .join(Expert, Expert.id == Event.expert)
        .order_by(Event.id)
    )
    with read_transaction(engine) as connection:
        rows = [tuple(row) for row in connection.execute(wanted)]
    return pl.DataFrame(rows, schema=EVENT_SCHEMA, orient="row")
