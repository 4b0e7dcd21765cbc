"""What people have in a notebook, turned into arrays with keys: embeddings, items, labels.

A key is a string, or a row number where embeddings are plain arrays. Inside, keys are strings whose order is the order
of the rows; `KeyedRows` translates.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation.exchange.file_grades import resolve_grades
from likewise.evaluation.exchange.labels_io import (
    COLUMN_ALIASES,
    LABEL_SCHEMA,
    read_labels_file,
    refuse_conflicting_labels,
)
from likewise.labeling.grades import GRADE

KEY_COLUMNS = ("image", "key", "id", "item")
VECTOR_COLUMNS = ("vector", "embedding", "embeddings", "vectors")
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class KeyedRows:
    """The keys of the rows, as given and as sortable text."""

    given: list[str] | list[int]
    text: list[str]

    @staticmethod
    def of(keys: Sequence[Any] | None, n_rows: int) -> "KeyedRows":
        if keys is None:
            numbers = list(range(n_rows))
            return KeyedRows(numbers, [_number_text(row, n_rows) for row in numbers])
        names = [str(key) for key in keys]
        if len(names) != n_rows:
            raise LikewiseError(f"there are {n_rows} embeddings and {len(names)} keys: one key is needed for each row.")
        if len(set(names)) < n_rows:
            twice = next(name for name in names if names.count(name) > 1)
            raise LikewiseError(f"the key {twice!r} stands for two rows: keys must be unique.")
        return KeyedRows(names, names)

    @property
    def are_row_numbers(self) -> bool:
        return bool(self.given) and isinstance(self.given[0], int)

    def as_text(self, keys: Iterable[Any]) -> list[str]:
        """Keys that a user wrote, as text; unknown ones stay as they are and are refused later by name."""
        if not self.are_row_numbers:
            return [str(key) for key in keys]
        return [_number_text(_row_number(key), len(self.given)) for key in keys]


def read_embeddings(embeddings: Any, keys: Sequence[Any] | None = None) -> tuple[Vectors, KeyedRows]:
    """A NumPy array, a torch tensor, a polars or pandas DataFrame, or nested lists, as float32 rows with keys."""
    table = read_table(embeddings)
    if table is not None:
        column = next((name for name in KEY_COLUMNS if name in table.columns), None)
        if keys is None and column is not None:
            keys = table[column].to_list()
        index = getattr(embeddings, "index", None)
        if keys is None and index is not None and index.dtype == object:  # a pandas frame with named rows
            keys = [str(key) for key in index]
        values = _table_values(table.drop(column) if column else table)
    else:
        if hasattr(embeddings, "detach"):  # a torch tensor, on whatever device
            embeddings = embeddings.detach().cpu().numpy()
        values = np.asarray(embeddings)
    if values.ndim != 2 or not np.issubdtype(values.dtype, np.number):
        raise LikewiseError(f"embeddings must be numbers in rows and columns, not of shape {values.shape}.")
    values = np.ascontiguousarray(values, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise LikewiseError(f"row {bad[0]} of the embeddings has a NaN or infinite number ({len(bad)} such rows).")
    return values, KeyedRows.of(keys, len(values))


def read_models(embeddings: Any, keys: Sequence[Any] | None = None) -> tuple[dict[str, Vectors], KeyedRows]:
    """One model or several by name, all over the same images."""
    named = embeddings if isinstance(embeddings, Mapping) else {"model": embeddings}
    if not named:
        raise LikewiseError("there are no embeddings: give at least one model.")
    models: dict[str, Vectors] = {}
    rows: KeyedRows | None = None
    for name, given in named.items():
        values, own = read_embeddings(given, keys)
        if rows is None:
            rows = own
        elif own.text != rows.text:
            if sorted(own.text) != sorted(rows.text):
                first = next(iter(models))
                raise LikewiseError(
                    f"{name} and {first} have embeddings of different images ({len(own.text)} and {len(rows.text)}): "
                    "give every model the same images."
                )
            row_of = {key: row for row, key in enumerate(own.text)}
            values = values[[row_of[key] for key in rows.text]]
        models[str(name)] = values
    assert rows is not None
    return models, rows


def read_items(items: Any, rows: KeyedRows, what: str = "items") -> list[str]:
    """The item that each row shows: a sequence in the rows' order, or a mapping by key; without one, each its own."""
    if items is None:
        return list(rows.text)
    if isinstance(items, Mapping):
        missing = [key for key in rows.given if key not in items]
        if missing:
            raise LikewiseError(f"{what} has no entry for {missing[0]!r} and {len(missing) - 1} further keys.")
        return [str(items[key]) for key in rows.given]
    values = [str(value) for value in (items.to_list() if hasattr(items, "to_list") else items)]
    if len(values) != len(rows.text):
        raise LikewiseError(f"there are {len(rows.text)} embeddings and {len(values)} {what}: give one for each row.")
    return values


