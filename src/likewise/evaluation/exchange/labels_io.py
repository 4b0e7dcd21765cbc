"""Labels from and to files: VSD's JSON, TREC qrels, CSV and Parquet, all as one table (query, candidate, label).

VSD: `[{"key": [query, candidate], "value": 0|1}]`; JSON records with query, candidate (or gallery), label (or value)
are read too, as are those columns in CSV and Parquet. A label is 0 or 1, a word the votes know (similar, no, ...), or a
grade (`file_grades.py`), which is kept in a column `grade`; a file may have both columns, label and grade. Blank,
`cannot tell` and negative grades (TREC: not judged) are no label; they are left out and counted. A pair said twice
must say the same. A column `split` (train, test) is kept, and so are the inclusion probability and the round of pairs
that a design drew (`design_columns.py`; TREC's prels), and `generators`, the models that proposed a pair, or `random`
(`discovery/proposals.py`; in qrels only the latter).
"""

import io
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.discovery.proposals import GENERATORS
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.design_columns import DESIGN_COLUMNS, DesignColumns
from likewise.evaluation.exchange.file_grades import Written, parse_written, resolve_grades
from likewise.evaluation.exchange.trec import prels_text, qrels_text, read_prels_rows, read_qrels_rows
from likewise.labeling.grades import GRADE, GradeThreshold
from likewise.labeling.votes import PAIR
from likewise.spreadsheets import csv_text, restore_formulas
from likewise.untrusted import (
    ColumnRule,
    check_columns,
    check_line,
    parse_json,
    read_untrusted_csv,
    read_untrusted_parquet,
    tidy_headers,
)

LABEL_SCHEMA = pl.Schema({"query": pl.String, "candidate": pl.String, "label": pl.Int8})
QRELS_ENDINGS = (".qrels", ".qrel", ".txt")
PRELS = ".prels"
COLUMN_ALIASES = {"gallery": "candidate", "value": "label"}
SPLIT = "split"
FURTHER = (GRADE, SPLIT, *DESIGN_COLUMNS, GENERATORS)  # as CSV has them
READ_FURTHER = (SPLIT, *DESIGN_COLUMNS, GENERATORS, GRADE)  # as a LabelRow has them
VSD_EXTRAS = (GRADE, GENERATORS)
LABEL_COLUMNS = {
    **dict.fromkeys(("query", "candidate"), ColumnRule(null=True)),
    "label": ColumnRule(null=True, truths=True),
    **dict.fromkeys(READ_FURTHER, ColumnRule(null=True, optional=True)),
}
# where, query, candidate, label as written, split, inclusion probability, round, generators, grade as written
LabelRow = tuple[str, object, object, object, object, object, object, object, object]


@dataclass(frozen=True)
class LabelsFile:
    """The labels of a file, sorted by pair, and the rows that gave none: said before, or not judged.

    `labels` have a column `grade` where the file has grades; `threshold` says which of them are similar, None where
    there are no grades or the file has both labels and grades.

    `design` has the pairs that were drawn, judged or not (query, candidate, probability, round); None where the file
    says nothing of a design.
    """

    labels: pl.DataFrame
    n_rows: int
    n_repeated: int
    n_unjudged: int
    design: pl.DataFrame | None = None
    threshold: GradeThreshold | None = None


