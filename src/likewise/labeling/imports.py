"""Votes from files people already have: CSV (comma, semicolon or tab), Parquet, JSON lines.

Columns query, candidate, expert, answer, and optionally time, question (a sheet's code, which tells hidden repeats) and
generators (who proposed the pair, separated by commas); others are ignored. Answers, whatever their case
and spacing: similar, yes, true, 1; not similar, no, false, 0; cannot tell, skip; where they are graded exact,
similar, substitute, different. A blank answer means the row has
not been answered yet: it is skipped and counted. A time without an offset is taken as UTC.
"""

import re
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from likewise.discovery.proposals import GENERATORS, named_proposals
from likewise.errors import LikewiseError
from likewise.labeling.sheet import QUESTION, is_repeat
from likewise.labeling.votes import (
    CANNOT_TELL,
    DIFFERENT,
    EXACT,
    NOT_SIMILAR,
    PAIR,
    SIMILAR,
    SUBSTITUTE,
    VOTE_KEY,
    VOTE_SCHEMA,
    refuse_two_answers,
    tidy_votes,
)
from likewise.spreadsheets import restore_formulas
from likewise.untrusted import (
    ColumnRule,
    check_columns,
    check_line,
    parse_json,
    read_untrusted_csv,
    read_untrusted_parquet,
    tidy_headers,
)

MIN_YEAR, MAX_YEAR = 1970, 2200
MAX_EXPERT_NAME = 200
VOTE_COLUMNS = {
    **dict.fromkeys(VOTE_KEY, ColumnRule(null=True)),
    "answer": ColumnRule(null=True, truths=True),
    "time": ColumnRule(null=True, optional=True),
    QUESTION: ColumnRule(null=True, optional=True),
    GENERATORS: ColumnRule(null=True, optional=True),
}
FIELDS = {*VOTE_COLUMNS, "note"}
ANSWER_SPELLINGS = {
    "similar": SIMILAR, "yes": SIMILAR, "true": SIMILAR, "1": SIMILAR, "1.0": SIMILAR,
    "notsimilar": NOT_SIMILAR, "no": NOT_SIMILAR, "false": NOT_SIMILAR, "0": NOT_SIMILAR, "0.0": NOT_SIMILAR,
    "cannottell": CANNOT_TELL, "skip": CANNOT_TELL,
    "exact": EXACT, "substitute": SUBSTITUTE, "different": DIFFERENT,
}  # fmt: skip


@dataclass(frozen=True)
class ParsedVotes:
    """The votes of a file, and the rows that hold none: not answered yet, or said before with the same answer."""

    votes: pl.DataFrame
    n_rows: int
    n_blank: int
    n_repeated: int
    repeats: pl.DataFrame  # votes that answer a pair a second time, for the expert's self-consistency
    proposals: pl.DataFrame | None = None  # query, candidate, generator, where the file names them


def read_votes_file(path: Path) -> ParsedVotes:
    """The votes of a .csv, .tsv, .parquet or .jsonl file, tidied and sorted."""
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check the path of the votes file.")
    table, first_row = read_table(path)
    if table.is_empty():
        raise LikewiseError(f"{path} holds no votes: it needs one row per vote under {_header()}.")
    missing = [column for column in (*VOTE_KEY, "answer") if column not in table.columns]
    if missing:
        raise LikewiseError(
            f"{path} has no column {', '.join(missing)} (it has {', '.join(table.columns)}): "
            f"its header must be {_header()}."
        )
    table = check_columns(table, VOTE_COLUMNS, str(path))
    rows: list[dict[str, str | None]] = []
    again: list[bool] = []
    for number, row in enumerate(table.iter_rows(named=True), start=first_row):
        vote = _parse_vote(row, f"{path}, row {number}")
        if vote is not None:
            rows.append(vote)
            again.append(is_repeat(str(vote["query"]), str(vote["candidate"]), _text(row.get(QUESTION))))
    if not rows:
        raise LikewiseError(f"{path} has {table.height} rows and no answer yet: fill its answer column.")
    given, second = pl.DataFrame(rows, schema=VOTE_SCHEMA), pl.Series(again, dtype=pl.Boolean)
    votes, repeats = given.filter(~second), given.filter(second)
    for each in (votes, repeats):
        refuse_two_answers(each, f"{path}: ")
    tidy, tidy_repeats = tidy_votes(votes), tidy_votes(repeats)
    proposals = named_proposals(table) if GENERATORS in table.columns else None
    n_said_before = given.height - tidy.height - tidy_repeats.height
    return ParsedVotes(tidy, table.height, table.height - given.height, n_said_before, tidy_repeats, proposals)


def holds_votes(path: Path) -> bool:
    """Whether a file has answers of experts; one with labels alone (VSD .json, TREC .qrels, a column label) has not."""
    if path.suffix.lower() not in (".csv", ".tsv", ".parquet", ".jsonl") or not path.is_file():
        return path.suffix.lower() not in (".json", ".qrels", ".qrel", ".prels", ".txt")
    if path.suffix.lower() == ".parquet":
        names = set(read_untrusted_parquet(path, str(path)).columns)
    else:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            names = {name.strip(' "{}\r\n').partition('"')[0] for name in re.split(r"[,;\t]", file.readline())}
    return bool(names & {"expert", "answer"}) or not names & {"label", "grade"}


