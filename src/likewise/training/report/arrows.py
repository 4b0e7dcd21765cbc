"""Training as a move in the plane of two questions: from the network before it to the one after it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from likewise.evaluation.ranking import MAIN_NAME
from likewise.report.formatting import percent
from likewise.report.plots.curves import Styles
from likewise.report.plots.palette import INK, SOFT
from likewise.report.plots.svg import draw, spread_labels
from likewise.training.report.training_effects import Arrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (4.9, 3.9)
LABEL_GAP = 0.07  # between names, as a share of the plot's height
MARGIN = 0.18


def trained_plot(arrows: Sequence[Arrow], styles: Styles, measure: str) -> Markup:
    def paint(axes: "Axes") -> None:
        for place, arrow in enumerate(arrows):
            colour = styles[arrow.encoder][0]
            axes.annotate(
                "", arrow.end, xytext=arrow.start, arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.6}
            )
            axes.plot(*arrow.start, color=SOFT, marker="o", markersize=5, linestyle="none")
            axes.plot(*arrow.end, color=colour, marker="o", markersize=3, linestyle="none", zorder=3 + place)
        axes.margins(MARGIN)
        low, high = axes.get_ylim()
        heights = spread_labels([arrow.end[1] for arrow in arrows], LABEL_GAP * (high - low))
        for arrow, height in zip(arrows, heights, strict=True):
            away = arrow.end[0] < arrow.start[0]  # the name stands beyond the tip, where no arrow comes from
            axes.annotate(
                arrow.encoder,
                (arrow.end[0], height),
                xytext=(-7 if away else 7, -3),
                textcoords="offset points",
                ha="right" if away else "left",
                color=INK,
                annotation_clip=False,
            )
        axes.set(xlabel=f"finds the same item: {measure} (%)", ylabel=f"finds what looks alike: {MAIN_NAME} (%)")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{100 * value:g}")

    moves = ", ".join(
        f"{arrow.encoder} from {percent(arrow.start[0])} and {percent(arrow.start[1])} "
        f"to {percent(arrow.end[0])} and {percent(arrow.end[1])}"
        for arrow in arrows
    )
    return draw("trained", SIZE, f"{measure} of identification and {MAIN_NAME}, before and after: {moves}.", paint)
