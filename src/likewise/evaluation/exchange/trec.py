"""The text files of TREC, so that `trec_eval` and similar tools can check us and we can read what they made.

qrels   `query 0 candidate label`                      one line per judged pair; `random` for 0 where only
                                                       chance proposed it
prels   `query candidate label round probability`      one line per drawn pair, -1 where it is not judged
run     `query Q0 candidate rank score tag`            one line per listed candidate, ranks from 1

prels are the files of TREC's Million Query track for judgements drawn with known probabilities (statAP); its fourth
field, the method that chose the pair, holds the round here, 0 with probability 0 for a label outside the design.

Graded labels are written as their grades. TREC's are whole numbers (trec_eval would cut 0.67 to 0), so where some are
fractions, such as shares of votes, all are written in hundredths.

Fields are separated by white space, so white space and `%` inside a key are written as `%20`, `%25`, ... and read
back. `trec_eval` ignores the rank column: it sorts by score, held as float32, and equal scores by key from the end
of the alphabet. Written scores are therefore float32 and strictly falling within a query (a tie is set one float32
step lower), so that every reader sees our order.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.discovery.pool import RANDOM
from likewise.discovery.proposals import GENERATORS
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.design_columns import INCLUSION, OUTSIDE, ROUND
from likewise.labeling.grades import GRADE
from likewise.workspace import write_text

RUN_SCHEMA = pl.Schema({"query": pl.String, "candidate": pl.String, "rank": pl.Int64, "score": pl.Float64})
SIGN, MAGNITUDE = 0x8000_0000, 0x7FFF_FFFF  # the bits of a float32
RESERVED = re.compile(r"[\s%]")


@dataclass(frozen=True)
class TrecRun:
    """What one model listed: its tag and rows (query, candidate, rank from 0, score), best first within a query."""

    tag: str
    rows: pl.DataFrame


def qrels_text(labels: pl.DataFrame) -> str:
    """Labels (query, candidate, label) as qrels, sorted by pair."""
    pairs = labels.sort("query", "candidate")
    label = trec_grades(pairs)
    by = pairs[GENERATORS].to_list() if GENERATORS in pairs.columns else []
    iteration = pl.Series([RANDOM if name == RANDOM else "0" for name in by] or ["0"] * len(pairs), dtype=pl.String)
    return _text(query=_encoded(pairs["query"]), zero=iteration, candidate=_encoded(pairs["candidate"]), label=label)


def trec_grades(labels: pl.DataFrame) -> pl.Series:
    """The grade of each pair, or its label, as TREC's files write it; -1 where it has none."""
    if GRADE not in labels.columns:
        return labels["label"].cast(pl.Int64).fill_null(-1).cast(pl.String)
    scaled = labels[GRADE] * trec_scale(labels)
    return scaled.round().cast(pl.Int64).fill_null(-1).cast(pl.String)


def trec_scale(labels: pl.DataFrame) -> int:
    """What grades are multiplied by, since TREC's are whole numbers: 100 where some of them are fractions."""
    known = labels[GRADE].drop_nulls()
    return 1 if (known == known.round()).all() else 100


def read_qrels_rows(path: Path, known: Collection[str] = ()) -> Iterator[tuple[str, str, str, str, str | None]]:
    """(where, query, candidate, grade, `random` or None) of each line; a key among `known` is taken as it stands."""
    lines = _fields(path, ("query", "zero", "candidate", "grade"), "query 0 candidate grade")
    lines = lines.with_columns(_decoded(lines["query"], known), _decoded(lines["candidate"], known))
    columns = "number", "query", "candidate", "grade", "zero"
    for number, query, candidate, grade, iteration in lines.select(columns).iter_rows():
        yield f"{path}, line {number}", query, candidate, grade, RANDOM if iteration == RANDOM else None


def prels_text(labels: pl.DataFrame) -> str:
    """Labels with the columns of their design as prels, sorted by pair."""
    if INCLUSION not in labels.columns:
        raise LikewiseError("these labels were not drawn with known probabilities, which .prels are for: write .qrels.")
    pairs = labels.sort("query", "candidate")
    return _text(
        query=_encoded(pairs["query"]),
        candidate=_encoded(pairs["candidate"]),
        label=trec_grades(pairs),
        round=pairs[ROUND].cast(pl.String),
        probability=pl.Series([repr(value) for value in pairs[INCLUSION].fill_null(0.0).to_list()], dtype=pl.String),
    )


def read_prels_rows(
    path: Path, known: Collection[str] = ()
) -> Iterator[tuple[str, str, str, str, None, str | None, str]]:
    """(where, query, candidate, grade, no split, probability, round) of each line."""
    names = ("query", "candidate", "grade", "round", "probability")
    lines = _fields(path, names, "query candidate grade round probability")
    lines = lines.with_columns(_decoded(lines["query"], known), _decoded(lines["candidate"], known))
    for number, query, candidate, grade, in_round, probability in lines.select("number", *names).iter_rows():
        outside = in_round == str(OUTSIDE)
        yield f"{path}, line {number}", query, candidate, grade, None, None if outside else probability, in_round


def write_run(rows: pl.DataFrame, path: Path, tag: str) -> None:
    """Write listed candidates (query, candidate, rank, score) under a tag; existing files are replaced."""
    write_text(run_text(rows, tag), path)


