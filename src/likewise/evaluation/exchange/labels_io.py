"""Labels from and to files: VSD's JSON, TREC qrels, CSV and Parquet, all as one table (query, candidate, label).

VSD: `[{"key": [query, candidate], "value": 0|1}]`; JSON records with query, candidate (or gallery), label (or value)
are read too, as are those columns in CSV and Parquet. A label is 0 or 1, a word the votes know (similar, no, ...), or a
grade: grades from `positive_from` up are similar. Blank, `cannot tell` and negative grades (TREC: not judged) are no
label; they are left out and counted. A pair said twice must say the same. A column `split` (train, test) is kept.
"""

import io
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.discovery import RANDOM
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.trec import qrels_text, read_qrels_rows
from likewise.labeling.imports import ANSWER_SPELLINGS
from likewise.labeling.votes import NOT_SIMILAR, PAIR, SIMILAR
from likewise.workspace import discard, write_atomically

LABEL_SCHEMA = pl.Schema({"query": pl.String, "candidate": pl.String, "label": pl.Int8})
QRELS_ENDINGS = (".qrels", ".qrel", ".txt")
COLUMN_ALIASES = {"gallery": "candidate", "value": "label"}
LABEL_OF_ANSWER = {SIMILAR: 1, NOT_SIMILAR: 0}
SPLIT = "split"
LabelRow = tuple[str, object, object, object, object]  # where, query, candidate, label as written, split


@dataclass(frozen=True)
class LabelsFile:
    """The labels of a file, sorted by pair, and the rows that gave none: said before, or not judged."""

    labels: pl.DataFrame
    n_rows: int
    n_repeated: int
    n_unjudged: int


def read_labels_file(path: Path, *, positive_from: int = 1, known: Collection[str] = ()) -> LabelsFile:
    """Labels of a .json, .qrels (or .txt), .csv, .tsv or .parquet file; `known` keys help to read qrels."""
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check the path of the labels.")
    if positive_from < 1:
        raise LikewiseError(f"similar grades must begin at 1 or higher, not {positive_from}: 0 is not similar.")
    judged: list[tuple[str, str, int, str | None]] = []
    n_rows = 0
    for where, query, candidate, written, split in _rows(path, known):
        n_rows += 1
        label = _label(written, positive_from, where)
        pair = _key(query, "query", where), _key(candidate, "candidate", where)
        if label is not None:
            judged.append((*pair, label, None if split is None else str(split)))
    if not judged:
        raise LikewiseError(f"{path} has {n_rows} rows and no label: it needs rows of query, candidate and label.")
    labels = pl.DataFrame(judged, schema={**LABEL_SCHEMA, SPLIT: pl.String}, orient="row")
    refuse_conflicting_labels(labels, str(path))
    labels = labels.unique().sort(PAIR)
    if len(twice := labels.filter(pl.struct(PAIR).is_duplicated())):
        raise LikewiseError(f"{path} has {twice.row(0)[:2]} in two splits: a pair belongs to one; keep one row of it.")
    if labels[SPLIT].null_count() == len(labels):
        labels = labels.drop(SPLIT)
    return LabelsFile(labels, n_rows, len(judged) - len(labels), n_rows - len(judged))


def write_labels_file(labels: pl.DataFrame, path: Path) -> None:
    """Write labels in the form the ending asks for; the same labels give the same bytes."""
    content = labels_content(labels, path.suffix.lower(), str(path))
    write_atomically(path, lambda file: discard(file.write(content)))


def labels_content(labels: pl.DataFrame, ending: str, name: str = "") -> bytes:
    """A file of labels: Parquet with every column; CSV with the split; VSD's JSON and TREC's qrels as they are read."""
    labels = labels.sort(PAIR)
    if ending == ".parquet":
        output = io.BytesIO()
        labels.write_parquet(output, compression="zstd")
        return output.getvalue()
    if ending in (".csv", ".tsv"):
        columns = [column for column in (*LABEL_SCHEMA, SPLIT) if column in labels.columns]
        return labels.select(columns).write_csv(separator="\t" if ending == ".tsv" else ",").encode()
    labels = labels.select(LABEL_SCHEMA.names())
    if ending == ".json":
        return _vsd_text(labels).encode()
    if ending in QRELS_ENDINGS:
        return qrels_text(labels).encode()
    raise LikewiseError(f"{name} ends in {ending!r}: labels are written as .json, .qrels, .csv, .tsv or .parquet.")


def drop_random_pairs(labels: pl.DataFrame, pool: pl.DataFrame, retired: pl.DataFrame | None = None) -> pl.DataFrame:
    """Labels of pairs that some generator proposed, or that are not in the pool; those of random pairs alone go.

    Random pairs estimate prevalence. They are easy negatives nearly always, so no model is measured on them, nor on
    the `retired` ones of pools before this.
    """
    random, proposed = (pool.filter(kind) for kind in (pl.col("generator") == RANDOM, pl.col("generator") != RANDOM))
    random = random.select(PAIR)
    if retired is not None:
        random = pl.concat([random, retired.select(PAIR)])
    return labels.join(random.join(proposed, on=PAIR, how="anti"), on=PAIR, how="anti", maintain_order="left")


