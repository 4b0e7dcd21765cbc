"""A figure as inline SVG: the same bytes every time, no ids that could clash, colours as CSS variables."""

import re
from collections.abc import Callable
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from likewise.report.plots.palette import INK, RULE, SOFT, css_variables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a model may be called $x$
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "figure.facecolor": "none",
    "lines.linewidth": 1.7,
    "lines.solid_capstyle": "round",
}
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def draw(name: str, size: tuple[float, float], alt: str, paint: Callable[["Axes"], None]) -> Markup:
    """One plot of `size` inches; `paint` gets its axes. `alt` is what a screen reader says."""
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = {**STYLE, "svg.hashsalt": f"likewise {name}"}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        paint(figure.add_subplot())
        return inline_svg(figure, alt)


def inline_svg(figure: "Figure", alt: str) -> Markup:
    """The <svg> element alone, ready to stand in the page."""
    file = BytesIO()
    figure.savefig(file, format="svg", metadata=NO_METADATA)
    text = file.getvalue().decode("utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<style.*?</style>", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.S)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r' (width|height)="[^"]*pt"', "", text, count=2)
    text = re.sub(r"-?\d+\.\d{3,}", _round_number, text)
    for colour, (variable, light, _) in css_variables().items():
        text = text.replace(colour, f"var({variable}, {light})")
    return Markup(text.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1))


def _round_number(number: re.Match[str]) -> str:
    """Two decimals of a point are finer than any screen."""
    return f"{float(number.group()):.2f}".rstrip("0").rstrip(".")


def spread_labels(heights: list[float], gap: float) -> list[float]:
    """Move labels apart until neighbours are at least `gap` from each other, keeping their order and their middle."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    moved = list(heights)
    for _ in range(200):
        clash = False
        for lower, upper in pairwise(order):
            missing = gap - (moved[upper] - moved[lower])
            if missing > 1e-9:
                moved[lower] -= missing / 2
                moved[upper] += missing / 2
                clash = True
        if not clash:
            break
    return moved
