"""What every call of the API returns: a table with a title and a note, which shows itself in a terminal or notebook."""

from dataclasses import dataclass
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from likewise.api.plots import Interval, interval_plot, line_plot
from likewise.errors import LikewiseError
from likewise.intervals import few_queries_note
from likewise.lineage.guard import MARK

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MAX_ROWS_SHOWN = 20
MAX_WIDTH_SHOWN = 100  # characters of a row: the measures that do not fit are named below the table


@dataclass(frozen=True, repr=False)
class TableResult:
    """`table` holds every number unrounded (polars); `repr` and `_repr_html_` show the short form."""

    table: pl.DataFrame
    title: str
    note: str = ""

    def to_pandas(self) -> "pd.DataFrame":
        """The whole table as a pandas DataFrame; pyarrow is not needed."""
        return to_pandas(self.table)

    def plot(self) -> "Figure":
        """A picture, where a picture says more than the table."""
        raise LikewiseError(
            f"{type(self).__name__} has no plot: look at .table, or .to_pandas() for a library of yours."
        )

    def short_table(self) -> pl.DataFrame:
        """What `repr` shows, as text."""
        return self.table

    def not_shown(self) -> str:
        """What the short form leaves out."""
        n_more = len(self.short_table()) - MAX_ROWS_SHOWN
        return f"... and {n_more:,} more rows in .table" if n_more > 0 else ""

    def __repr__(self) -> str:
        parts = (self.title, _as_text(self.short_table()), self.not_shown(), self.note)
        return "\n".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        shown = self.short_table()
        cells = "".join(
            f"<tr>{''.join(f'<td>{escape(_cell(value))}</td>' for value in row)}</tr>"
            for row in shown.head(MAX_ROWS_SHOWN).iter_rows()
        )
        head = "".join(f"<th>{escape(name)}</th>" for name in shown.columns)
        left_out = self.not_shown()
        more = f"<p>{escape(left_out)}</p>" if left_out else ""
        return (
            f"<div><p><strong>{escape(self.title)}</strong></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>{more}"
            f"<p>{escape(self.note)}</p></div>"
        )


@dataclass(frozen=True, repr=False, kw_only=True)
class IntervalResult(TableResult):
    """A row per model (or method) and measure, with `value`, `low` and `high`: models down, measures across."""

    name_column: str = "encoder"
    main_measure: str | None = None
    """The measure that a plot shows and rows are sorted by; the first of the table, in its order, by default."""

    def shown_rows(self) -> pl.DataFrame:
        """The rows that `repr` and `plot` are about."""
        return self.table

    @property
    def measures(self) -> list[str]:
        found = self.shown_rows()["measure"].unique(maintain_order=True).to_list()
        main = self.main_measure
        return found if main is None else [main, *(name for name in found if name != main)]

    @property
    def names(self) -> list[str]:
        """The models: best first by the main measure, else in the order of the table; learned ones last."""
        rows = self.shown_rows()
        if self.main_measure is not None:
            rows = rows.filter(measure=self.main_measure).sort("value", descending=True, nulls_last=True)
        found = rows[self.name_column].unique(maintain_order=True).to_list()
        return sorted(found, key=lambda name: name in self.learned)

    @property
    def learned(self) -> set[str]:
        """Models that know the answers: their numbers say how well they remember."""
        rows = self.shown_rows()
        return set(rows.filter(pl.col("learned"))[self.name_column]) if "learned" in rows.columns else set()

    def short_table(self) -> pl.DataFrame:
        """The first measures, as many as fit in a line."""
        full = self._text_table()
        widths = [_width(full, name) for name in full.columns]
        n_shown = sum(total <= MAX_WIDTH_SHOWN for total in accumulate(width + 2 for width in widths))
        return full[:, : max(n_shown, 2)]

    def not_shown(self) -> str:
        left_out = self.measures[self.short_table().width - 1 :]
        more = f"also in .table: {', '.join(left_out)}" if left_out else ""
        return "\n".join(part for part in (super().not_shown(), more) if part)

    def plot(self, measure: str | None = None) -> "Figure":
        """Every model's value of one measure with its interval."""
        shown = self.measures[0] if measure is None else measure
        cells = self._cells().get(shown)
        if cells is None:
            raise LikewiseError(f"{shown} was not measured: choose from {', '.join(self.measures)}.")
        return interval_plot({name: cells[name] for name in self.names if name in cells}, f"{shown} (%)")

    def _text_table(self) -> pl.DataFrame:
        """Models down, measures across, as text."""
        cells = self._cells()
        return pl.DataFrame(
            [
                {self.name_column: f"{name} {MARK}" if name in self.learned else name}
                | {measure: percent_interval(*found[name]) for measure, found in cells.items() if name in found}
                for name in self.names
            ]
        )

    def _cells(self) -> dict[str, dict[str, Interval]]:
        """Value and interval by measure and model."""
        columns = self.shown_rows().select("measure", self.name_column, "value", "low", "high")
        found: dict[str, dict[str, Interval]] = {measure: {} for measure in self.measures}
        for measure, name, *interval in columns.iter_rows():
            found[measure].setdefault(name, tuple(interval))
        return found


@dataclass(frozen=True, repr=False, kw_only=True)
class CurveResult(TableResult):
    """How a training went: a row per step or epoch; `folder` holds what it left."""

    folder: Path
    x: str = "step"
    y: tuple[str, ...] = ("loss",)

    def short_table(self) -> pl.DataFrame:
        """The first and the last row."""
        return self.table[[0, -1]] if len(self.table) > 1 else self.table

    def plot(self) -> "Figure":
        """The curve."""
        lines = {name: self.table[name].to_list() for name in self.y}
        return line_plot(self.table[self.x].to_list(), lines, self.x, ", ".join(self.y))


def to_pandas(table: pl.DataFrame) -> "pd.DataFrame":
    try:
        import pandas as pd
    except ImportError as error:
        raise LikewiseError("pandas is not installed: `pip install pandas`, or use .table (polars).") from error
    return pd.DataFrame(table.to_dict(as_series=False), columns=table.columns)


def few_queries(n_queries: int, unit: str = "queries") -> str:
    """The end of a note about intervals where few queries stand behind them."""
    note = few_queries_note(n_queries, unit)
    return f"; {note}" if note else ""


def percent(value: float | None) -> str:
    """A share as people read it: 82.3."""
    return "–" if value is None else f"{100 * value:.1f}"


def percent_interval(value: float | None, low: float | None, high: float | None) -> str:
    """82.3 (79.4–85.2)"""
    return percent(value) if low is None or high is None else f"{percent(value)} ({percent(low)}–{percent(high)})"


def _as_text(table: pl.DataFrame) -> str:
    shown = [table.columns, *([_cell(value) for value in row] for row in table.head(MAX_ROWS_SHOWN).iter_rows())]
    widths = [_width(table, name) for name in table.columns]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown
    )


def _width(table: pl.DataFrame, name: str) -> int:
    """Of a column, in characters."""
    return max(len(name), *(len(_cell(value)) for value in table[name].head(MAX_ROWS_SHOWN)), 0)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