def read_labels(labels: Any, rows: KeyedRows) -> pl.DataFrame:
    """Labels (query, candidate, label) from a table, tuples, a mapping, or a file (TREC, VSD JSON, CSV, Parquet).

    Labels other than 0 and 1 are grades (or shares of votes, where there are fractions up to 1), as in files: they are
    kept beside the label, for nDCG.
    """
    if isinstance(labels, str | Path):
        found = read_labels_file(Path(labels), known=rows.text).labels
        kept = [name for name in (*LABEL_SCHEMA, GRADE) if name in found.columns]
        return found.select(kept).with_columns(
            pl.Series(name, rows.as_text(found[name].to_list()), pl.String) for name in ("query", "candidate")
        )
    triples: list[tuple[Any, Any, Any]]
    graded: pl.Series | None = None
    if (table := read_table(labels)) is not None:
        table = table.rename(COLUMN_ALIASES, strict=False)
        if "label" not in table.columns and GRADE in table.columns:
            table = table.rename({GRADE: "label"})
        missing = [name for name in LABEL_SCHEMA.names() if name not in table.columns]
        if missing:
            raise LikewiseError(f"the labels have no column {missing[0]!r}: they need query, candidate and label.")
        triples = table.select(LABEL_SCHEMA.names()).rows()
        graded = table[GRADE].cast(pl.Float64) if GRADE in table.columns else None
    elif isinstance(labels, Mapping):
        triples = list(_mapping_triples(labels))
    else:
        triples = [_triple(entry) for entry in labels]
    if not triples:
        raise LikewiseError("there are no labels: give rows of query, candidate and label.")
    queries, candidates, values = zip(*triples, strict=True)
    read = resolve_grades([_number(value) for value in values], None)
    grades = [grade or 0.0 for grade in read.grades]
    result = pl.DataFrame(
        [rows.as_text(queries), rows.as_text(candidates), [read.label(grade) for grade in grades]], schema=LABEL_SCHEMA
    )
    if graded is not None:
        result = result.with_columns(graded)
    elif read.threshold is not None:
        result = result.with_columns(pl.Series(GRADE, grades, pl.Float64))
    refuse_conflicting_labels(result, "the table of labels")
    return result.unique(maintain_order=True)


def _mapping_triples(labels: Mapping[Any, Any]) -> Iterable[tuple[Any, Any, Any]]:
    for key, value in labels.items():
        if isinstance(value, Mapping):  # {query: {candidate: label}}, as pytrec_eval and ranx have it
            yield from ((key, candidate, label) for candidate, label in value.items())
        elif isinstance(key, tuple) and len(key) == 2:
            yield key[0], key[1], value
        else:
            raise LikewiseError("labels as a mapping are {(query, candidate): label} or {query: {candidate: label}}.")


def _triple(entry: Any) -> tuple[Any, Any, Any]:
    values = tuple(entry)
    if len(values) != 3:
        raise LikewiseError(f"a label is (query, candidate, label), not {entry!r}.")
    return values[0], values[1], values[2]


def _number(value: Any) -> float:
    try:
        return max(0.0, float(value))
    except (TypeError, ValueError):
        raise LikewiseError(f"a label is a number, 1 for similar and 0 for not, not {value!r}.") from None


def read_table(table: Any) -> pl.DataFrame | None:
    """A polars or pandas DataFrame as polars; None for anything else."""
    if isinstance(table, pl.DataFrame):
        return table
    if hasattr(table, "columns") and hasattr(table, "to_dict"):  # pandas, without asking for pyarrow
        return pl.DataFrame({str(name): table[name].tolist() for name in table.columns})
    return None


def _table_values(table: pl.DataFrame) -> NDArray[Any]:
    column = next((name for name in VECTOR_COLUMNS if name in table.columns), None)
    if column is not None:
        return np.array(table[column].to_list())
    numbers = [name for name, dtype in table.schema.items() if dtype.is_numeric()]
    if not numbers:
        raise LikewiseError("the table of embeddings has no column 'vector' or 'embedding', and no columns of numbers.")
    return table.select(numbers).to_numpy()


def _number_text(row: int, n_rows: int) -> str:
    """Row numbers whose order as text is their order as numbers."""
    return f"{row:0{len(str(n_rows))}d}"


def _row_number(key: Any) -> int:
    try:
        return int(key)
    except (TypeError, ValueError):
        raise LikewiseError(
            f"{key!r} is no row number: the embeddings have no keys; give `keys=` (or a DataFrame with a column image)."
        ) from None
