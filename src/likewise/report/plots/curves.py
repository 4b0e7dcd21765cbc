"""ROC and precision-recall curves of every model, named beside the plot in the order of their areas."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from likewise.report.numbers import percent
from likewise.report.plots.palette import SOFT, Dash
from likewise.report.plots.svg import draw, halo

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (4.6, 4.1)
LINE_HEIGHT = 0.056
MOST_NAMES = 12  # more would cover the plot
Styles = Mapping[str, tuple[str, Dash]]


def roc_plot(curves: pl.DataFrame, areas: Mapping[str, float | None], styles: Styles) -> Markup:
    def paint(axes: "Axes") -> None:
        axes.plot([0, 1], [0, 1], color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)))
        _lines(axes, curves.filter(pl.col("curve") == "roc"), areas, styles)
        _frame(axes, "dissimilar pairs let through (%)", "similar pairs found (%)")
        _names(axes, areas, styles, right=0.98, top=None)

    return draw("roc", SIZE, f"ROC curves. {_spoken(areas)}", paint)


def pr_plot(
    curves: pl.DataFrame, areas: Mapping[str, float | None], styles: Styles, positive_share: float | None
) -> Markup:
    def paint(axes: "Axes") -> None:
        if positive_share is not None:
            axes.axhline(positive_share, color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)))
        _lines(axes, curves.filter(pl.col("curve") == "pr"), areas, styles)
        _frame(axes, "similar pairs found (recall, %)", "similar among those listed (precision, %)")
        high = positive_share is not None and positive_share > 0.5
        _names(axes, areas, styles, right=0.98, top=None if high else 0.98)

    return draw("pr", SIZE, f"Precision-recall curves. {_spoken(areas)}", paint)


def _lines(axes: "Axes", curves: pl.DataFrame, areas: Mapping[str, float | None], styles: Styles) -> None:
    """The best model is drawn last, on top."""
    for encoder in reversed(_ordered(areas)):
        points = curves.filter(pl.col("encoder") == encoder)
        colour, dash = styles[encoder]
        axes.plot(points["x"].to_list(), points["y"].to_list(), color=colour, linestyle=dash, linewidth=1.5)


def _ordered(areas: Mapping[str, float | None]) -> list[str]:
    return sorted(areas, key=lambda name: (-(areas[name] or 0.0), name))


def _names(axes: "Axes", areas: Mapping[str, float | None], styles: Styles, right: float, top: float | None) -> None:
    """A column of names in the empty corner: at the top if `top` is given, else at the bottom."""
    names = _ordered(areas)[:MOST_NAMES]
    first = top if top is not None else 0.03 + LINE_HEIGHT * len(names)
    for place, name in enumerate(names):
        colour, dash = styles[name]
        height = first - LINE_HEIGHT * (place + 0.5)
        axes.plot([right - 0.065, right], [height, height], color=colour, linestyle=dash, clip_on=False)
        axes.text(
            right - 0.085,
            height,
            f"{name}  {percent(areas[name])}",
            ha="right",
            va="center",
            path_effects=halo(),
        )


def _frame(axes: "Axes", x: str, y: str) -> None:
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set(xlim=(0, 1), ylim=(0, 1.01), xlabel=x, ylabel=y, xticks=ticks, yticks=ticks)
    axes.set_xticklabels([f"{100 * tick:.0f}" for tick in ticks])
    axes.set_yticklabels([f"{100 * tick:.0f}" for tick in ticks])


def _spoken(areas: Mapping[str, float | None]) -> str:
    return "Areas in percent: " + ", ".join(f"{name} {percent(areas[name])}" for name in _ordered(areas)) + "."
