"""The curve of a fine-tuning: the loss, epoch by epoch, and the share of classes named rightly where there are any."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from likewise.report.plots.palette import MODEL_LIGHT
from likewise.report.plots.svg import draw
from likewise.workspace import write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (5.2, 3.2)


def write_curve(curve: pl.DataFrame, path: Path) -> Path:
    """An SVG file that opens by itself."""
    write_text(str(curve_plot(curve)), path)
    return path


def curve_plot(curve: pl.DataFrame) -> Markup:
    """Loss on the left axis; accuracies of the heads on the right one."""
    accuracies = [name for name in curve.columns if name.startswith("accuracy_")]
    epochs = curve["epoch"].to_list()

    def paint(axes: "Axes") -> None:
        axes.plot(epochs, curve["loss"].to_list(), color=MODEL_LIGHT[0])
        axes.set_xlabel("epoch")
        axes.set_ylabel("loss", color=MODEL_LIGHT[0])
        if not accuracies:
            return
        right = axes.twinx()
        right.grid(False)
        for number, name in enumerate(accuracies, 1):
            values = [100.0 * value for value in curve[name]]
            right.plot(epochs, values, color=MODEL_LIGHT[number], linestyle="dashed")
            head = name.removeprefix("accuracy_")
            right.annotate(head, (epochs[-1], values[-1]), ha="right", va="bottom", color=MODEL_LIGHT[number])
        right.set_ylabel("accuracy on training images (%)")
        right.set_ylim(0, 105)

    first, last = curve["loss"][0], curve["loss"][-1]
    return draw("finetune", SIZE, f"Loss by epoch, from {first:.3f} to {last:.3f} after {epochs[-1]} epochs.", paint)
