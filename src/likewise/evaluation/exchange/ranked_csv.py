"""What a search engine returned, as a table: query, result, rank; one row per result, CSV or TSV."""

from collections.abc import Collection
from pathlib import Path

import polars as pl

from likewise.errors import LikewiseError
from likewise.evaluation.exchange.trec import RUN_SCHEMA, TrecRun, read_run
from likewise.untrusted import ColumnRule, check_columns, read_untrusted_csv

TABLES = {".csv": ",", ".tsv": "\t"}
RUN_FILES = (*TABLES, ".run", ".trec", ".txt", ".res")
RESULT_NAMES = ("result", "candidate", "image")


def read_run_file(path: Path, known: Collection[str] = ()) -> TrecRun:
    """A TREC run, or a table of query, result, rank (from any number on; equal ranks are an error)."""
    separator = TABLES.get(path.suffix.lower())
    if separator is None:
        return read_run(path, known)
    try:
        table = read_untrusted_csv(path.read_text(encoding="utf-8-sig", errors="replace"), str(path), separator)
    except OSError as error:
        raise LikewiseError(f"{path} cannot be read as a table ({error.strerror}).") from error
    result = next((name for name in RESULT_NAMES if name in table.columns), None)
    if result is None or not {"query", "rank"} <= set(table.columns):
        raise LikewiseError(f"{path} has the columns {', '.join(table.columns)}: it needs query, result and rank.")
    table = check_columns(table, {"query": ColumnRule(null=True), result: ColumnRule(null=True)}, str(path))
    ranks = table["rank"].str.strip_chars().cast(pl.Int64, strict=False)
    named = table.select(pl.all_horizontal(pl.col("query", result).str.strip_chars().fill_null("") != "")).to_series()
    odd = (ranks.is_null() | ~named).arg_true()
    if len(odd):
        raise LikewiseError(f"{path}, row {odd[0] + 1} after the heading: a query, a result and a whole rank must be.")
    rows = pl.DataFrame({"query": table["query"], "candidate": table[result], "rank": ranks})
    for columns, what in ((["query", "candidate"], "result"), (["query", "rank"], "rank")):
        twice = rows.filter(pl.struct(columns).is_duplicated())
        if len(twice):
            query, other = twice.select(columns).row(0)
            raise LikewiseError(f"{path} has the {what} {other} more than once for {query}: keep one row of it.")
    rows = rows.sort("query", "rank").with_columns(score=-pl.col("rank").cast(pl.Float64))
    rows = rows.with_columns(rank=pl.int_range(pl.len()).over("query"))
    return TrecRun(path.stem, rows.select(RUN_SCHEMA.names()).cast(RUN_SCHEMA))
