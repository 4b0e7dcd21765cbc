"""Numbers over time: every stored evaluation leaves its values under the version of the catalog it was made on.

A difference between two versions is called a change only where its interval is without zero. The two estimates share
labels and are taken as independent, which makes that interval too wide rather than too narrow.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl

from likewise.catalog.versions import catalog_version, read_versions
from likewise.discovery.pool import FIRST_ROUND, pairs_to_label
from likewise.discovery.step import read_pool
from likewise.evaluation.measures import AP, P, cutoff_of
from likewise.evaluation.ranking import MAIN
from likewise.evaluation.summary import EvaluationSummary
from likewise.intervals import difference_interval
from likewise.labeling.step import read_labels
from likewise.workspace import WorkspaceFolder, read_parquet, write_parquet

WHOLE_CATALOG, POOL = "whole catalog", "pool"
OVER_TIME_SCHEMA = pl.Schema(
    {
        "version": pl.Int64,
        "name": pl.String,
        "date": pl.String,
        "n_images": pl.Int64,
        "n_labels": pl.Int64,
        "n_new_labels": pl.Int64,
        "about": pl.String,
        "encoder": pl.String,
        "measure": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "shown": pl.Boolean,  # by default
    }
)
OF_EARLIER_RELEASES = {"n_new_labels": pl.Int64, "shown": pl.Boolean}  # columns that these did not store


@dataclass(frozen=True)
class ValueChange:
    """A model's value in two versions that follow each other; `real` if the interval of the difference is without 0."""

    encoder: str
    before: int
    after: int
    difference: float
    low: float
    high: float

    @property
    def real(self) -> bool:
        return self.low > 0.0 or self.high < 0.0


def append_to_results_history(
    workspace: WorkspaceFolder, tables: dict[str, pl.DataFrame], summary: EvaluationSummary, staged: WorkspaceFolder
) -> None:
    """Put the values of an evaluation down under the version of the catalog; an earlier one of it gives way.

    Written to where the results wait.
    """
    version = next(each for each in read_versions(workspace) if each.version == catalog_version(workspace))
    rows = []
    for about, table in ((POOL, tables["discovery"]), (WHOLE_CATALOG, tables.get("catalog"))):
        if table is not None and len(table):
            shown = pl.col("shown") if about == WHOLE_CATALOG else pl.lit(True)
            values = table.select("encoder", "measure", "value", "low", "high", shown.alias("shown"))
            rows.append(values.with_columns(about=pl.lit(about)))
    facts = {
        "version": version.version,
        "name": version.name,
        "date": version.date,
        "n_images": summary.n_images,
        "n_labels": summary.labels.consensus.n_labelled,
        "n_new_labels": _labels_spent(workspace, version.version),
    }
    new = pl.concat(rows).with_columns(pl.lit(value).alias(name) for name, value in facts.items())
    new = new.select(OVER_TIME_SCHEMA.names()).cast(dict(OVER_TIME_SCHEMA))  # type: ignore[arg-type]
    before = read_over_time(workspace).filter(pl.col("version") != version.version)
    write_parquet(pl.concat([before, new]).sort("version", "about", "measure", "encoder"), over_time_file(staged))


def over_time_file(workspace: WorkspaceFolder) -> Path:
    return workspace.results_folder / "history.parquet"


def _labels_spent(workspace: WorkspaceFolder, version: int) -> int:
    """Labels of pairs that were asked about for this version of the catalog."""
    pool, labels = read_pool(workspace), read_labels(workspace)
    if pool.versions[-1] != version or (len(pool.versions) > 1 and not pool.update_rounds):
        return 0
    since = pool.update_rounds[-1] if pool.update_rounds else FIRST_ROUND
    asked = pairs_to_label(pool.rows.filter(pl.col("round") >= since))
    return len(asked.join(labels, on=["query", "candidate"], how="semi"))


def read_over_time(workspace: WorkspaceFolder) -> pl.DataFrame:
    """Every value of every version that was evaluated; empty where there is none."""
    if not over_time_file(workspace).exists():
        return pl.DataFrame(schema=OVER_TIME_SCHEMA)
    stored = read_parquet(over_time_file(workspace), f"likewise evaluate {workspace.quoted}")
    missing = {name: kind for name, kind in OF_EARLIER_RELEASES.items() if name not in stored.columns}
    stored = stored.with_columns(pl.lit(None, kind).alias(name) for name, kind in missing.items())
    return stored.select(OVER_TIME_SCHEMA.names())


def main_over_time(table: pl.DataFrame) -> pl.DataFrame:
    """One measure of every model and version: of the whole catalog where all versions have that, else of the pool.

    Of the whole catalog that by which models are ordered: AP where every version shows it of every model, else P@k.
    """
    whole = table.filter(pl.col("about") == WHOLE_CATALOG)
    versions = table["version"].n_unique()
    kept = whole.filter(pl.col("version").n_unique().over("measure") == versions)
    if kept.is_empty():
        return table.filter((pl.col("about") == POOL) & (pl.col("measure") == str(MAIN)))
    found = kept["measure"].unique(maintain_order=True).to_list()
    largest = max(filter(None, map(cutoff_of, found)), default=None)
    ap = kept.filter(pl.col("measure") == str(AP))
    if largest is None or (len(ap) and ap["shown"].all()):
        return ap
    return kept.filter(pl.col("measure") == str(P @ largest))


def value_changes(table: pl.DataFrame) -> list[ValueChange]:
    """Of every model, between each two versions that follow each other."""
    found = []
    for (encoder,), rows in table.sort("encoder", "version").group_by("encoder", maintain_order=True):
        values = rows.select("version", "value", "low", "high").rows()
        for (before, old, low, high), (after, new, new_low, new_high) in pairwise(values):
            if None not in (old, new, low, high, new_low, new_high):
                interval = difference_interval((old, low, high), (new, new_low, new_high))
                found.append(ValueChange(str(encoder), before, after, new - old, *interval))
    return found
