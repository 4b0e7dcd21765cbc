"""Reading votes back."""

import polars as pl
from sqlalchemy import Engine, func, select

from likewise.labeling.store.engine import reading
from likewise.labeling.store.models import Vote
from likewise.labeling.votes import VOTE_KEY, VOTE_SCHEMA


def read_votes(engine: Engine) -> pl.DataFrame:
    """Every vote: query, candidate, expert, answer, time, sorted by (query, candidate, expert)."""
    with reading(engine) as connection:
        found = connection.execute(select(*(getattr(Vote, column) for column in VOTE_SCHEMA)))
        rows = [tuple(row) for row in found]
    # Sorted here, not by the database: PostgreSQL's order of text depends on its language settings.
    return pl.DataFrame(rows, schema=VOTE_SCHEMA, orient="row").sort(VOTE_KEY)


def count_votes_by_source(engine: Engine) -> pl.DataFrame:
    """Where the votes came from: source, expert, votes."""
    with reading(engine) as connection:
        counts = select(Vote.source, Vote.expert, func.count()).group_by(Vote.source, Vote.expert)
        rows = [tuple(row) for row in connection.execute(counts)]
    schema = {"source": pl.String, "expert": pl.String, "votes": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("source", "expert")