def read_labels_file(path: Path, *, positive_from: float | None = None, known: Collection[str] = ()) -> LabelsFile:
    """Labels of a .json, .qrels (or .txt), .csv, .tsv or .parquet file; `known` keys help to read qrels."""
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check the path of the labels.")
    if positive_from is not None and not positive_from > 0:
        raise LikewiseError(f"similar grades must begin above 0, not at {positive_from:g}: 0 is not similar.")
    asked: list[tuple[str, str, str | None]] = []
    written_labels, written_grades = [], []
    design = DesignColumns(path)
    proposers: dict[tuple[str, str], str] = {}
    for where, query, candidate, written, split, probability, in_round, generators, grade in _rows(path, known):
        pair = _key(query, "query", where), _key(candidate, "candidate", where)
        if pair[0] == pair[1]:
            raise LikewiseError(f"{where}: {pair[0]} is compared with itself: delete it.")
        design.add(pair, probability, in_round, where)
        asked.append((*pair, None if split is None else str(split)))
        written_labels.append(parse_written(written, where))
        written_grades.append(parse_written(grade, where))
        if written_labels[-1] is not None and generators is not None and str(generators).strip():
            proposers[pair] = str(generators)
    read = _read_values(written_labels, written_grades, positive_from, path)
    n_rows = len(asked)
    judged = [
        (query, candidate, label, grade, split)
        for (query, candidate, split), label, grade in zip(asked, read.labels, read.grades, strict=True)
        if label is not None
    ]
    if not judged:
        raise LikewiseError(f"{path} has {n_rows} rows and no label: it needs rows of query, candidate and label.")
    labels = pl.DataFrame(judged, schema=[*LABEL_SCHEMA.items(), (GRADE, pl.Float64), (SPLIT, pl.String)], orient="row")
    refuse_conflicting_labels(labels, str(path))
    labels = labels.unique().sort(PAIR)
    if len(twice := labels.filter(pl.struct(PAIR).is_duplicated())):
        raise LikewiseError(f"{path} has {twice.row(0)[:2]} in two splits: a pair belongs to one; keep one row of it.")
    labels = labels.drop(name for name in (GRADE, SPLIT) if labels[name].null_count() == len(labels))
    if proposers:
        named = [proposers.get(pair) for pair in labels.select(PAIR).iter_rows()]
        labels = labels.with_columns(pl.Series(GENERATORS, named, pl.String))
    n_repeated, n_unjudged = len(judged) - len(labels), n_rows - len(judged)
    return LabelsFile(labels, n_rows, n_repeated, n_unjudged, design.table(), read.threshold)


@dataclass(frozen=True)
class _Values:
    """The label and the grade of each row."""

    labels: list[int | None]
    grades: list[float | None]
    threshold: GradeThreshold | None


def _read_values(labels: list[Written], grades: list[Written], positive_from: float | None, path: Path) -> _Values:
    """Labels and their grades; a column of grades beside one of labels decides only where a threshold was asked for."""
    if all(grade is None for grade in grades):
        read = resolve_grades(labels, positive_from)
        values = [None if grade is None else read.label(grade) for grade in read.grades]
        return _Values(values, [None] * len(values) if read.threshold is None else read.grades, read.threshold)
    beside = resolve_grades(grades, positive_from)
    if positive_from is not None:
        return _Values([None if one is None else beside.label(one) for one in beside.grades], beside.grades, None)
    binary = resolve_grades(labels, None)
    if binary.threshold is not None:
        raise LikewiseError(f"{path} has a column grade, and labels other than 0 and 1: keep grades in one column.")
    if any((label is None) != (grade is None) for label, grade in zip(binary.grades, beside.grades, strict=True)):
        raise LikewiseError(f"{path} has labels without a grade, or grades without a label: fill both, or neither.")
    return _Values([None if one is None else int(one) for one in binary.grades], beside.grades, None)


def labels_content(labels: pl.DataFrame, ending: str, name: str = "") -> bytes:
    """A file of labels: Parquet with every column; CSV with grade, split and design; VSD's JSON and TREC's as read.

    The same labels give the same bytes.
    Rows without a label (drawn, not judged) are written by the forms that carry the design, and by no other.
    """
    labels = labels.sort(PAIR)
    if ending == ".parquet":
        output = io.BytesIO()
        labels.write_parquet(output, compression="zstd")
        return output.getvalue()
    if ending in (".csv", ".tsv"):
        columns = [column for column in (*LABEL_SCHEMA, *FURTHER) if column in labels.columns]
        return csv_text(labels.select(columns), separator="\t" if ending == ".tsv" else ",").encode()
    if ending == PRELS:
        return prels_text(labels).encode()
    labels = labels.filter(pl.col("label").is_not_null())
    if ending == ".json":
        return _vsd_text(labels).encode()
    if ending in QRELS_ENDINGS:
        return qrels_text(labels).encode()
    raise LikewiseError(
        f"{name} ends in {ending!r}: labels are written as .json, .qrels, .prels, .csv, .tsv or .parquet."
    )


def refuse_conflicting_labels(labels: pl.DataFrame, where: str) -> None:
    """Raise if a pair carries both labels, or two grades, naming the first such pair."""
    twice = labels.group_by(PAIR).agg(pl.col("label").n_unique()).filter(pl.col("label") > 1).sort(PAIR)
    if len(twice):
        query, candidate, _ = twice.row(0)
        more = "" if len(twice) == 1 else f", and {len(twice) - 1} more pairs so"
        raise LikewiseError(
            f"{where} calls ({query}, {candidate}) both similar and not similar{more}: keep one label for each pair."
        )
    if GRADE in labels.columns:
        graded = labels.group_by(PAIR).agg(pl.col(GRADE).unique().sort()).filter(pl.col(GRADE).list.len() > 1)
        if len(graded):
            query, candidate, grades = graded.sort(PAIR).row(0)
            raise LikewiseError(
                f"{where} grades ({query}, {candidate}) {grades[0]:g} and {grades[1]:g}: keep one grade for each pair."
            )


