"""Plots of a check: accuracy by method (the paper's Fig. 3), by year (4b), against the oldest losses (5); curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from likewise.report.formatting import percent
from likewise.report.plots.curves import Styles
from likewise.report.plots.palette import INK, MODEL_LIGHT, SOFT
from likewise.report.plots.svg import draw, spread_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONCATENATED_COLOUR, SEPARATED_COLOUR = MODEL_LIGHT[0], MODEL_LIGHT[1]
COLOURS = {"concatenated": CONCATENATED_COLOUR, "separated": SEPARATED_COLOUR}
ROW_HEIGHT = 0.33
NAMED_CURVES = 6  # at the right of the plot; the others stay in the background


@dataclass(frozen=True)
class MethodBar:
    """One method: its value by embedding, with the interval where there is one."""

    title: str
    values: Mapping[str, tuple[float, float | None, float | None]]
    year: int | None = None


def accuracy_plot(bars: Sequence[MethodBar], measure: str) -> Markup:
    """One row per method, a dot per embedding; the pretrained trunk is the first row."""

    def paint(axes: "Axes") -> None:
        for place, bar in enumerate(reversed(bars)):
            for number, (embedding, (value, low, high)) in enumerate(bar.values.items()):
                at = place + (0.16 if number == 0 else -0.16)
                if low is not None and high is not None:
                    axes.plot([low, high], [at, at], color=COLOURS[embedding], linewidth=4, alpha=0.35)
                axes.plot(value, at, color=COLOURS[embedding], marker="o", markersize=5, linestyle="none")
        axes.set_yticks(range(len(bars)), [bar.title for bar in reversed(bars)], color=INK)
        axes.set_ylim(-0.6, len(bars) - 0.4)
        axes.grid(visible=False, axis="y")
        _percent(axes, "x")
        axes.set_xlabel(f"{measure} on test classes (%)")
        _key(axes)

    spoken = "; ".join(f"{bar.title} {_spoken(bar)}" for bar in bars)
    return draw("check accuracy", (6.2, 0.9 + ROW_HEIGHT * len(bars)), f"{measure} in percent. {spoken}.", paint)


def year_plot(bars: Sequence[MethodBar], measure: str) -> Markup:
    """The trend over the years: methods of one year stand side by side."""
    dated = [bar for bar in bars if bar.year is not None]

    def paint(axes: "Axes") -> None:
        years = sorted({bar.year for bar in dated if bar.year})
        for bar in dated:
            peers = [each for each in dated if each.year == bar.year]
            shift = (peers.index(bar) - (len(peers) - 1) / 2) * 0.8 / max(1, len(peers))
            for embedding, (value, _, _) in bar.values.items():
                at = years.index(bar.year or 0) + shift
                axes.plot(at, value, color=COLOURS[embedding], marker="o", markersize=5, linestyle="none")
        for embedding, colour in COLOURS.items():
            means = []
            for year in years:
                here = [bar.values[embedding][0] for bar in dated if bar.year == year]
                means.append(sum(here) / len(here))
            axes.plot(range(len(years)), means, color=colour, linewidth=1.2, alpha=0.6)
        axes.set_xticks(range(len(years)), [str(year) for year in years], color=INK)
        axes.set_ylim(0, 1.08 * max(value for bar in dated for value, _, _ in bar.values.values()) or 1)
        axes.grid(visible=False, axis="x")
        _percent(axes, "y")
        axes.set_ylabel(f"{measure} on test classes (%)")
        axes.set_xlabel("year in which the loss was published")
        _key(axes)

    spoken = "; ".join(f"{bar.year} {bar.title} {_spoken(bar)}" for bar in dated)
    return draw("check years", (5.4, 3.5), f"{measure} by year in percent: {spoken}.", paint)


def improvement_plot(
    baseline: str, rows: Sequence[tuple[str, Mapping[str, float]]], claimed: tuple[float, int] | None
) -> Markup:
    """Relative improvement over one of the oldest losses; grey is what papers claimed on average, where cited."""

    def paint(axes: "Axes") -> None:
        for place, (_, values) in enumerate(reversed(rows)):
            for number, (embedding, value) in enumerate(values.items()):
                at = place + (0.17 if number == 0 else -0.17)
                axes.barh(at, value, height=0.3, color=COLOURS[embedding])
        if claimed:
            axes.axvline(claimed[0], color=SOFT, linewidth=5, alpha=0.5)
            words = f"claimed by {claimed[1]} papers "
            axes.text(claimed[0], len(rows) - 0.45, words, color=SOFT, ha="right", va="bottom")
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_yticks(range(len(rows)), [title for title, _ in reversed(rows)], color=INK)
        axes.set_ylim(-0.6, len(rows) - (0.4 if not claimed else 0.0))
        axes.grid(visible=False, axis="y")
        _percent(axes, "x")
        axes.set_xlabel(f"relative improvement in P@1 over {baseline} (%)")

    spoken = "; ".join(
        f"{title} " + ", ".join(f"{embedding} {percent(value)}" for embedding, value in values.items())
        for title, values in rows
    )
    claim = f" Papers claimed {percent(claimed[0])} on average." if claimed else ""
    words = f"Relative improvement over {baseline} in percent: {spoken}.{claim}"
    return draw(f"check against {baseline}", (4.9, 0.9 + ROW_HEIGHT * len(rows)), words, paint)


def curve_plot(lines: Mapping[str, Sequence[tuple[int, float]]], styles: Styles) -> Markup:
    """Validation MAP@R by step, the best methods named at the right."""
    ordered = sorted(lines, key=lambda title: -max(value for _, value in lines[title]))

    def paint(axes: "Axes") -> None:
        for place, title in reversed(list(enumerate(ordered))):
            steps, values = zip(*lines[title], strict=True)
            colour, dash = styles[title] if place < NAMED_CURVES else (SOFT, "solid")
            axes.plot(steps, values, color=colour, linestyle=dash, linewidth=1.6 if place < NAMED_CURVES else 0.7)
        low, high = axes.get_ylim()
        named = ordered[:NAMED_CURVES]
        heights = spread_labels([lines[title][-1][1] for title in named], 0.06 * (high - low))
        last = max(steps for line in lines.values() for steps, _ in line)
        for title, height in zip(named, heights, strict=True):
            axes.annotate(
                title,
                (last, height),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                color=styles[title][0],
                annotation_clip=False,
            )
        _percent(axes, "y")
        axes.set(xlabel="training steps", ylabel="validation MAP@R (%)")

    spoken = "; ".join(f"{title} up to {percent(max(value for _, value in lines[title]))}" for title in ordered)
    return draw("check curves", (6.2, 3.7), f"Validation MAP@R by step in percent: {spoken}.", paint)


def _key(axes: "Axes") -> None:
    """The two embeddings, named in their colours above the plot."""
    axes.text(0.0, 1.03, "● concatenated", color=CONCATENATED_COLOUR, transform=axes.transAxes)
    axes.text(0.26, 1.03, "● separated", color=SEPARATED_COLOUR, transform=axes.transAxes)


def _percent(axes: "Axes", which: str) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(lambda value, _: f"{100 * value:g}")


def _spoken(bar: MethodBar) -> str:
    return ", ".join(f"{embedding} {percent(value)}" for embedding, (value, _, _) in bar.values.items())
