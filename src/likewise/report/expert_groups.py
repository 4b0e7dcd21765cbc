"""Would other experts have said otherwise? Gallery ROC-AUC by rule, by expert, and over resampled groups."""

from dataclasses import dataclass

import polars as pl

from likewise.evaluation.expert_groups import ExpertGroupsSummary, NumberOfExperts
from likewise.report.formatting import NBSP, interval, percent, plural
from likewise.report.plots.ranges import PlotRange

RULE, EXPERT, GROUP, NUMBER = "rule", "expert", "group", "number"
KINDS = {RULE: "rule", EXPERT: "alone"}


@dataclass(frozen=True)
class ExpertGroupsTable:
    """`rows`: (kind, group, values by encoder); `intervals`: 95 % of the resampled groups, as text and for the plot."""

    encoders: list[str]
    rows: list[tuple[str, str, dict[str, float | None]]]
    intervals: dict[str, str]
    ranges: list[PlotRange]
    conclusion: str
    numbers: pl.DataFrame
    """Of every encoder and number of experts: the mean over groups of so many, and the ends of 95 % of them."""
    by_number: tuple[NumberOfExperts, ...] = ()


def expert_groups(
    values: pl.DataFrame | None, said: ExpertGroupsSummary | None, encoders: list[str]
) -> ExpertGroupsTable | None:
    """None where there are no votes of several experts, or for results of an older `likewise evaluate`."""
    if values is None or said is None:
        return None
    evaluated = [name for name in encoders if name in set(values["encoder"])]
    named: dict[tuple[str, str], dict[str, float | None]] = {}
    kinds: dict[tuple[str, str], str] = {}
    for row in values.filter(pl.col("kind").is_in([RULE, EXPERT])).iter_rows(named=True):
        named.setdefault((row["kind"], row["group"]), {})[row["encoder"]] = row["value"]
        counted = plural(row["n_queries"], "query", "queries") if "n_queries" in row else ""
        kinds[row["kind"], row["group"]] = ", ".join(filter(None, (KINDS[row["kind"]], counted)))
    intervals: dict[str, tuple[float, float]] = {
        encoder: (low, high)
        for encoder, low, high in values.filter(pl.col("kind") == GROUP)
        .group_by("encoder")
        .agg(low=pl.col("value").quantile(0.025), high=pl.col("value").quantile(0.975))
        .drop_nulls()
        .iter_rows()
    }
    ranges = [
        PlotRange(name, *intervals[name], ticks=_values_of(named, RULE, name), dots=_values_of(named, EXPERT, name))
        for name in evaluated
        if name in intervals
    ]
    rows = [(kinds[key], key[1], cells) for key, cells in named.items()]
    written = {name: interval(*intervals.get(name, (None, None))) for name in evaluated}
    numbers = values.filter(pl.col("kind") == NUMBER, pl.col("encoder").is_in(evaluated))
    return ExpertGroupsTable(evaluated, rows, written, ranges, _conclusion(said, values), numbers, said.by_number)


def _values_of(named: dict[tuple[str, str], dict[str, float | None]], kind: str, encoder: str) -> tuple[float, ...]:
    values = [cells.get(encoder) for (of_kind, _), cells in named.items() if of_kind == kind]
    return tuple(value for value in values if value is not None)


def _conclusion(said: ExpertGroupsSummary, values: pl.DataFrame) -> str:
    if said.winner_share is None:
        return "No group drawn from these experts gives an order of the models."
    n_experts = values.filter(pl.col("kind") == EXPERT)["group"].n_unique()
    stays = "every one" if said.winner_share >= 1.0 else f"{percent(said.winner_share, 0)}{NBSP}%"
    drawn = f"{plural(said.n_groups, 'group')} of {n_experts} drawn with replacement from these experts"
    return f"{said.winner} stays first in {stays} of {drawn}."
