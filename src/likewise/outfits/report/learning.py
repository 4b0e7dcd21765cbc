"""The curves of a training: the loss term by term, and the share of validation blanks filled correctly."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from likewise.report.plots.palette import INK, MODEL_LIGHT, SOFT
from likewise.report.plots.svg import draw
from likewise.workspace import write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCURACY = "validation accuracy"
SIZE = (6.4, 3.2)


def write_curves(folder: Path) -> Path | None:
    """`curves.svg` beside the `curves.parquet` of a trained model; None for one that has no epochs."""
    source = folder / "curves.parquet"
    if not source.exists():
        return None
    path = folder / "curves.svg"
    write_text(str(learning_plot(pl.read_parquet(source, glob=False), folder.name)), path)
    return path


def learning_plot(curves: pl.DataFrame, name: str) -> str:
    """Losses on the left axis (logarithmic), accuracy on the right."""
    losses = [term for term in curves["name"].unique(maintain_order=True) if term != ACCURACY]
    right = curves.filter(pl.col("name") == ACCURACY)

    def paint(axes: "Axes") -> None:
        for term, colour in zip(losses, (*MODEL_LIGHT[1:4], *MODEL_LIGHT[5:]), strict=False):
            mine = curves.filter(pl.col("name") == term)
            whole = term == "loss"
            dash = "solid" if whole else (0, (4, 1.6))
            axes.plot(mine["epoch"], mine["value"], color=INK if whole else colour, linestyle=dash, label=term)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
        axes.set_xticks(_some(right["epoch"].to_list()))
        axes.set_xlabel("epoch")
        axes.set_ylabel("loss")
        other = axes.twinx()
        other.grid(visible=False)
        other.plot(right["epoch"], 100 * right["value"], color=MODEL_LIGHT[0], marker="o", markersize=3)
        best = right.sort("value", "epoch", descending=[True, False]).row(0, named=True)
        other.axvline(best["epoch"], color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)))
        other.set_ylabel("validation blanks filled correctly (%)", color=MODEL_LIGHT[0])
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=4, frameon=False, fontsize=8)

    last = right.sort("epoch").row(-1, named=True)
    spoken = f"Training of {name}: {100 * last['value']:.1f} % of validation blanks after {last['epoch']} epochs."
    return str(draw(f"learning {name}", SIZE, spoken, paint))


def _some(epochs: list[int]) -> list[int]:
    """At most ten of them."""
    return epochs[:: -(-len(epochs) // 10)]
