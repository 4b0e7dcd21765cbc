"""Pictures of results for a notebook: values with intervals, lines, stacked bars, rows of thumbnails."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THUMBNAIL_PIXELS = 128
BAR_INCHES = 0.35
Interval = tuple[float | None, float | None, float | None]
"""value, low, high"""


def interval_plot(rows: Mapping[str, Interval], label: str) -> "Figure":
    """A point per name with its interval, in percent; the first name on top."""
    figure = new_figure(7, 1 + BAR_INCHES * len(rows))
    axes = figure.add_subplot()
    for height, (value, low, high) in enumerate(rows.values()):
        if value is not None:
            ends = None if low is None or high is None else [[100 * (value - low)], [100 * (high - value)]]
            axes.errorbar(100 * value, height, xerr=ends, fmt="o", capsize=3, color="C0")
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.grid(axis="x", alpha=0.3)
    return figure


def line_plot(x: Sequence[float], lines: Mapping[str, Sequence[float | None]], x_label: str, y_label: str) -> "Figure":
    figure = new_figure(7, 3.5)
    axes = figure.add_subplot()
    for name, values in lines.items():
        axes.plot(x, [float("nan") if value is None else value for value in values], marker=".", label=name)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(alpha=0.3)
    if len(lines) > 1:
        axes.legend()
    return figure


def stacked_bar_plot(names: Sequence[str], parts: Mapping[str, Sequence[float]], label: str) -> "Figure":
    """A bar per name, the first on top, made of named parts."""
    figure = new_figure(7, 1 + BAR_INCHES * len(names))
    axes = figure.add_subplot()
    start = [0.0] * len(names)
    for part, sizes in parts.items():
        axes.barh(list(names), list(sizes), left=start, label=part)
        start = [left + size for left, size in zip(start, sizes, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel(label)
    if len(parts) > 1:
        axes.legend()
    return figure


def thumbnail_plot(rows: Sequence[Sequence[tuple[Path, str]]]) -> "Figure":
    """Rows of pictures, each under its caption; a file that is gone or damaged leaves its place empty."""
    from likewise.catalog.file_cards import load_shown

    n_columns = max(len(row) for row in rows)
    figure = new_figure(1.3 * n_columns, 1.5 * len(rows))
    grid = figure.subplots(len(rows), n_columns, squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    for row, places in zip(rows, grid, strict=True):
        for (path, caption), axes in zip(row, places, strict=False):
            axes.set_title(caption, fontsize=8)
            try:
                picture = load_shown(path, at_least=THUMBNAIL_PIXELS)
            except (OSError, ValueError):
                continue
            picture.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
            axes.imshow(picture)
    return figure


def new_figure(width: float, height: float) -> "Figure":
    """A figure outside pyplot, so that nothing stays open."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