def refuse_conflicting_labels(labels: pl.DataFrame, where: str) -> None:
    """Raise if a pair carries both labels, naming the first such pair."""
    twice = labels.group_by(PAIR).agg(pl.col("label").n_unique()).filter(pl.col("label") > 1).sort(PAIR)
    if len(twice):
        query, candidate, _ = twice.row(0)
        more = "" if len(twice) == 1 else f", and {len(twice) - 1} more pairs so"
        raise LikewiseError(
            f"{where} calls ({query}, {candidate}) both similar and not similar{more}: keep one label for each pair."
        )


def _rows(path: Path, known: Collection[str]) -> Iterable[LabelRow]:
    ending = path.suffix.lower()
    if ending in QRELS_ENDINGS:
        return ((*row, None) for row in read_qrels_rows(path, known))
    try:
        if ending == ".json":
            return list(_json_rows(path))
        if ending == ".parquet":
            return _table_rows(pl.read_parquet(path, glob=False), path, first_row=1)
        if ending in (".csv", ".tsv"):
            return _table_rows(_read_csv(path), path, first_row=2)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, json.JSONDecodeError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error).split("\n")[0]
        raise LikewiseError(f"{path} cannot be read ({reason}): save it again as {ending[1:]}.") from error
    raise LikewiseError(f"{path} ends in {ending!r}: labels are read from .json, .qrels, .txt, .csv, .tsv or .parquet.")


def _json_rows(path: Path) -> Iterator[LabelRow]:
    entries = json.loads(path.read_text(encoding="utf-8-sig"))
    if not isinstance(entries, list):
        raise LikewiseError(f'{path} is not a list: write [{{"key": [query, candidate], "value": 0}}, ...].')
    for number, entry in enumerate(entries, start=1):
        where = f"{path}, entry {number}"
        if not isinstance(entry, dict):
            raise LikewiseError(f'{where} is not an object: write {{"key": [query, candidate], "value": 0}}.')
        named = {COLUMN_ALIASES.get(name, name): value for name, value in entry.items()}
        pair = named["key"] if "key" in named else [named.get("query"), named.get("candidate")]
        if not isinstance(pair, list) or len(pair) != 2 or "label" not in named:
            raise LikewiseError(f'{where} is no label of a pair: write {{"key": [query, candidate], "value": 0}}.')
        yield where, *pair, named["label"], named.get(SPLIT)


def _table_rows(table: pl.DataFrame, path: Path, first_row: int) -> Iterator[LabelRow]:
    tidy = [column.strip().lower() for column in table.columns]
    aliases = {other: name for other, name in COLUMN_ALIASES.items() if name not in tidy}
    table.columns = [aliases.get(column, column) for column in tidy]
    missing = [column for column in LABEL_SCHEMA if column not in table.columns]
    if missing:
        raise LikewiseError(f"{path} has no column {', '.join(missing)}: its header must be query,candidate,label.")
    split = pl.col(SPLIT).cast(pl.String) if SPLIT in table.columns else pl.lit(None, pl.String).alias(SPLIT)
    for number, row in enumerate(table.select(*LABEL_SCHEMA, split).iter_rows(), start=first_row):
        yield f"{path}, row {number}", *row


def _read_csv(path: Path) -> pl.DataFrame:
    text = path.read_text(encoding="utf-8-sig")
    if not text.strip():
        raise LikewiseError(f"{path} is empty: its header must be query,candidate,label.")
    separator = max(",;\t", key=text.lstrip().split("\n", 1)[0].count)
    return pl.read_csv(text.encode(), separator=separator, infer_schema=False)


def _vsd_text(labels: pl.DataFrame) -> str:
    entries = ({"key": [query, candidate], "value": label} for query, candidate, label in labels.iter_rows())
    return "[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n]\n"


def _key(value: object, what: str, where: str) -> str:
    key = "" if value is None else str(value).strip()
    if not key:
        raise LikewiseError(f"{where} has no {what}: a label is about a query and a candidate; fill it, or delete it.")
    return key


def _label(written: object, positive_from: int, where: str) -> int | None:
    """0 or 1, or None for a pair that nobody judged."""
    text = "" if written is None else str(written).strip()
    if not text:
        return None
    try:
        grade = float(text)
    except ValueError:
        answer = ANSWER_SPELLINGS.get("".join(text.split()).lower())
        if answer is None:
            raise LikewiseError(f"{where}: the label {text!r} is not known: write 1 (similar) or 0.") from None
        return LABEL_OF_ANSWER.get(answer)
    if not (abs(grade) < 1e9 and grade == int(grade)):
        raise LikewiseError(f"{where}: the label {text} is not a whole number: write 1 (similar) or 0.")
    return None if grade < 0 else int(grade >= positive_from)
