"""The two text files of TREC, so that `trec_eval` and its kin can check us and we can read what they made.

qrels   `query 0 candidate label`                      one line per judged pair
run     `query Q0 candidate rank score tag`            one line per listed candidate, ranks from 1

Fields are separated by white space, so white space and `%` inside a key are written as `%20`, `%25`, ... and read
back. `trec_eval` ignores the rank column: it sorts by score, held as float32, and equal scores by key from the end
of the alphabet. Written scores are therefore float32 and strictly falling within a query (a tie is set one float32
step lower), so that every reader sees our order.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.workspace import write_text

RUN_SCHEMA = pl.Schema({"query": pl.String, "candidate": pl.String, "rank": pl.Int64, "score": pl.Float64})
SPACED = re.compile(r"[\s%]")


@dataclass(frozen=True)
class Run:
    """What one model listed: its tag and rows (query, candidate, rank from 0, score), best first within a query."""

    tag: str
    rows: pl.DataFrame


def qrels_text(labels: pl.DataFrame) -> str:
    """Labels (query, candidate, label) as qrels, sorted by pair."""
    pairs = labels.select("query", "candidate", "label").sort("query", "candidate")
    return "".join(f"{encode_key(q)} 0 {encode_key(c)} {label}\n" for q, c, label in pairs.iter_rows())


def read_qrels_rows(path: Path, known: Collection[str] = ()) -> Iterator[tuple[str, str, str, str]]:
    """(where, query, candidate, grade) of each line; a key among `known` is taken as it stands."""
    for where, fields in _lines(path, 4, "query 0 candidate grade"):
        yield where, decode_key(fields[0], known), decode_key(fields[2], known), fields[3]


def write_run(rows: pl.DataFrame, path: Path, tag: str) -> None:
    """Write listed candidates (query, candidate, rank, score) under a tag; existing files are replaced."""
    write_text(run_text(rows, tag), path)


def run_text(rows: pl.DataFrame, tag: str) -> str:
    rows = rows.select(RUN_SCHEMA.names()).sort("query", "rank")
    name, lines = encode_key(tag), []
    last_query, last = None, np.float32(np.inf)
    for query, candidate, rank, score in rows.iter_rows():
        value = np.float32(score)
        if query == last_query and value >= last:
            value = np.nextafter(last, np.float32(-np.inf))
        last_query, last = query, value
        lines.append(f"{encode_key(query)} Q0 {encode_key(candidate)} {rank + 1} {value:.9g} {name}\n")
    return "".join(lines)


def read_run(path: Path, known: Collection[str] = ()) -> Run:
    """A run file: ordered by falling score, then by its rank column, then by key; each pair once, scores finite."""
    rows, tags = [], set()
    for where, (query, _, candidate, rank, score, tag) in _lines(path, 6, "query Q0 candidate rank score tag"):
        try:
            row = (decode_key(query, known), decode_key(candidate, known), int(rank), float(score))
        except ValueError:
            raise LikewiseError(f"{where}: rank {rank!r} or score {score!r} is not a number: mend the line.") from None
        if not np.isfinite(row[3]):
            raise LikewiseError(f"{where}: the score of {row[1]} is {score}: give every candidate a finite score.")
        rows.append(row)
        tags.add(decode_key(tag))
    if len(tags) > 1:
        raise LikewiseError(f"{path} holds {len(tags)} runs ({', '.join(sorted(tags)[:3])}): give one file per model.")
    table = pl.DataFrame(rows, schema=RUN_SCHEMA, orient="row")
    twice = table.filter(pl.struct("query", "candidate").is_duplicated())
    if len(twice):
        query, candidate = twice.row(0)[:2]
        raise LikewiseError(f"{path} lists {candidate} more than once for {query}: keep one line for each candidate.")
    table = table.sort("query", "score", "rank", "candidate", descending=[False, True, False, False])
    return Run(tags.pop(), table.with_columns(rank=pl.int_range(pl.len()).over("query")))


def encode_key(key: str) -> str:
    return SPACED.sub(lambda sign: quote(sign.group(), safe=""), key)


def decode_key(text: str, known: Collection[str] = ()) -> str:
    """The key behind a field: the field itself if it is a known key or holds no `%`."""
    return text if "%" not in text or text in known else unquote(text)


def _lines(path: Path, n_fields: int, form: str) -> Iterator[tuple[str, list[str]]]:
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check its path.")
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise LikewiseError(f"{path} is not UTF-8 text: save it again.") from error
    found = False
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != n_fields:
            raise LikewiseError(
                f"{path}, line {number} has {len(fields)} fields: write `{form}`, spaces in keys as %20."
            )
        found = True
        yield f"{path}, line {number}", fields
    if not found:
        raise LikewiseError(f"{path} is empty: it needs lines `{form}`.")
