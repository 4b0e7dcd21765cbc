"""The results in the columns of the VSD paper's tables 2 to 6, for any catalog, encoders and labels.

    table_2   overlap of the generators' candidates, a matrix
    table_3   a row per generator: its AUC over the reduced ground truths (mean and sd), and Spearman with the full
              order of the models when it is left out, with p; micro and macro
    table_4   identification: HR@k (Recall_cap@k elsewhere) and MRR@k (VSD_MRR@k)
    table_5   discovery: HR@k (P@k elsewhere), MRR@k (VSD_MRR@k), ROC-AUC and PR-AUC (AP), micro and macro,
              against labelled and sampled negatives, in two groups; with queries in the wild it is the paper's table 6

Beside every value of tables 4 and 5 stand the ends of its interval, `... low` and `... high`.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from likewise.evaluation.measures import AP, ROC_AUC, VSD_MRR, CutoffMeasure, Measure, P, Recall_cap
from likewise.evaluation.measures.base import Average, Negatives
from likewise.evaluation.ranking import group_encoders, measure_is

ENDS = ("", " low", " high")
AVERAGES: tuple[Average, ...] = ("micro", "macro")
NEGATIVES: tuple[Negatives, ...] = ("annotated", "sampled")


def vsd_tables(tables: Mapping[str, pl.DataFrame], ks: Sequence[int]) -> dict[str, pl.DataFrame]:
    """From the tables that `evaluate` makes: discovery, leave_one_out (and its orders), identification, overlap."""
    return {
        "table_2": overlap_matrix(tables["overlap"]),
        "table_3": robustness(tables["leave_one_out"], tables["leave_one_out_orders"]),
        "table_4": identification(tables["identification"], ks),
        "table_5": discovery(tables["discovery"], ks),
    }


def discovery_columns(ks: Sequence[int]) -> dict[str, Measure]:
    """The paper's headings of tables 5 and 6, in their order, and the measure each stands for."""
    columns: dict[str, Measure] = _lists(ks, P, VSD_MRR)
    for name, area in (("ROC-AUC", ROC_AUC), ("PR-AUC", AP)):
        for average in AVERAGES:
            for kind in NEGATIVES:
                columns[f"{name} {average} {kind}"] = area(average=average, negatives=kind)
    return columns


def identification_columns(ks: Sequence[int]) -> dict[str, Measure]:
    """The headings of table 4 and the measure each stands for."""
    return _lists(ks, Recall_cap, VSD_MRR)


def _lists(ks: Sequence[int], hit_rate: CutoffMeasure, reciprocal_rank: CutoffMeasure) -> dict[str, Measure]:
    return {f"{name}@{k}": measure @ k for name, measure in (("HR", hit_rate), ("MRR", reciprocal_rank)) for k in ks}


def discovery(results: pl.DataFrame, ks: Sequence[int]) -> pl.DataFrame:
    """Tables 5 and 6: generators first, then new models, each best gallery ROC-AUC first."""
    columns = discovery_columns(ks)
    ordered = [(group.name, encoder) for group in group_encoders(results) for encoder in group.encoders]
    return _table([[*names, *_cells(results, names[1], columns)] for names in ordered], ["group", "encoder"], columns)


def identification(table: pl.DataFrame, ks: Sequence[int]) -> pl.DataFrame:
    """Table 4."""
    columns = identification_columns(ks)
    encoders = table["encoder"].unique(maintain_order=True).to_list()
    return _table([[encoder, *_cells(table, encoder, columns)] for encoder in encoders], ["encoder"], columns)


def robustness(models: pl.DataFrame, orders: pl.DataFrame) -> pl.DataFrame:
    """Table 3: AUC of a generator is empty where it was not measured itself."""
    table = orders.select("removed", "n_models").unique(maintain_order=True)
    for average in AVERAGES:
        chosen = measure_is(ROC_AUC(average=average))
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


def _cells(table: pl.DataFrame, encoder: str, columns: Mapping[str, Measure]) -> list[float | None]:
    """Value, low and high of every column; empty where a measure was not computed."""
    here = table.filter(pl.col("encoder") == encoder).select("measure", "value", "low", "high")
    found = {measure: ends for measure, *ends in here.iter_rows()}
    return [end for measure in columns.values() for end in found.get(str(measure), [None] * 3)]


def _table(rows: Sequence[Sequence[object]], names: list[str], columns: Mapping[str, Measure]) -> pl.DataFrame:
    numbers = {f"{heading}{end}": pl.Float64 for heading in columns for end in ENDS}
    return pl.DataFrame(rows, schema={**dict.fromkeys(names, pl.String), **numbers}, orient="row")
