"""The results in the columns of the VSD paper's tables 2 to 6, for any catalog, encoders and labels.

    table_2   overlap of the generators' candidates, a matrix
    table_3   a row per generator: its AUC over the reduced ground truths (mean and sd), and Spearman with the full
              order of the models when it is left out, with p; micro and macro
    table_4   identification: HR@k and MRR@k
    table_5   discovery: HR@k, MRR@k, ROC-AUC and PR-AUC, micro and macro, against labelled and sampled negatives, in
              two groups; with queries in the wild it is the paper's table 6

Beside every value of tables 4 and 5 stand the ends of its interval, `... low` and `... high`.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from likewise.evaluation.discovery import ANNOTATED, SAMPLED
from likewise.evaluation.ranking import grouped

ENDS = ("", " low", " high")


def vsd_tables(tables: Mapping[str, pl.DataFrame], ks: Sequence[int]) -> dict[str, pl.DataFrame]:
    """From the tables that `evaluate` makes: discovery, leave_one_out (and its orders), identification, overlap."""
    return {
        "table_2": overlap_matrix(tables["overlap"]),
        "table_3": robustness(tables["leave_one_out"], tables["leave_one_out_orders"]),
        "table_4": identification(tables["identification"], ks),
        "table_5": discovery(tables["discovery"], ks),
    }


def discovery_columns(ks: Sequence[int]) -> list[tuple[str, str, str]]:
    """(metric, average, negatives) in the order of the paper's tables 5 and 6."""
    lists = [(f"{name}@{k}", "", "") for name in ("HR", "MRR") for k in ks]
    averages, kinds = ("micro", "macro"), (ANNOTATED, SAMPLED)
    areas = [(name, average, kind) for name in ("ROC-AUC", "PR-AUC") for average in averages for kind in kinds]
    return lists + areas


def discovery(results: pl.DataFrame, ks: Sequence[int]) -> pl.DataFrame:
    """Tables 5 and 6: generators first, then new models, each best macro ROC-AUC first."""
    cells = {(row["encoder"], row["metric"], row["average"], row["negatives"]): row for row in _rows(results)}
    keys = discovery_columns(ks)
    lines = [
        [group.name, encoder, *(end for key in keys for end in _ends(cells.get((encoder, *key))))]
        for group in grouped(results)
        for encoder in group.encoders
    ]
    names = [" ".join(part for part in key if part) for key in keys]
    return _table(lines, ["group", "encoder"], names)


def identification(table: pl.DataFrame, ks: Sequence[int]) -> pl.DataFrame:
    """Table 4."""
    cells = {(row["encoder"], row["metric"]): row for row in _rows(table)}
    metrics = [f"{name}@{k}" for name in ("HR", "MRR") for k in ks]
    encoders = table["encoder"].unique(maintain_order=True).to_list()
    lines = [
        [encoder, *(end for metric in metrics for end in _ends(cells.get((encoder, metric))))] for encoder in encoders
    ]
    return _table(lines, ["encoder"], metrics)


def robustness(models: pl.DataFrame, orders: pl.DataFrame) -> pl.DataFrame:
    """Table 3: AUC of a generator is empty where it was not measured itself."""
    table = orders.select("removed", "n_models").unique(maintain_order=True)
    for average in ("micro", "macro"):
        chosen = (pl.col("metric") == "ROC-AUC") & (pl.col("average") == average)
        area = models.filter(chosen).select(
            removed="encoder", **{f"{average} AUC": pl.col("mean"), f"{average} sd": pl.col("sd")}
        )
        order = orders.filter(chosen).select(
            "removed",
            **{f"{average} {name}": pl.col(name) for name in ("spearman", "p_value", "p_exact")},
        )
        table = table.join(area, on="removed", how="left").join(order, on="removed", how="left")
    return table.rename({"removed": "generator"}).sort("generator")


def overlap_matrix(overlap: pl.DataFrame) -> pl.DataFrame:
    """Table 2: the share of |Q| k pairs that two generators both proposed; empty on the diagonal."""
    names = overlap["generator"].unique().sort().to_list()
    shares = {(a, b): share for a, b, share in overlap.select("generator", "generator_b", "share").iter_rows()}
    columns = {name: [shares.get((row, name)) for row in names] for name in names}
    return pl.DataFrame(
        {"generator": names, **columns}, schema={"generator": pl.String, **dict.fromkeys(names, pl.Float64)}
    )


def _rows(table: pl.DataFrame) -> list[dict[str, str | float | None]]:
    return table.to_dicts()


def _ends(row: Mapping[str, str | float | None] | None) -> list[str | float | None]:
    return [None] * 3 if row is None else [row["value"], row["low"], row["high"]]


def _table(lines: Sequence[Sequence[object]], names: list[str], metrics: list[str]) -> pl.DataFrame:
    numbers = {f"{metric}{end}": pl.Float64 for metric in metrics for end in ENDS}
    return pl.DataFrame(lines, schema={**dict.fromkeys(names, pl.String), **numbers}, orient="row")
