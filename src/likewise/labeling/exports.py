"""Votes in the formats that others read; labels are exported by `likewise.evaluation.exchange.labels_export`."""

import polars as pl
from sqlalchemy import Engine

from likewise.catalog.versions import split_retired
from likewise.discovery.proposals import with_generators
from likewise.labeling.store.read import read_events, read_votes
from likewise.labeling.votes import CANNOT_TELL, PAIR
from likewise.spreadsheets import csv_text

SEPARATOR = " | "  # a query and its candidate as the name of one task


def export_votes(engine: Engine, what: str, proposals: pl.DataFrame) -> bytes:
    """A CSV of `votes` (as `likewise label import` reads them), `crowdkit` (the same for others) or all `events`.

    `proposals` say which generators proposed the pairs: votes take that along.
    """
    if what == "events":
        table = read_events(engine)
    else:
        votes, _ = split_retired(read_votes(engine), *PAIR)  # those about images that are gone stay in the events
        table = crowdkit_table(votes) if what == "crowdkit" else with_generators(votes, proposals)
    return csv_text(table).encode()


def crowdkit_table(votes: pl.DataFrame) -> pl.DataFrame:
    """task, worker, label (similar or not similar), as crowd-kit's aggregators take them; abstentions are no label."""
    given = votes.filter(pl.col("answer") != CANNOT_TELL)
    task = pl.concat_str("query", "candidate", separator=SEPARATOR)
    return given.select(task=task, worker="expert", label="answer")
