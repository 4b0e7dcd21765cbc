"""Figure 5 and Table 4: each judge's curve over the epochs, its choice circled, and the chosen models measured."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from likewise.outfits.checkpoints import JUDGES, CheckpointComparison, count_wins
from likewise.outfits.judge_test import JudgeComparison
from likewise.report.formatting import percent
from likewise.report.page import render
from likewise.report.plots.palette import INK, MODEL_LIGHT
from likewise.report.plots.svg import draw
from likewise.workspace import write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.4, 3.6)


def write_checkpoints_page(made: CheckpointComparison, folder: Path, name: str, compared: JudgeComparison) -> Path:
    """Write index.html into the folder and return its path."""
    tests = made.table["test"].unique(maintain_order=True).to_list()
    cells = {(row["judge"], row["test"]): row for row in made.table.iter_rows(named=True)}
    best = {test: max((cells[j, test]["value"] or 0.0) for j in made.chosen) for test in tests}
    page = render(
        "checkpoints.html",
        package="likewise.outfits.report",
        name=name,
        tests=tests,
        judges=JUDGES,
        chosen=made.chosen,
        cells=cells,
        best=best,
        won={judge: count_wins(made.table, judge) for judge in made.chosen if judge != "validation"},
        curves=curves_plot(made),
        power=compared.describe_power(),
        compared=compared.table.to_dicts() if compared.tested else [],
    )
    path = folder / "index.html"
    write_text(page, path)
    return path


def curves_plot(made: CheckpointComparison) -> Markup:
    """Every judge's opinion of every epoch."""
    lines = {
        judge: made.curves.filter(pl.col("name") == judge).sort("epoch").select("epoch", "value").rows()
        for judge in made.chosen
    }
    losses = lines.pop("loss", [])

    def paint(axes: "Axes") -> None:
        for place, (judge, points) in enumerate(lines.items()):
            colour = MODEL_LIGHT[place]
            axes.plot([e for e, _ in points], [v for _, v in points], color=colour, label=JUDGES[judge])
            top = dict(points)[made.chosen[judge]]
            axes.plot(made.chosen[judge], top, marker="o", markersize=11, markerfacecolor="none", color=INK)
        axes.set(xlabel="epoch", ylabel="right answers (%)")
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
        if losses:
            axes.axvline(made.chosen["loss"], color=INK, linestyle=":", label=f"least {JUDGES['loss']}")
        axes.legend(frameon=False, loc="lower right", fontsize=8)

    spoken = "; ".join(
        f"{JUDGES[judge]} likes epoch {made.chosen[judge]} best ({percent(dict(points)[made.chosen[judge]])})"
        for judge, points in lines.items()
    )
    if losses:
        spoken += f"; {JUDGES['loss']} is least after epoch {made.chosen['loss']}"
    return draw("checkpoints", SIZE, f"Right answers after each epoch, in percent. {spoken}.", paint)
