"""Claims of papers, from a file that the user cites; nothing is claimed that is not in it.

Two layouts are known.  *Reported*: what papers reported for a loss, `paper, year, loss` and one column per data set
with a Precision@1 in percent.  *Improved*: `paper, baseline, baseline_value, value`, by how much a paper's own method
was better than a baseline in its own table (the paper's Fig. 5).
"""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.catalog.readers.parsing import read_text
from likewise.errors import LikewiseError
from likewise.untrusted import TEXT, ColumnRule, check_columns, read_untrusted_csv
from likewise.workspace import write_json

REPORTED_COLUMNS = {"paper", "year", "loss"}
IMPROVED_COLUMNS = {"paper", "baseline", "baseline_value", "value"}
NON_DATASET_COLUMNS = {"paper", "venue", "year", "loss"}
PERCENT = ColumnRule("number", null=True, low=0.0, high=100.0)
POSITIVE = ColumnRule("number", low=1e-9, high=1e9)
IMPROVED_RULES = {"paper": TEXT, "baseline": TEXT, "baseline_value": POSITIVE, "value": POSITIVE}


@dataclass(frozen=True)
class Claims:
    """`reported`: loss, data, low, high, n_papers.  `improved`: baseline, improvement (mean), n_papers."""

    source: str
    reported: pl.DataFrame | None = None
    improved: pl.DataFrame | None = None


def read_claims(path: Path) -> Claims:
    """Read either layout."""
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: give the CSV of claims that you cite.")
    table = read_untrusted_csv(read_text(path), str(path), ",")
    columns = set(table.columns)
    if columns >= IMPROVED_COLUMNS:
        table = check_columns(table, IMPROVED_RULES, str(path))
        return Claims(path.name, improved=_improved(table))
    if columns >= REPORTED_COLUMNS:
        data = [column for column in table.columns if column not in NON_DATASET_COLUMNS]
        rules = {"paper": TEXT, "loss": TEXT} | dict.fromkeys(data, PERCENT)
        table = check_columns(table, rules, str(path))
        return Claims(path.name, reported=_reported(table, data))
    raise LikewiseError(
        f"{path} has the columns {', '.join(table.columns)}: claims need {', '.join(sorted(REPORTED_COLUMNS))} "
        f"and one per data set, or {', '.join(sorted(IMPROVED_COLUMNS))}."
    )


def write_claims(claims: Claims, path: Path) -> None:
    """For the page of a run."""
    tables = {"reported": claims.reported, "improved": claims.improved}
    write_json({"source": claims.source} | {k: None if v is None else v.to_dicts() for k, v in tables.items()}, path)


def _reported(table: pl.DataFrame, data: list[str]) -> pl.DataFrame:
    """The lowest and the highest Precision@1 that papers gave for one loss on one data set."""
    long = table.unpivot(on=data, index=["paper", "loss"], variable_name="data", value_name="value").drop_nulls("value")
    return (
        long.with_columns(pl.col("value").cast(pl.Float64) / 100)
        .group_by("loss", "data", maintain_order=True)
        .agg(
            pl.col("value").min().alias("low"),
            pl.col("value").max().alias("high"),
            pl.col("value").median().alias("median"),
            pl.col("paper").n_unique().alias("n_papers"),
        )
    )


def _improved(table: pl.DataFrame) -> pl.DataFrame:
    """Mean relative improvement over each baseline: per paper first, then over papers."""
    relative = (pl.col("value").cast(pl.Float64) / pl.col("baseline_value").cast(pl.Float64) - 1).alias("improvement")
    papers = (
        table.with_columns(relative)
        .group_by("baseline", "paper", maintain_order=True)
        .agg(pl.col("improvement").mean())
    )
    return papers.group_by("baseline", maintain_order=True).agg(
        pl.col("improvement").mean(), pl.col("paper").n_unique().alias("n_papers")
    )
