"""The page of an ablation, `runs/<name>/ablation.html`: one plot, one table."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from likewise.report.formatting import interval, percent
from likewise.report.page import render
from likewise.report.plots.palette import INK, MODEL_LIGHT, SOFT
from likewise.report.plots.svg import draw
from likewise.training.ablation import AS_PLANNED, AblationResult
from likewise.training.differences import MAIN
from likewise.workspace import write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EMBEDDING = "separated"
ROW_HEIGHT = 0.32


def write_ablation_page(done: AblationResult, workspace: str) -> Path:
    """Write the page beside the table."""
    shown = done.table.filter(pl.col("measure") == MAIN, pl.col("embedding") == EMBEDDING)
    page = render(
        "ablation.html",
        package="likewise.training.report",
        workspace=workspace,
        run=done.run.name,
        plots=[
            (method, ablation_plot(rows, method)) for (method,), rows in shown.group_by("method", maintain_order=True)
        ],
        rows=[{**row, "name": setting_name(row["factor"], row["setting"])} for row in shown.iter_rows(named=True)],
        n_reruns=int(shown["n_reruns"].max() or 0),  # type: ignore[arg-type]
        notes=done.notes,
    )
    write_text(page, done.run.path / "ablation.html")
    return done.run.path / "ablation.html"


def setting_name(factor: str, setting: str) -> str:
    """As rows are called: `crops: central`."""
    return f"{factor}: {setting}" if factor else setting


def ablation_plot(rows: pl.DataFrame, method: str) -> Markup:
    """One row per setting; the dashed line is the plan."""
    planned = rows.filter(pl.col("setting") == AS_PLANNED)["value"].to_list()

    def paint(axes: "Axes") -> None:
        for place, row in enumerate(reversed(rows.to_dicts())):
            colour = MODEL_LIGHT[0] if row["significant"] or not row["factor"] else MODEL_LIGHT[1]
            if row["low"] is not None:
                axes.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=5, alpha=0.35)
            axes.plot(row["value"], place, color=colour, marker="o", markersize=6, linestyle="none")
        for value in planned:
            axes.axvline(value, color=SOFT, linewidth=0.9, linestyle=(0, (3, 2)))
        names = [setting_name(row["factor"], row["setting"]) for row in reversed(rows.to_dicts())]
        axes.set_yticks(range(len(names)), names, color=INK)
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.grid(visible=False, axis="y")
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
        axes.set_xlabel(f"{method}: {MAIN} on test classes, {EMBEDDING} (%)")

    spoken = "; ".join(
        f"{setting_name(row['factor'], row['setting'])} {percent(row['value'])}"
        + ("" if row["low"] is None else f" ({interval(row['low'], row['high'])})")
        for row in rows.iter_rows(named=True)
    )
    return draw(f"ablation {method}", (6.4, 0.8 + ROW_HEIGHT * len(rows)), f"{MAIN} in percent. {spoken}.", paint)
