"""Votes and labels in the formats that others read."""

import io
import json
from typing import Literal, get_args

import polars as pl
from sqlalchemy import Engine

from likewise.errors import LikewiseError
from likewise.labeling.consensus import Rule, consensus
from likewise.labeling.store.read import read_events, read_votes
from likewise.labeling.votes import CANNOT_TELL

Export = Literal["labels.parquet", "vsd.json", "crowdkit.csv", "events.csv"]
EXPORTS: tuple[str, ...] = get_args(Export)
SEPARATOR = " | "  # a query and its candidate as the name of one task


def export(engine: Engine, what: Export, rule: Rule = "majority") -> bytes:
    """The file's content. `labels.parquet` and `vsd.json` are the consensus, the others what people answered."""
    if what == "events.csv":
        return read_events(engine).write_csv().encode()
    votes = read_votes(engine)
    if what == "crowdkit.csv":
        return crowdkit_table(votes).write_csv().encode()
    if what not in EXPORTS:
        raise LikewiseError(f"there is no export {what!r}: use {', '.join(EXPORTS)}.")
    labels = consensus(votes, rule).labels
    if what == "vsd.json":
        return vsd_text(labels).encode()
    output = io.BytesIO()
    labels.write_parquet(output, compression="zstd")
    return output.getvalue()


def crowdkit_table(votes: pl.DataFrame) -> pl.DataFrame:
    """task, worker, label (similar or not similar), as crowd-kit's aggregators take them; abstentions are no label."""
    given = votes.filter(pl.col("answer") != CANNOT_TELL)
    task = pl.concat_str("query", "candidate", separator=SEPARATOR)
    return given.select(task=task, worker="expert", label="answer")


def vsd_text(labels: pl.DataFrame) -> str:
    """The VSD benchmark's tags: [{"key": [query, candidate], "value": 0 or 1}]."""
    tags = [
        {"key": [query, candidate], "value": int(label)}
        for query, candidate, label in labels.select("query", "candidate", "label").iter_rows()
    ]
    return json.dumps(tags, ensure_ascii=False, indent=1) + "\n"
