"""Groups of bars with whiskers: one group per score, one bar per model, a dashed line at chance level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from likewise.report.formatting import interval, percent
from likewise.report.plots.curves import Styles
from likewise.report.plots.palette import INK, SOFT
from likewise.report.plots.svg import draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GROUP_WIDTH = 0.8


@dataclass(frozen=True)
class ScoreBar:
    """A share and its interval."""

    value: float
    low: float
    high: float


def bar_plot(
    name: str,
    groups: Sequence[str],
    bars: Mapping[str, Mapping[str, ScoreBar]],
    chance: Mapping[str, float],
    styles: Styles,
    what: str,
    size: tuple[float, float] = (5.2, 3.6),
) -> Markup:
    """`bars` by model and group; groups along the x axis."""

    def paint(axes: "Axes") -> None:
        width = GROUP_WIDTH / max(1, len(bars))
        for place, (model, mine) in enumerate(bars.items()):
            for at, group in enumerate(groups):
                if group not in mine:
                    continue
                bar, x = mine[group], at - GROUP_WIDTH / 2 + (place + 0.5) * width
                colour = styles[model][0]
                axes.bar(x, bar.value, 0.9 * width, color=colour, alpha=0.75, label=model if at == 0 else None)
                axes.plot([x, x], [bar.low, bar.high], color=INK, linewidth=1.0)
        for at, group in enumerate(groups):
            if group in chance:
                ends = [at - GROUP_WIDTH / 2, at + GROUP_WIDTH / 2]
                axes.plot(ends, [chance[group]] * 2, color=SOFT, linewidth=1.1, linestyle=(0, (2, 2)))
        axes.set_xticks(range(len(groups)), groups, color=INK)
        axes.set_ylim(0, 1)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel(f"{what} (%)")
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=min(3, len(bars)), frameon=False, fontsize=8)

    spoken = "; ".join(
        f"{model}: "
        + ", ".join(
            f"{group} {percent(mine[group].value)} ({interval(mine[group].low, mine[group].high)})"
            for group in groups
            if group in mine
        )
        for model, mine in bars.items()
    )
    return draw(name, size, f"{what} in percent. {spoken}.", paint)
