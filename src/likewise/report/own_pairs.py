"""Each generator with the pairs that it proposed left out, for the section about generators."""

from dataclasses import dataclass

import polars as pl

from likewise.evaluation.measures import AP, ROC_AUC, heading
from likewise.evaluation.ranking import MAIN

SHOWN = tuple(map(str, (MAIN, ROC_AUC, AP)))


@dataclass(frozen=True)
class Move:
    """A value over all labels, and what it becomes."""

    value: float | None
    without_own: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class OwnPairs:
    headings: list[tuple[str, str]]
    generators: dict[str, list[Move]]
    n_left: dict[str, int]


def own_pairs(table: pl.DataFrame | None) -> OwnPairs | None:
    """None where no generator was measured, or an older evaluation did not ask."""
    if table is None or table.is_empty():
        return None
    names = [name for name in SHOWN if name in set(table["measure"])]
    cells = {(row["encoder"], row["measure"]): row for row in table.iter_rows(named=True)}
    encoders = table["encoder"].unique(maintain_order=True).to_list()
    columns = ("value", "without_own", "low", "high")
    return OwnPairs(
        [heading(name) for name in names],
        {each: [Move(*(cells[each, name][column] for column in columns)) for name in names] for each in encoders},
        dict(table.select("encoder", "n_pairs").iter_rows()),
    )
