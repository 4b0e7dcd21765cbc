"""Storing votes."""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl
from sqlalchemy import Connection, Engine, bindparam, insert, select, update

from likewise.errors import LikewiseError
from likewise.labeling.store.engine import writing
from likewise.labeling.store.models import Vote
from likewise.labeling.votes import PAIR, VOTE_KEY, others, tidy_votes

QUERIES_PER_SELECT = 500


@dataclass(frozen=True)
class AddedVotes:
    """How many votes were new, already there, or (only when asked for) replaced an earlier answer."""

    added: int
    repeated: int
    replaced: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def add_votes(engine: Engine, votes: pl.DataFrame, source: str, *, replace: bool = False) -> AddedVotes:
    """Store votes (query, candidate, expert, answer, optional time) in one transaction: all of them, or none.

    A vote that is already there is skipped and counted; the first time and source stay. An answer other than the
    expert's stored one is refused, or with `replace` takes its place.
    """
    tidy = tidy_votes(votes)
    with writing(engine) as connection:
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
                f"{others(changed.height)}: nothing was stored; correct the new votes, or ask to replace."
            )
        new = compared.filter(pl.col("stored").is_null()).drop("stored")
        if new.height:
            connection.execute(insert(Vote), new.with_columns(source=pl.lit(source)).to_dicts())
        if changed.height:
            replace_one = (
                update(Vote)
                .where(*(getattr(Vote, column) == bindparam(f"of_{column}") for column in VOTE_KEY))
                .values(answer=bindparam("answer"), time=bindparam("time"), source=source)
            )
            values = changed.rename({column: f"of_{column}" for column in VOTE_KEY}).drop("stored")
            connection.execute(replace_one, values.to_dicts())
    return AddedVotes(new.height, votes.height - new.height - changed.height, changed.height)


def _stored_answers(connection: Connection, queries: list[str]) -> pl.DataFrame:
    """Every stored answer to these queries: query, candidate, expert, stored."""
    rows: list[tuple[str, ...]] = []
    for start in range(0, len(queries), QUERIES_PER_SELECT):
        some = queries[start : start + QUERIES_PER_SELECT]
        found = connection.execute(
            select(Vote.query, Vote.candidate, Vote.expert, Vote.answer).where(Vote.query.in_(some))
        )
        rows.extend(tuple(row) for row in found)
    return pl.DataFrame(rows, schema=dict.fromkeys((*PAIR, "expert", "stored"), pl.String), orient="row")
