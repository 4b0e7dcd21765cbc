"""Which model stands where: one order for the terminal, the report and the leaderboard page.

Models are ranked by macro ROC-AUC over labelled pairs, which is fair to those that never fed the pool; equal ones by
name, undefined ones last. As in VSD's Tables 5 and 6 they stand in two groups, generators and new models.
"""

from dataclasses import dataclass

import polars as pl

from likewise.evaluation.measures import ROC_AUC, Measure

MAIN = ROC_AUC


@dataclass(frozen=True)
class Group:
    """Models that may be compared on every measure: all of them fed the pool, or none did."""

    id: str
    name: str
    what: str
    encoders: list[str]


def of_measure(measure: Measure) -> pl.Expr:
    """The rows of one measure."""
    return pl.col("measure") == str(measure)


def ranked(results: pl.DataFrame) -> list[str]:
    """Encoders by falling macro ROC-AUC; those without one are last."""
    main = results.filter(of_measure(MAIN)).select("encoder", "value")
    every = results.select("encoder").unique().join(main, on="encoder", how="left")
    return every.sort("value", "encoder", descending=[True, False], nulls_last=True)["encoder"].to_list()


def grouped(results: pl.DataFrame) -> list[Group]:
    """Generators and new models, each in the order of `ranked`; a group without models is left out."""
    fed = set(results.filter(pl.col("generator"))["encoder"])
    order = ranked(results)
    both = [
        Group("fed", "Generators", "they contributed to the pool", [name for name in order if name in fed]),
        Group("new", "New models", "they did not", [name for name in order if name not in fed]),
    ]
    return [group for group in both if group.encoders]


def against(differences: pl.DataFrame, best: str) -> pl.DataFrame:
    """Macro ROC-AUC of `best` minus that of each other `encoder`: difference, low, high, p_holm, significant."""
    rows = differences.filter(of_measure(MAIN))
    ahead = rows.filter(pl.col("encoder_a") == best).rename({"encoder_b": "encoder"})
    behind = rows.filter(pl.col("encoder_b") == best).rename({"encoder_a": "encoder", "low": "high", "high": "low"})
    behind = behind.with_columns(-pl.col("difference", "low", "high"))
    columns = ["encoder", "difference", "low", "high", "p_holm", "significant"]
    return pl.concat([ahead.select(columns), behind.select(columns)])


def not_significantly_worse(differences: pl.DataFrame, order: list[str]) -> list[str]:
    """The models that may be as good as the first of `order`: chance explains what they are behind."""
    if not order:
        return []
    close = against(differences, order[0]).filter(~pl.col("significant") & pl.col("difference").is_not_null())
    return [name for name in order if name in set(close["encoder"])]