def _rows(path: Path, known: Collection[str]) -> Iterable[LabelRow]:
    ending = path.suffix.lower()
    if ending in QRELS_ENDINGS:
        return (
            (where, query, candidate, grade, None, None, None, by, None)
            for where, query, candidate, grade, by in read_qrels_rows(path, known)
        )
    if ending == PRELS:
        return ((*row, None, None) for row in read_prels_rows(path, known))
    try:
        if ending == ".json":
            return list(_json_rows(path))
        if ending == ".parquet":
            return list(_table_rows(read_untrusted_parquet(path, str(path)), path, first_row=1))
        if ending in (".csv", ".tsv"):
            return list(_table_rows(_read_csv(path), path, first_row=2))
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error).split("\n")[0]
        raise LikewiseError(f"{path} cannot be read ({reason}): save it again as {ending[1:]}.") from error
    raise LikewiseError(
        f"{path} ends in {ending!r}: labels are read from .json, .qrels, .txt, .prels, .csv, .tsv or .parquet."
    )


def _json_rows(path: Path) -> Iterator[LabelRow]:
    entries = parse_json(path.read_bytes(), str(path))
    if not isinstance(entries, list):
        raise LikewiseError(f'{path} is not a list: write [{{"key": [query, candidate], "value": 0}}, ...].')
    for number, entry in enumerate(entries, start=1):
        where = f"{path}, entry {number}"
        if not isinstance(entry, dict):
            raise LikewiseError(f'{where} is not an object: write {{"key": [query, candidate], "value": 0}}.')
        named = {COLUMN_ALIASES.get(name, name): value for name, value in entry.items()}
        pair = named["key"] if "key" in named else [named.get("query"), named.get("candidate")]
        if "label" not in named:
            named["label"] = named.pop(GRADE, None)
        if not isinstance(pair, list) or len(pair) != 2 or named["label"] is None:
            raise LikewiseError(f'{where} is no label of a pair: write {{"key": [query, candidate], "value": 0}}.')
        further = (named.get(column) for column in READ_FURTHER)
        yield where, *pair, named["label"], *further


def _table_rows(table: pl.DataFrame, path: Path, first_row: int) -> Iterator[LabelRow]:
    tidy = tidy_headers(table.columns, str(path), lower=True)
    aliases = {other: name for other, name in COLUMN_ALIASES.items() if name not in tidy}
    table.columns = [aliases.get(column, column) for column in tidy]
    if "label" not in table.columns and GRADE in table.columns:
        table = table.rename({GRADE: "label"})
    missing = [column for column in LABEL_SCHEMA if column not in table.columns]
    if missing:
        raise LikewiseError(f"{path} has no column {', '.join(missing)}: its header must be query,candidate,label.")
    table = check_columns(table, LABEL_COLUMNS, str(path))
    further = [pl.col(name) if name in table.columns else pl.lit(None, pl.String).alias(name) for name in READ_FURTHER]
    for number, row in enumerate(table.select(*LABEL_SCHEMA, *further).iter_rows(), start=first_row):
        yield f"{path}, row {number}", *row


def _read_csv(path: Path) -> pl.DataFrame:
    text = path.read_text(encoding="utf-8-sig")
    if not text.strip():
        raise LikewiseError(f"{path} is empty: its header must be query,candidate,label.")
    return restore_formulas(read_untrusted_csv(text, str(path)))


def _vsd_text(labels: pl.DataFrame) -> str:
    """VSD's entries; the grade and the generators of a pair stand beside it, where they are known."""
    entries = []
    extras = [name for name in VSD_EXTRAS if name in labels.columns]
    for query, candidate, label, *values in labels.select(*LABEL_SCHEMA, *extras).iter_rows():
        named = {name: value for name, value in zip(extras, values, strict=True) if value is not None}
        entries.append({"key": [query, candidate], "value": label} | named)
    return "[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n]\n"


def _key(value: object, what: str, where: str) -> str:
    if not (value is None or isinstance(value, str | int)) or isinstance(value, bool):
        raise LikewiseError(f"{where}: the {what} is {str(value)[:60]!r}, not the key of an image.")
    key = "" if value is None else str(value).strip()
    if not key:
        raise LikewiseError(f"{where} has no {what}: a label is about a query and a candidate; fill it, or delete it.")
    return check_line(key, f"the {what}", where)
