"""Every model's value by the number of experts: the mean over groups of so many, and where 95 % of them lie."""

from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from likewise.report.formatting import percent, plural
from likewise.report.plots.curves import Styles
from likewise.report.plots.svg import draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (4.8, 3.4)


def expert_count_plot(rows: pl.DataFrame, styles: Styles, what: str) -> Markup:
    """From rows with `group` (the number of experts), `encoder`, `value`, `low` and `high`; best model first."""
    numbered = rows.drop_nulls("value").with_columns(pl.col("group").cast(pl.Int64)).sort("group")
    lines = {name: numbered.filter(encoder=name) for name in numbered["encoder"].unique()}
    ordered = sorted(lines, key=lambda name: (-float(lines[name]["value"][-1]), name))

    def paint(axes: "Axes") -> None:
        from matplotlib.ticker import MaxNLocator

        for name in ordered:
            colour, dash = styles[name]
            line = lines[name]
            axes.fill_between(line["group"], line["low"], line["high"], color=colour, alpha=0.15, linewidth=0)
            axes.plot(line["group"], line["value"], color=colour, linestyle=dash, marker="o", markersize=3, label=name)
        axes.set(xlabel="number of experts", ylabel=f"{what} (%)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))

    ends = [
        f"{name} from {percent(lines[name]['value'][0])} to {percent(lines[name]['value'][-1])}" for name in ordered
    ]
    most = plural(int(numbered["group"].max()), "expert")  # type: ignore[arg-type]
    return draw("experts", SIZE, f"{what} in percent, from one expert to {most}: {'; '.join(ends)}.", paint)
