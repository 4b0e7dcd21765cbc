"""What every call of the API returns: a table with a title and a note, which shows itself in a terminal or notebook."""

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from likewise.errors import LikewiseError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MAX_ROWS_SHOWN = 20


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
        """A picture of the table, where a picture says more."""
        raise LikewiseError(
            f"{type(self).__name__} has no plot: look at .table, or .to_pandas() for a library of yours."
        )

    def short_table(self) -> pl.DataFrame:
        """What `repr` shows, as text."""
        return self.table

    def __repr__(self) -> str:
        return "\n".join(part for part in (self.title, _as_text(self.short_table()), self.note) if part)

    def _repr_html_(self) -> str:
        shown = self.short_table()
        cells = "".join(
            f"<tr>{''.join(f'<td>{escape(_cell(value))}</td>' for value in row)}</tr>"
            for row in shown.head(MAX_ROWS_SHOWN).iter_rows()
        )
        head = "".join(f"<th>{escape(name)}</th>" for name in shown.columns)
        more = f"<p>{_more(shown)}</p>" if len(shown) > MAX_ROWS_SHOWN else ""
        return (
            f"<div><p><strong>{escape(self.title)}</strong></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>{more}"
            f"<p>{escape(self.note)}</p></div>"
        )


def to_pandas(table: pl.DataFrame) -> "pd.DataFrame":
    try:
        import pandas as pd
    except ImportError as error:
        raise LikewiseError("pandas is not installed: `pip install pandas`, or use .table (polars).") from error
    return pd.DataFrame(table.to_dict(as_series=False), columns=table.columns)


def percent(value: float | None) -> str:
    """A share as people read it: 82.3."""
    return "–" if value is None else f"{100 * value:.1f}"


def percent_interval(value: float | None, low: float | None, high: float | None) -> str:
    """82.3 (79.4–85.2)"""
    return percent(value) if low is None or high is None else f"{percent(value)} ({percent(low)}–{percent(high)})"


def _as_text(table: pl.DataFrame) -> str:
    shown = [table.columns, *([_cell(value) for value in row] for row in table.head(MAX_ROWS_SHOWN).iter_rows())]
    widths = [max(len(row[column]) for row in shown) for column in range(table.width)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown]
    return "\n".join([*lines, _more(table)] if len(table) > MAX_ROWS_SHOWN else lines)


def _more(table: pl.DataFrame) -> str:
    return f"... and {len(table) - MAX_ROWS_SHOWN:,} more rows in .table"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
