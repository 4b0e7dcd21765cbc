"""Would other experts have said otherwise? Macro ROC-AUC by rule, by expert, and over resampled groups."""

from dataclasses import dataclass

import polars as pl

from likewise.evaluation.expert_groups import ExpertGroupsSummary
from likewise.report.numbers import NBSP, interval, percent, several
from likewise.report.plots.ranges import Range

RULE, EXPERT, GROUP = "rule", "expert", "group"
KINDS = {RULE: "rule", EXPERT: "alone"}


@dataclass(frozen=True)
class Groups:
    """`rows`: (kind, group, values by encoder); `ends`: 95 % of the resampled groups, as text and for the plot."""

    encoders: list[str]
    rows: list[tuple[str, str, dict[str, float | None]]]
    ends: dict[str, str]
    ranges: list[Range]
    words: str


def expert_groups(values: pl.DataFrame | None, said: ExpertGroupsSummary | None, encoders: list[str]) -> Groups | None:
    """None where there are no votes of several experts, or for results of an older `likewise evaluate`."""
    if values is None or said is None:
        return None
    known = [name for name in encoders if name in set(values["encoder"])]
    named: dict[tuple[str, str], dict[str, float | None]] = {}
    kinds: dict[tuple[str, str], str] = {}
    for row in values.filter(pl.col("kind") != GROUP).iter_rows(named=True):
        named.setdefault((row["kind"], row["group"]), {})[row["encoder"]] = row["value"]
        counted = several(row["n_queries"], "query", "queries") if "n_queries" in row else ""
        kinds[row["kind"], row["group"]] = ", ".join(filter(None, (KINDS[row["kind"]], counted)))
    ends: dict[str, tuple[float, float]] = {
        encoder: (low, high)
        for encoder, low, high in values.filter(pl.col("kind") == GROUP)
        .group_by("encoder")
        .agg(low=pl.col("value").quantile(0.025), high=pl.col("value").quantile(0.975))
        .drop_nulls()
        .iter_rows()
    }
    ranges = [
        Range(name, *ends[name], ticks=_of(named, RULE, name), dots=_of(named, EXPERT, name))
        for name in known
        if name in ends
    ]
    rows = [(kinds[key], key[1], cells) for key, cells in named.items()]
    written = {name: interval(*ends.get(name, (None, None))) for name in known}
    return Groups(known, rows, written, ranges, _words(said, values))


def _of(named: dict[tuple[str, str], dict[str, float | None]], kind: str, encoder: str) -> tuple[float, ...]:
    values = [cells.get(encoder) for (of_kind, _), cells in named.items() if of_kind == kind]
    return tuple(value for value in values if value is not None)


def _words(said: ExpertGroupsSummary, values: pl.DataFrame) -> str:
    if said.winner_share is None:
        return "No group drawn from these experts gives an order of the models."
    n_experts = values.filter(pl.col("kind") == EXPERT)["group"].n_unique()
    stays = "every one" if said.winner_share >= 1.0 else f"{percent(said.winner_share, 0)}{NBSP}%"
    drawn = f"{several(said.n_groups, 'group')} of {n_experts} drawn with replacement from these experts"
    return f"{said.winner} stays first in {stays} of {drawn}."
