"""The page of the lessons, `lessons/index.html`: three plots, and every table."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from likewise.report.formatting import percent
from likewise.report.page import render
from likewise.report.plots.palette import MODEL_LIGHT, SOFT, model_styles
from likewise.report.plots.svg import draw
from likewise.training.lessons.spaces import GAPS, LENGTH, MEASURES, PER_CLASS, toy_space
from likewise.workspace import write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from likewise.training.lessons.step import MetricLessons

MAIN = "MAP@R"
SHIFT = 1.25 * LENGTH


def write_lessons_page(done: "MetricLessons", workspace: str) -> Path:
    """Write the page beside the tables."""
    page = render(
        "lessons.html",
        package="likewise.training.report",
        workspace=workspace,
        column=done.column,
        n_images=done.n_images,
        n_classes=done.n_classes,
        toy=toy_plot(done.tables["toy"]),
        random=random_embeddings_plot(done.tables["random"]),
        classes=classes_plot(done.tables["classes"]),
        tables={
            name: (done.tables[name].columns, done.tables[name].rows())
            for name in ("toy", "random", "trunks", "nmi", "trade_offs")
        },
        notes=done.notes,
    )
    write_text(page, done.folder / "index.html")
    return done.folder / "index.html"


def toy_plot(table: pl.DataFrame) -> Markup:
    """The three spaces beside each other (Fig. 1)."""

    def paint(axes: "Axes") -> None:
        for place, ((name, gap), row) in enumerate(zip(GAPS, table.iter_rows(named=True), strict=True)):
            points, _ = toy_space(gap)
            for label, rows in enumerate((slice(None, PER_CLASS), slice(PER_CLASS, None))):
                axes.plot(points[rows, 0] + place * SHIFT, points[rows, 1], "o", markersize=2, color=MODEL_LIGHT[label])
            words = f"{name}   P@1 {100 * row['P@1']:.0f}   {MAIN} {100 * row[MAIN]:.0f}"
            axes.text(place * SHIFT, 2.7, words, ha="center", va="bottom")
        axes.set(xticks=[], yticks=[], aspect="equal")
        axes.grid(visible=False)
        for side in axes.spines.values():
            side.set_visible(False)

    spoken = "; ".join(
        f"{row['space']}: P@1 {percent(row['P@1'])}, {MAIN} {percent(row[MAIN])}" for row in table.to_dicts()
    )
    return draw("lessons toy", (8.0, 2.0), f"Three toy spaces of two classes. {spoken} percent.", paint)


def random_embeddings_plot(table: pl.DataFrame) -> Markup:
    """Every measure of random vectors by the number of classes (Fig. 2)."""

    def paint(axes: "Axes") -> None:
        for number, measure in enumerate(MEASURES):
            axes.plot(
                table["n_classes"], table[measure], color=MODEL_LIGHT[number], marker="o", markersize=3, label=measure
            )
        axes.plot(table["n_classes"], table["formula"], color=SOFT, linestyle=":", label="NMI by the formula")
        axes.set(xscale="log", xlabel="number of classes", ylim=(-0.02, 1.0), ylabel="value on random vectors (%)")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
        axes.legend(frameon=False, loc="upper left")

    last = table.row(-1, named=True)
    spoken = ", ".join(f"{measure} {percent(last[measure])}" for measure in MEASURES)
    return draw("lessons random", (6.2, 3.6), f"With {last['n_classes']} classes random vectors score {spoken}.", paint)


def classes_plot(table: pl.DataFrame) -> Markup:
    """MAP@R of every encoder by the number of classes."""
    encoders = table["encoder"].unique(maintain_order=True).to_list()
    styles = model_styles(encoders)

    def paint(axes: "Axes") -> None:
        for encoder in encoders:
            rows = table.filter(pl.col("encoder") == encoder)
            colour, dash = styles[encoder]
            axes.plot(
                rows["n_classes"], rows[MAIN], color=colour, linestyle=dash, marker="o", markersize=3, label=encoder
            )
        axes.set(xscale="log", xlabel="number of classes", ylabel=f"{MAIN} (%)", ylim=(0.0, 1.0))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
        axes.legend(frameon=False, fontsize=8)

    ends = table.filter(pl.col("n_classes") == table["n_classes"].max())
    spoken = "; ".join(f"{row['encoder']} {percent(row[MAIN])}" for row in ends.iter_rows(named=True))
    return draw("lessons classes", (6.2, 3.6), f"{MAIN} on all classes: {spoken}.", paint)
