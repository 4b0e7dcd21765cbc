"""The page of a study: the table of ablations, more triplets, other encoders; every point a mean with its spread."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from likewise.files import written_together
from likewise.report.formatting import percent
from likewise.report.page import render
from likewise.report.plots.palette import MODEL_LIGHT, SOFT
from likewise.report.plots.svg import draw
from likewise.report.thumbnails import EmbeddedThumbnails
from likewise.workspace import write_parquet, write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAGE = "index.html"
TITLES = {
    "ablation": "What each choice is worth",
    "scaling": "More triplets",
    "backbones": "Other encoders",
}


def write_study(folder: Path, found: pl.DataFrame, summary: pl.DataFrame) -> Path:
    """Write `study.parquet`, one row per training and task, and the page of its summary, together."""
    with written_together(folder) as staged:
        write_parquet(found, staged.staging / "study.parquet")
        write_text(_page(folder, summary), staged.staging / PAGE)
    return folder / PAGE


def _page(folder: Path, table: pl.DataFrame) -> str:
    plots = {part: plot for part in TITLES if (plot := study_plot(table, part)) is not None}
    return render(
        "study.html",
        package="likewise.conditional.report",
        name=folder.resolve().name,
        rows=table.to_dicts(),
        plots=plots,
        titles=TITLES,
        thumbnails=EmbeddedThumbnails(folder, pl.DataFrame(schema={"image": pl.String(), "category": pl.String()})),
    )


def study_plot(table: pl.DataFrame, part: str) -> Markup | None:
    """The plot of one part; None where the study did not run it."""
    own = table.filter(pl.col("part") == part)
    if own.is_empty():
        return None
    spoken = ", ".join(f"{row['arm']} {percent(row['mean'])}" for row in own.iter_rows(named=True))
    return draw(part, _size(own, part), f"Average Recall@1 in percent. {spoken}.", _painter(table, own, part))


def _size(own: pl.DataFrame, part: str) -> tuple[float, float]:
    return 7.2, 3.4 if part == "scaling" else 0.42 * own.height + (1.1 if part == "backbones" else 1.5)


def _painter(table: pl.DataFrame, own: pl.DataFrame, part: str) -> "Callable[[Axes], None]":
    base = table.filter((pl.col("part") == "baseline") & pl.col("encoder").is_in(own["encoder"].implode()))
    return _lines(own, base) if part == "scaling" else _bars(own, base, by_encoder=part == "backbones")


def _bars(own: pl.DataFrame, base: pl.DataFrame, *, by_encoder: bool) -> "Callable[[Axes], None]":
    """A dot with its spread per arm; the baselines as lines, or as a dot of their own beside each encoder."""

    def paint(axes: "Axes") -> None:
        for place, row in enumerate(own.iter_rows(named=True)):
            axes.errorbar(
                100 * row["mean"], place, xerr=100 * (row["sd"] or 0), fmt="o", color=MODEL_LIGHT[0], capsize=3
            )
            if by_encoder:
                same = base.filter((pl.col("encoder") == row["encoder"]) & (pl.col("arm") == "image + text"))
                for value in same["mean"]:
                    axes.plot(100 * value, place, "D", color=MODEL_LIGHT[1], markersize=5)
        axes.set_yticks(range(own.height), own["arm"].to_list())
        axes.set_ylim(own.height - 0.4, -0.9 if by_encoder else -2.0)
        if by_encoder:
            axes.plot([], [], "o", color=MODEL_LIGHT[0], label="combiner")
            axes.plot([], [], "D", color=MODEL_LIGHT[1], label="image + text")
            axes.legend(frameon=False, loc="upper right", ncols=2)
        else:
            _baseline_marks(axes, base)
        axes.set_xlabel("average Recall@1 (%)")

    return paint


def _baseline_marks(axes: "Axes", base: pl.DataFrame) -> None:
    """A line per baseline; their names stand one below the other, because baselines may be equal."""
    for place, row in enumerate(base.sort("mean").iter_rows(named=True)):
        axes.axvline(100 * row["mean"], color=SOFT, linewidth=0.9, linestyle=(0, (3, 2)))
        axes.text(100 * row["mean"], -1.65 + 0.42 * place, f" {row['arm']}", color=SOFT, fontsize=8)


def _lines(own: pl.DataFrame, base: pl.DataFrame) -> "Callable[[Axes], None]":
    def paint(axes: "Axes") -> None:
        for place, (series, same) in enumerate(own.sort("n_triplets").group_by("series", maintain_order=True)):
            spread = [100 * (value or 0) for value in same["sd"]]
            means = [100 * value for value in same["mean"]]
            axes.errorbar(
                same["n_triplets"].to_list(),
                means,
                yerr=spread,
                marker="o",
                capsize=3,
                color=MODEL_LIGHT[place],
                label=str(series[0]),
            )
        for row in base.filter(pl.col("arm") == "image + text").iter_rows(named=True):
            axes.axhline(100 * row["mean"], color=SOFT, linewidth=0.9, linestyle=(0, (3, 2)), label="image + text")
        axes.set_xscale("log")
        axes.legend(frameon=False)
        axes.set(xlabel="triplets", ylabel="average Recall@1 (%)")

    return paint
