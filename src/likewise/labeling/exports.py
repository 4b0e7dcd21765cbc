"""Votes in the formats that others read; labels are exported by `likewise.evaluation.exchange.labels_export`."""

import polars as pl
from sqlalchemy import Engine

from likewise.labeling.store.read import read_events, read_votes
from likewise.labeling.votes import CANNOT_TELL

SEPARATOR = " | "  # a query and its candidate as the name of one task


def export_votes(engine: Engine, what: str) -> bytes:
    """A CSV of `votes` (as `likewise label import` reads them), `crowdkit` (the same for others) or all `events`."""
    if what == "events":
        return read_events(engine).write_csv().encode()
    votes = read_votes(engine)
    return (crowdkit_table(votes) if what == "crowdkit" else votes).write_csv().encode()


def crowdkit_table(votes: pl.DataFrame) -> pl.DataFrame:
    """task, worker, label (similar or not similar), as crowd-kit's aggregators take them; abstentions are no label."""
    given = votes.filter(pl.col("answer") != CANNOT_TELL)
    task = pl.concat_str("query", "candidate", separator=SEPARATOR)
    return given.select(task=task, worker="expert", label="answer")
