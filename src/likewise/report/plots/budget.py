"""Yield against cost, and how faithful a pool is to the order of the models, for every k and number of generators."""

from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from likewise.report.formatting import format_amount, plural
from likewise.report.plots.palette import INK, SOFT, step_colour
from likewise.report.plots.svg import draw, spread_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (4.9, 3.7)
LABEL_GAP = 0.046  # between labels at the right, as a share of the plot's height


def yield_plot(lines: pl.DataFrame, pool: tuple[float, float] | None) -> Markup:
    """Expected similar pairs against hours: one line per number of generators (its best set), a point per k."""

    def paint(axes: "Axes") -> None:
        _ordered_lines(axes, lines, "hours", "expected_positives")
        _k_labels(axes, lines)
        if pool:
            axes.plot(*pool, marker="o", markersize=11, markerfacecolor="none", markeredgecolor=INK, linestyle="none")
            axes.annotate(
                "this pool",
                pool,
                xytext=(30, -30),
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 5},
                zorder=5,
            )
        axes.set(xlabel="hours of labelling per expert", ylabel="similar pairs expected")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)

    best = lines.row(-1, named=True)
    spoken = (
        f"Expected similar pairs against hours. With {plural(best['n_generators'], 'generator')} and k = {best['k']}: "
        f"{best['expected_positives']:.0f} pairs in {format_amount(best['hours'])} hours."
    )
    return draw("yield", SIZE, spoken, paint)


def spearman_plot(table: pl.DataFrame) -> Markup:
    def paint(axes: "Axes") -> None:
        _ordered_lines(axes, table.filter(pl.col("spearman").is_not_null()), "k", "spearman")
        axes.axhline(1, color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)))
        axes.set(xlabel="k, candidates per query and generator", ylabel="Spearman with the true order (mean)")
        axes.set_ylim(top=1.03)
        _whole_ticks(axes)

    return draw("spearman", SIZE, "Mean Spearman correlation with the true order of the models, by k.", paint)


def recall_plot(table: pl.DataFrame) -> Markup:
    def paint(axes: "Axes") -> None:
        shares = table.with_columns(pl.col("recall") * 100)
        _ordered_lines(axes, shares, "k", "recall")
        axes.set(xlabel="k, candidates per query and generator", ylabel="truly similar pairs in the pool (%, mean)")
        axes.set_ylim(bottom=0)
        _whole_ticks(axes)

    return draw("recall", SIZE, "Mean share of all truly similar pairs that the pool contains, by k.", paint)


def _ordered_lines(axes: "Axes", table: pl.DataFrame, x: str, y: str) -> None:
    """One line per number of generators, its name at its end."""
    sizes = table["n_generators"].unique().sort().to_list()
    ends = []
    for place, size in enumerate(sizes):
        line = table.filter(pl.col("n_generators") == size).sort("k")
        colour = step_colour(place, len(sizes))
        axes.plot(line[x].to_list(), line[y].to_list(), color=colour, marker="o", markersize=3.2)
        ends.append((line[x][-1], line[y][-1], colour, size))
    low, high = axes.get_ylim()
    heights = spread_labels([end[1] for end in ends], LABEL_GAP * (high - low))
    for (at, _, colour, size), height in zip(ends, heights, strict=True):
        axes.annotate(
            plural(size, "generator") if size == sizes[-1] else str(size),
            (at, height),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            annotation_clip=False,
            zorder=5,
        )


def _k_labels(axes: "Axes", lines: pl.DataFrame) -> None:
    """The values of k along the longest line, every third, and the first."""
    largest = lines.filter(pl.col("n_generators") == lines["n_generators"].max())
    for row in largest.iter_rows(named=True):
        if row["k"] == 1 or row["k"] % 3 == 0:
            axes.annotate(
                f"k={row['k']}" if row["k"] == 1 else str(row["k"]),
                (row["hours"], row["expected_positives"]),
                xytext=(-4, 4),
                textcoords="offset points",
                ha="right",
                fontsize=7.5,
                color=SOFT,
            )


def _whole_ticks(axes: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
