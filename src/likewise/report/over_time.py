"""The section on a catalog that lives: each model's line over its versions, what it cost, and what really changed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from likewise.evaluation.over_time import main_over_time, read_over_time, value_changes
from likewise.report.formatting import percent
from likewise.report.plots.curves import Styles
from likewise.report.plots.svg import draw
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (7.4, 3.6)
APART = 0.06  # of the distance between two versions
LINE_HEIGHT = 0.055  # of the plot, for a name


@dataclass(frozen=True)
class VersionRow:
    """One version of the catalog with the value of every model."""

    version: int
    called: str
    n_images: int
    n_labels: int
    n_new_labels: int | None
    values_of: dict[str, tuple[float, float, float]]


@dataclass(frozen=True)
class OverTime:
    """None of it before there are two points in time."""

    measure: str
    about: str
    encoders: list[str]
    rows: list[VersionRow]
    sentences: list[str]
    plot: Markup


def over_time(workspace: WorkspaceFolder, styles: Styles) -> OverTime | None:
    """The section, where at least two versions were evaluated."""
    table = main_over_time(read_over_time(workspace)).filter(pl.col("encoder").is_in(list(styles)))
    if table["version"].n_unique() < 2:
        return None
    encoders = table["encoder"].unique().sort().to_list()
    rows = [_row(part) for part in table.sort("version").partition_by("version", maintain_order=True)]
    changes = [each for each in value_changes(table) if each.real]
    sentences = [
        f"{each.encoder} {'rose' if each.difference > 0 else 'fell'} by {percent(abs(each.difference))} points from "
        f"version {each.before} to {each.after} (95 % interval {percent(smaller)}–{percent(larger)})."
        for each in changes
        for smaller, larger in [sorted((abs(each.low), abs(each.high)))]
    ] or ["No model's value changed beyond its interval."]
    about, measure = table["about"][0], table["measure"][0]
    return OverTime(measure, about, encoders, rows, sentences, _plot(table, rows, styles, measure))


def _row(part: pl.DataFrame) -> VersionRow:
    first = part.row(0, named=True)
    values = {row["encoder"]: (row["value"], row["low"], row["high"]) for row in part.iter_rows(named=True)}
    called = first["name"] or first["date"]
    return VersionRow(first["version"], called, first["n_images"], first["n_labels"], first["n_new_labels"], values)


def _plot(table: pl.DataFrame, rows: list[VersionRow], styles: Styles, measure: str) -> Markup:
    place = {row.version: number for number, row in enumerate(rows)}
    encoders = table.sort("version").group_by("encoder", maintain_order=True).last().sort("value")["encoder"].to_list()
    step = min(APART, 0.3 / max(1, len(encoders)))  # beside each other, so that no interval hides another

    def paint(axes: "Axes") -> None:
        span = float(table["high"].max()) - float(table["low"].min())  # type: ignore[arg-type]
        lowest = float("-inf")
        for number, encoder in enumerate(encoders):
            mine = table.filter(pl.col("encoder") == encoder).sort("version")
            colour, dash = styles[encoder]
            at = [place[version] + step * (number - (len(encoders) - 1) / 2) for version in mine["version"]]
            axes.vlines(at, mine["low"].to_list(), mine["high"].to_list(), color=colour, linewidth=1.2)
            axes.plot(at, mine["value"].to_list(), color=colour, linestyle=dash, marker="o", markersize=4)
            lowest = max(mine["value"][-1], lowest + LINE_HEIGHT * span)  # names do not cover each other
            axes.annotate(
                encoder, (place[mine["version"][-1]], lowest), xytext=(24, 0), textcoords="offset points", va="center"
            )
        axes.set_xlim(-0.2, len(rows) - 1 + 0.28 * len(rows))
        axes.set_xticks(range(len(rows)), [f"{row.version}\n{row.called}" for row in rows])
        axes.set(xlabel="version of the catalog", ylabel=f"{measure} (%)")
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")

    return draw("over-time", SIZE, f"{measure} of every model in each version of the catalog.", paint)
