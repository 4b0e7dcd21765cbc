"""Cells of the tables of `papers.md`: numbers as the papers print them, and columns of what the runs gave."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import polars as pl

HERE = Path(__file__).parent
MAIN, CONCATENATED, SEPARATED = "MAP@R", "concatenated", "separated"
OTHER_DATA = "other data and other models"
BEFORE_TUNING = "efficientnet-lite0_size-64"
Row = tuple[str, str, str, str, str]
VsdRow = tuple[str, ...]
"""As a row, with a column for photographs and one for the wardrobe."""


def published(name: str) -> pl.DataFrame:
    return pl.read_csv(HERE / "published" / f"{name}.csv")


def percent(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f}"


def ends(values: Sequence[float], digits: int = 1) -> str:
    """`62.3–75.5`, or `62.3` of one value."""
    return "–".join(f"{value:.{digits}f}" for value in ((min(values), max(values)) if len(values) > 1 else values))


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def column(
    rows: Sequence[dict[str, Any]], name: str, group: str | None = None, names: Collection[str] | None = None
) -> list[float]:
    """Numbers of a column in percent, of one group of models, or of some of it."""
    kept = [row for row in rows if group in (None, row.get("group")) and (names is None or row["encoder"] in names)]
    return [100 * row[name] for row in kept if row[name] is not None]


def known(rows: Sequence[dict[str, Any]], name: str) -> list[float]:
    return [row[name] for row in rows if row[name] is not None]
