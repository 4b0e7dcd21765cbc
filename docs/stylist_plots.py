"""The pictures of `stylist.md`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from likewise.outfits.dimensions import DIMENSIONS
from likewise.report.plots.palette import INK, MODEL_LIGHT, SOFT
from likewise.report.plots.svg import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def short(model: str) -> str:
    return model.partition(":")[0]


def figure(path: Path, size: tuple[float, float], paint: Callable[["Axes"], None]) -> None:
    """A picture on white, in the colours of the report."""
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = {**STYLE, "figure.facecolor": "white"}
    with matplotlib.rc_context(style):
        canvas = Figure(figsize=size, layout="constrained", dpi=110)
        paint(canvas.add_subplot())
        canvas.savefig(path)


def plot_taste(here: Path, scores: pl.DataFrame) -> None:
    """LATs and AATs of every model with their intervals."""
    models = scores["model"].unique(maintain_order=True).to_list()

    def paint(axes: "Axes") -> None:
        for shift, (name, colour) in enumerate(zip(("LATs", "AATs"), MODEL_LIGHT, strict=False)):
            mine = scores.filter(pl.col("score") == name)
            for place, model in enumerate(models):
                row = mine.filter(pl.col("model") == model).row(0, named=True)
                y = place + 0.22 * (shift - 0.5) * 2
                axes.plot([100 * row["low"], 100 * row["high"]], [y, y], color=colour, linewidth=2)
                axes.plot(100 * row["value"], y, "o", color=colour, markersize=5, label=name if not place else None)
            axes.axvline(100 * mine["chance"][0], color=colour, linewidth=0.8, linestyle=(0, (2, 2)))
        axes.set_yticks(range(len(models)), [short(model) for model in models])
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_xlabel("questions answered as people did (LATs), rightly (AATs), %; dashed: chance")
        axes.legend(loc="lower right", frameon=False)

    figure(here / "stylist-taste.png", (7.0, 4.2), paint)


def plot_blind(here: Path, blind: pl.DataFrame) -> None:
    """The index of every dimension for the same model with and without colour."""
    index = blind.filter((pl.col("score") == "index") & pl.col("model").str.starts_with("type-aware"))
    models = index["model"].unique(maintain_order=True).to_list()

    def paint(axes: "Axes") -> None:
        for number, (model, colour) in enumerate(zip(models, MODEL_LIGHT, strict=False)):
            for place, dimension in enumerate(DIMENSIONS):
                here = (pl.col("model") == model) & (pl.col("dimension") == dimension)
                row = index.filter(here).row(0, named=True)
                x = place + 0.24 * (number - (len(models) - 1) / 2)
                axes.bar(x, 100 * row["value"], 0.22, color=colour, alpha=0.75, label=None if place else model)
                axes.plot([x, x], [100 * row["low"], 100 * row["high"]], color=INK, linewidth=1)
                ends = [place - 0.4, place + 0.4]
                axes.plot(ends, [100 * row["chance"]] * 2, color=SOFT, linewidth=1, linestyle=(0, (2, 2)))
        axes.set_xticks(range(len(DIMENSIONS)), DIMENSIONS)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel("index (%); dashed: chance")
        axes.set_ylim(0, 100)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, frameon=False)

    figure(here / "stylist-blind.png", (7.6, 4.0), paint)


def plot_curves(here: Path, paths: Mapping[str, Path]) -> None:
    """Validation accuracy by epoch."""

    def paint(axes: "Axes") -> None:
        for (kind, path), colour in zip(paths.items(), MODEL_LIGHT, strict=False):
            mine = pl.read_parquet(path, glob=False).filter(pl.col("name") == "validation accuracy")
            axes.plot(mine["epoch"], 100 * mine["value"], color=colour, marker="o", markersize=3, label=kind)
        axes.axhline(20, color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)))
        axes.set_xlabel("epoch")
        axes.set_ylabel("blanks filled correctly (%); dashed: chance")
        axes.set_xticks(mine["epoch"].to_list())
        axes.legend(frameon=False, ncols=2)

    figure(here / "stylist-curves.png", (6.4, 3.8), paint)
