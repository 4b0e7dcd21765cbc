"""ROC and precision-recall curves of every model, named beside the plot in the order of their areas."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from likewise.report.formatting import NBSP, percent, plural
from likewise.report.plots.palette import SOFT, Dash
from likewise.report.plots.svg import draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (4.6, 4.1)
LINE_HEIGHT = 0.056
MAX_NAMES = 7  # more would cover the plot
OTHERS: tuple[str, Dash] = (SOFT, "solid")
Styles = Mapping[str, tuple[str, Dash]]
Areas = Mapping[str, float | None]


def roc_plot(curves: pl.DataFrame, areas: Areas, styles: Styles) -> Markup:
    def paint(axes: "Axes") -> None:
        axes.plot([0, 1], [0, 1], color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)))
        _lines(axes, curves.filter(pl.col("curve") == "roc"), areas, styles)
        _frame(axes, "false positive rate (%)", "true positive rate (%)")
        _names(axes, areas, styles, at_top=False)

    return draw("roc", SIZE, f"ROC curves. {_alt_text(areas)}", paint)


def pr_plot(curves: pl.DataFrame, areas: Areas, styles: Styles, positive_share: float | None) -> Markup:
    def paint(axes: "Axes") -> None:
        if positive_share is not None:
            axes.axhline(positive_share, color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)))
        _lines(axes, curves.filter(pl.col("curve") == "pr"), areas, styles)
        _frame(axes, "recall (%)", "precision (%)")
        high = positive_share is not None and positive_share > 0.5
        _names(axes, areas, styles, at_top=not high)

    return draw("pr", SIZE, f"Precision-recall curves. {_alt_text(areas)}", paint)


def _lines(axes: "Axes", curves: pl.DataFrame, areas: Areas, styles: Styles) -> None:
    """The best model is drawn last, on top; those without a name in the plot stay in the background."""
    ordered = _ordered(areas)
    for place, encoder in reversed(list(enumerate(ordered))):
        points = curves.filter(pl.col("encoder") == encoder)
        colour, dash = styles[encoder] if place < MAX_NAMES else OTHERS
        width = 1.5 if place < MAX_NAMES else 0.7
        axes.plot(points["x"].to_list(), points["y"].to_list(), color=colour, linestyle=dash, linewidth=width)


def _ordered(areas: Areas) -> list[str]:
    return sorted(areas, key=lambda name: (-(areas[name] or 0.0), name))


def _names(axes: "Axes", areas: Areas, styles: Styles, *, at_top: bool) -> None:
    """A column of names with their lines, at the right, in the corner that curves leave empty."""
    ordered = _ordered(areas)
    rows = [(f"{name}{NBSP}{NBSP}{percent(areas[name])}", *styles[name], 1.7) for name in ordered[:MAX_NAMES]]
    if len(ordered) > MAX_NAMES:
        rows.append((plural(len(ordered) - MAX_NAMES, "other"), *OTHERS, 0.7))
    first = 0.98 if at_top else 0.03 + LINE_HEIGHT * len(rows)
    for place, (text, colour, dash, width) in enumerate(rows):
        height = first - LINE_HEIGHT * (place + 0.5)
        axes.plot([0.915, 0.98], [height, height], color=colour, linestyle=dash, linewidth=width)
        axes.text(0.895, height, text, ha="right", va="center")


def _frame(axes: "Axes", x: str, y: str) -> None:
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set(xlim=(0, 1), ylim=(0, 1.01), xlabel=x, ylabel=y, xticks=ticks, yticks=ticks)
    axes.set_xticklabels([f"{100 * tick:.0f}" for tick in ticks])
    axes.set_yticklabels([f"{100 * tick:.0f}" for tick in ticks])


def _alt_text(areas: Areas) -> str:
    return "Areas in percent: " + ", ".join(f"{name} {percent(areas[name])}" for name in _ordered(areas)) + "."