def run_text(rows: pl.DataFrame, tag: str) -> str:
    rows = rows.select(RUN_SCHEMA.names()).sort("query", "rank")
    return _text(
        query=_encoded(rows["query"]),
        q0="Q0",
        candidate=_encoded(rows["candidate"]),
        rank=(rows["rank"] + 1).cast(pl.String),
        score=pl.Series(_strictly_decreasing(rows)).cast(pl.String),
        tag=encode_key(tag),
    )


def _strictly_decreasing(rows: pl.DataFrame) -> NDArray[np.float32]:
    """Scores as float32, each below the one before it in its query.

    Floats are numbered in their order, so one step lower is one less: v[i] = min(s[i], v[i-1] - 1), which
    is the running minimum of s[i] + i, less i.
    """
    bits = rows["score"].to_numpy().astype(np.float32).view(np.int32).astype(np.int64)
    number = np.where(bits < 0, -(bits & MAGNITUDE), bits)
    place = np.arange(len(rows))
    shifted = rows.select("query", number=number + place).select(pl.col("number").cum_min().over("query"))
    number = shifted["number"].to_numpy() - place
    return np.where(number < 0, -number | SIGN, number).astype(np.uint32).view(np.float32)


def read_run(path: Path, known: Collection[str] = ()) -> TrecRun:
    """A run file: ordered by falling score, then by its rank column, then by key; each pair once, scores finite."""
    names = ("query", "q0", "candidate", "rank", "score", "tag")
    lines = _fields(path, names, "query Q0 candidate rank score tag")
    table = lines.with_columns(
        _decoded(lines["query"], known),
        _decoded(lines["candidate"], known),
        pl.col("rank").cast(pl.Int64, strict=False),
        pl.col("score").cast(pl.Float64, strict=False),
    )
    odd = (table["rank"].is_null() | ~table["score"].is_finite().fill_null(False)).arg_true()
    if len(odd):
        rank, score, number = lines.select("rank", "score", "number").row(odd[0])
        where = f"{path}, line {number}"
        raise LikewiseError(f"{where}: rank {rank!r} must be a whole number and score {score!r} a finite one: mend it.")
    tags = table["tag"].unique().sort()
    if len(tags) > 1:
        raise LikewiseError(f"{path} holds {len(tags)} runs ({', '.join(tags.head(3))}): give one file per model.")
    table = table.select(RUN_SCHEMA.names())
    twice = table.filter(pl.struct("query", "candidate").is_duplicated())
    if len(twice):
        query, candidate = twice.row(0)[:2]
        raise LikewiseError(f"{path} lists {candidate} more than once for {query}: keep one line for each candidate.")
    table = table.sort("query", "score", "rank", "candidate", descending=[False, True, False, False])
    return TrecRun(decode_key(tags[0]), table.with_columns(rank=pl.int_range(pl.len()).over("query")))


def encode_key(key: str) -> str:
    return RESERVED.sub(lambda sign: quote(sign.group(), safe=""), key)


def decode_key(text: str, known: Collection[str] = ()) -> str:
    """The key behind a field: the field itself if it is a known key or holds no `%`."""
    return text if "%" not in text or text in known else unquote(text)


def _encoded(keys: pl.Series) -> pl.Series:
    written = {key: encode_key(key) for key in keys.unique()}
    return keys.replace({key: text for key, text in written.items() if text != key})


def _decoded(fields: pl.Series, known: Collection[str]) -> pl.Series:
    read = {text: decode_key(text, known) for text in fields.unique() if "%" in text}
    return fields.replace({text: key for text, key in read.items() if key != text})


def _text(**fields: pl.Series | str) -> str:
    """One line per row, its fields in the order given."""
    lines = pl.DataFrame(fields).select(pl.concat_str(pl.all(), separator=" ")).to_series()
    return "\n".join(lines) + "\n" if len(lines) else ""


def _fields(path: Path, names: Sequence[str], form: str) -> pl.DataFrame:
    """The lines that are not blank: their number in the file and their fields."""
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check its path.")
    try:
        lines = pl.Series("line", path.read_text(encoding="utf-8-sig").split("\n"))
    except UnicodeDecodeError as error:
        raise LikewiseError(f"{path} is not UTF-8 text: save it again.") from error
    table = pl.DataFrame(
        {"number": pl.int_range(1, len(lines) + 1, eager=True), "fields": lines.str.extract_all(r"\S+")}
    )
    if (odd := lines.str.contains(r"[\x00-\x08\x0e-\x1f\x7f]")).any():
        raise LikewiseError(f"{path}, line {int(odd.arg_max() or 0) + 1} is no line of text: write it again.")
    table = table.filter(pl.col("fields").list.len() > 0)
    if table.is_empty():
        raise LikewiseError(f"{path} is empty: it needs lines `{form}`.")
    misfits = table.filter(pl.col("fields").list.len() != len(names))
    if len(misfits):
        number, found = misfits.row(0)
        raise LikewiseError(f"{path}, line {number} has {len(found)} fields: write `{form}` (a space in a key as %20).")
    return table.select("number", *(pl.col("fields").list.get(place).alias(name) for place, name in enumerate(names)))