@dataclass(frozen=True)
class CheckedVotes:
    """How many votes and pairs were checked, and how many of them nobody had put in the pool."""

    n_votes: int
    n_pairs: int
    n_votes_outside_pool: int | None  # None where there is no pool to compare with
    n_pairs_outside_pool: int | None


def check_votes(votes: pl.DataFrame, images: Collection[str], pool: pl.DataFrame | None = None) -> CheckedVotes:
    """Refuse votes on images the catalog does not have; count, and keep, votes on pairs outside the pool."""
    refuse_unknown_images(votes, images, "the votes name")
    pairs = votes.select(PAIR).unique()
    if pool is None:
        return CheckedVotes(votes.height, pairs.height, None, None)
    pool_pairs = pool.select(PAIR).unique()
    return CheckedVotes(
        n_votes=votes.height,
        n_pairs=pairs.height,
        n_votes_outside_pool=votes.join(pool_pairs, on=PAIR, how="anti").height,
        n_pairs_outside_pool=pairs.join(pool_pairs, on=PAIR, how="anti").height,
    )


def refuse_unknown_images(pairs: pl.DataFrame, images: Collection[str], who_names: str) -> None:
    """Raise if pairs name images that the catalog does not have: how many, and the first three."""
    known = images if isinstance(images, AbstractSet) else set(images)
    named = pl.concat([pairs["query"], pairs["candidate"].alias("query")]).unique().sort()
    unknown = [image for image in named if image not in known]
    if unknown:
        first = ", ".join(unknown[:3]) + (", ..." if len(unknown) > 3 else "")
        raise LikewiseError(
            f"{who_names} {len(unknown)} of {len(named)} images that are not in the catalog ({first}): "
            "use the catalog's image keys, or the catalog that these pairs belong to."
        )


def _header() -> str:
    return "query,candidate,expert,answer (time may follow)"


def _parse_vote(row: dict[str, Any], where: str) -> dict[str, str | None] | None:
    """One row in the votes format, or None where it is not answered."""
    answer = "".join(_text(row["answer"]).split()).lower()
    if not answer:
        return None
    if answer not in ANSWER_SPELLINGS:
        raise LikewiseError(
            f"{where}: the answer {_text(row['answer'])!r} is not known: write similar, not similar or cannot tell "
            "(or yes/no/skip, 1/0, true/false; graded: exact, similar, substitute, different; blank: not answered)."
        )
    vote: dict[str, str | None] = {column: _text(row[column]) for column in VOTE_KEY}
    for column, value in vote.items():
        if not value:
            raise LikewiseError(f"{where}: {column} is empty: fill it, or delete the row.")
    check_line(str(vote["expert"]), "the expert's name", where, MAX_EXPERT_NAME)
    if vote["query"] == vote["candidate"]:
        raise LikewiseError(f"{where}: {vote['query']} is compared with itself: delete the row.")
    return vote | {"answer": ANSWER_SPELLINGS[answer], "time": _parse_time(row.get("time"), where)}


def _text(value: object) -> str:
    return "" if value is None or value != value else str(value).strip()  # what is no number is empty


def _parse_time(value: object, where: str) -> str | None:
    """A moment as ISO-8601 text in UTC with milliseconds."""
    if not _text(value):
        return None
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(_text(value))
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise LikewiseError(f"{where}: the time {_text(value)!r} is not ISO-8601: 2026-01-31T14:05:00Z.") from error
    if not MIN_YEAR <= moment.year <= MAX_YEAR:
        raise LikewiseError(f"{where}: the time {_text(value)!r} is of the year {moment.year}: correct it.")
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def read_table(path: Path) -> tuple[pl.DataFrame, int]:
    """The file as a table, and the number a person sees beside its first data row (a spreadsheet's header is 1)."""
    ending = path.suffix.lower()
    try:
        if ending == ".parquet":
            table, first_row = read_untrusted_parquet(path, str(path)), 1
        elif ending in (".jsonl", ".ndjson"):
            table, first_row = _read_json_lines(path), 1
        elif ending in (".csv", ".tsv", ".txt"):
            table, first_row = _read_csv(path), 2
        else:
            raise LikewiseError(f"{path} ends in {ending!r}: votes are read from .csv, .tsv, .parquet or .jsonl.")
        table.columns = tidy_headers(table.columns, str(path), lower=True)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error).split("\n")[0]
        raise LikewiseError(f"{path} cannot be read ({reason}): save it again as {ending[1:]}, UTF-8.") from error
    return table, first_row


def _read_csv(path: Path) -> pl.DataFrame:
    text = path.read_text(encoding="utf-8-sig")
    if not text.strip():
        return pl.DataFrame()
    return restore_formulas(read_untrusted_csv(text, str(path)))


def _read_json_lines(path: Path) -> pl.DataFrame:
    records: list[dict[str, Any]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").rstrip().split("\n"), start=1):
        record = parse_json(line.strip() or "{}", f"{path}, row {number}")
        if not isinstance(record, dict):
            raise LikewiseError(f"{path}, row {number} is not an object: write one {{...}} per line.")
        for key, value in record.items():
            if isinstance(value, dict | list) and key.strip().lower() in FIELDS:
                raise LikewiseError(f"{path}, row {number}: {key} is {str(value)[:60]}, not a text.")
        records.append({key: _text(value) for key, value in record.items()})
    columns = dict.fromkeys(key for record in records for key in record)
    return pl.DataFrame(records, schema=dict.fromkeys(columns, pl.String))
