"""Figure 1 of A100: one spoke per dimension, one line per model, the chance level as a dashed ring."""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import TYPE_CHECKING

from markupsafe import Markup

from likewise.report.formatting import percent
from likewise.report.plots.curves import Styles
from likewise.report.plots.palette import INK, RULE, SOFT
from likewise.report.plots.svg import draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (4.9, 4.3)
RINGS = (0.25, 0.5, 0.75, 1.0)
FILL = 0.07


def radar_plot(
    spokes: Sequence[str],
    values: Mapping[str, Sequence[float | None]],
    chance: Sequence[float | None],
    styles: Styles,
) -> Markup:
    """Shares from 0 in the middle to 1 at the rim; a model's undefined index counts as 0 and is spoken of as a dash."""
    angles = [pi / 2 - 2 * pi * place / len(spokes) for place in range(len(spokes))]

    def ring(reach: Sequence[float | None]) -> tuple[list[float], list[float]]:
        points = [((r or 0.0) * cos(a), (r or 0.0) * sin(a)) for r, a in zip(reach, angles, strict=True)]
        points.append(points[0])
        return [x for x, _ in points], [y for _, y in points]

    def paint(axes: "Axes") -> None:
        for level in RINGS:
            axes.plot(*ring([level] * len(spokes)), color=RULE, linewidth=0.8)
            axes.annotate(f"{100 * level:.0f}", (0.012, level), fontsize=6.5, color=SOFT, ha="left", va="bottom")
        for name, angle in zip(spokes, angles, strict=True):
            axes.plot([0, cos(angle)], [0, sin(angle)], color=RULE, linewidth=0.8)
            side = "center" if abs(cos(angle)) < 0.1 else "left" if cos(angle) > 0 else "right"
            axes.annotate(name, (1.09 * cos(angle), 1.1 * sin(angle)), ha=side, va="center", color=INK)
        axes.plot(*ring(chance), color=SOFT, linewidth=1.1, linestyle=(0, (2, 2)))
        for model, reach in values.items():
            colour, dash = styles[model]
            axes.plot(*ring(reach), color=colour, linestyle=dash, marker="o", markersize=3.2, label=model)
            axes.fill(*ring(reach), color=colour, alpha=FILL, linewidth=0)
        axes.set(xlim=(-1.35, 1.35), ylim=(-1.2, 1.2), aspect="equal")
        axes.set_axis_off()
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=min(3, len(values)), frameon=False, fontsize=8)

    spoken = "; ".join(
        f"{model}: " + ", ".join(f"{spoke} {percent(value)}" for spoke, value in zip(spokes, reach, strict=True))
        for model, reach in values.items()
    )
    return draw("radar", SIZE, f"Index of each dimension in percent. {spoken}.", paint)
