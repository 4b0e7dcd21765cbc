"""Identification against discovery: one point per model, with its interval in both directions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from likewise.evaluation.ranking import MAIN_NAME
from likewise.report.formatting import percent
from likewise.report.identification import IdentificationPoint
from likewise.report.plots.curves import Styles
from likewise.report.plots.svg import draw, spread_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (4.9, 3.9)
LABEL_GAP = 0.06  # between names at the right, as a share of the plot's height


def identification_plot(points: Sequence[IdentificationPoint], styles: Styles, measure: str) -> Markup:
    def paint(axes: "Axes") -> None:
        for point in points:
            (x, x_low, x_high), (y, y_low, y_high) = point.x, point.y
            colour = styles[point.encoder][0]
            axes.plot([x_low, x_high], [y, y], color=colour, linewidth=1.2, alpha=0.55)
            axes.plot([x, x], [y_low, y_high], color=colour, linewidth=1.2, alpha=0.55)
            axes.plot(x, y, color=colour, marker="o", markersize=6, linestyle="none")
        low, high = axes.get_ylim()
        heights = spread_labels([point.y[0] for point in points], LABEL_GAP * (high - low))
        for point, height in zip(points, heights, strict=True):
            axes.annotate(
                point.encoder,
                (point.x[0], height),
                xytext=(7, 7),
                textcoords="offset points",
                annotation_clip=False,
                zorder=5,
            )
        axes.set(xlabel=f"finds the same item: {measure} (%)", ylabel=f"finds what looks alike: {MAIN_NAME} (%)")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{100 * value:g}")

    spoken = ", ".join(f"{point.encoder} {percent(point.x[0])} and {percent(point.y[0])}" for point in points)
    return draw("identification", SIZE, f"{measure} of identification and {MAIN_NAME} in percent: {spoken}.", paint)
