"""One row per model: a bar from the lowest to the highest value, with dots and ticks on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from likewise.report.formatting import interval, percent
from likewise.report.plots.curves import Styles
from likewise.report.plots.palette import INK, SOFT
from likewise.report.plots.svg import draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 4.8
ROW_HEIGHT = 0.36
CHANCE = 0.5


@dataclass(frozen=True)
class PlotRange:
    """A bar from `low` to `high`; `value` is a filled dot, `dots` are rings, `ticks` upright lines."""

    encoder: str
    low: float
    high: float
    value: float | None = None
    dots: tuple[float, ...] = ()
    ticks: tuple[float, ...] = ()


def range_plot(name: str, rows: Sequence[PlotRange], styles: Styles, what: str) -> Markup:
    """Shares in percent along the x axis; the first row on top."""

    def paint(axes: "Axes") -> None:
        for place, row in enumerate(reversed(rows)):
            colour = styles[row.encoder][0]
            axes.plot([row.low, row.high], [place, place], color=colour, linewidth=6, alpha=0.4)
            if row.value is not None:
                axes.plot(row.value, place, color=colour, marker="o", markersize=6, linestyle="none")
            axes.plot(row.ticks, [place] * len(row.ticks), color=INK, marker="|", markersize=11, linestyle="none")
            axes.plot(
                row.dots,
                [place] * len(row.dots),
                marker="o",
                markersize=5,
                markerfacecolor="none",
                markeredgecolor=colour,
                markeredgewidth=1.3,
                linestyle="none",
            )
        left, right = axes.get_xlim()
        if left <= CHANCE <= right:
            axes.axvline(CHANCE, color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)))
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_yticks(range(len(rows)), [row.encoder for row in reversed(rows)], color=INK)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"{what} (%)")
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")

    spoken = "; ".join(
        f"{row.encoder} {interval(row.low, row.high)}" + ("" if row.value is None else f", now {percent(row.value)}")
        for row in rows
    )
    return draw(name, (WIDTH, 0.75 + ROW_HEIGHT * len(rows)), f"{what} in percent, as ranges: {spoken}.", paint)
