"""The page of mined triplets: what every filter left and why, and some triplets, drawn by lot, with their pictures."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl
from markupsafe import Markup

from likewise.progress import ProgressCallback
from likewise.report.page import render
from likewise.report.plots.svg import draw
from likewise.report.thumbnails import EmbeddedThumbnails
from likewise.workspace import write_text

N_SHOWN = 24


@dataclass(frozen=True)
class TripletExample:
    """One triplet with what was read in its two captions, and its distractors."""

    reference: str
    target: str
    condition: str
    reference_caption: str
    target_caption: str
    reference_relation: str
    target_relation: str
    concreteness: float | None
    distractors: list[tuple[str, str]]


def write_mining_page(
    folder: Path,
    root: Path | None,
    *,
    n_shown: int = N_SHOWN,
    seed: int = 0,
    on_progress: ProgressCallback | None = None,
) -> Path:
    """Write `folder/index.html`; pictures are looked for below `root` and left out where they are not."""
    triplets = pl.read_parquet(folder / "triplets.parquet", glob=False)
    funnel = pl.read_parquet(folder / "funnel.parquet", glob=False)
    chosen = triplets.sample(min(n_shown, triplets.height), seed=seed, shuffle=True)
    shown = _examples(folder, chosen)
    thumbnails = EmbeddedThumbnails(
        root or folder, pl.DataFrame(schema={"image": pl.String(), "category": pl.String()})
    )
    if root is not None:
        for each in shown:
            for image in (each.reference, each.target, *(image for _, image in each.distractors)):
                thumbnails.add(image)
        thumbnails.embed(on_progress)
    page = render(
        "mining.html",
        package="likewise.conditional.report",
        name=folder.resolve().name,
        funnel=funnel.to_dicts(),
        plot=_plot(funnel),
        shown=shown,
        n_triplets=triplets.height,
        thumbnails=thumbnails,
        pictures=root is not None,
    )
    path = folder / "index.html"
    write_text(page, path)
    return path


def _examples(folder: Path, chosen: pl.DataFrame) -> list[TripletExample]:
    rows = pl.concat([chosen["reference_row"], chosen["target_row"]]).unique().to_list()
    captions = pl.scan_parquet(folder / "captions.parquet", glob=False).select("caption").with_row_index("row")
    text = dict(captions.filter(pl.col("row").is_in(rows)).collect().iter_rows())
    return [
        TripletExample(
            row["reference"],
            row["target"],
            row["condition"],
            text[row["reference_row"]],
            text[row["target_row"]],
            f"{row['subject']} → {row['reference_relation']} {row['reference_object']}",
            f"{row['subject']} → {row['condition']}",
            row["concreteness"],
            [(kind.replace("_", " "), row[kind]) for kind in ("same_subject", "same_object") if row[kind]],
        )
        for row in chosen.iter_rows(named=True)
    ]


def _plot(funnel: pl.DataFrame) -> Markup:
    """Bars, one per filter, each kind of thing on a scale of its own; the numbers stand at their ends."""
    from likewise.report.plots.palette import MODEL_LIGHT

    steps, counts, units = funnel["step"].to_list(), funnel["n"].to_list(), funnel["unit"].to_list()
    most = {unit: max(n for n, other in zip(counts, units, strict=True) if other == unit) for unit in units}
    colours = {unit: MODEL_LIGHT[place] for place, unit in enumerate(dict.fromkeys(units))}

    def paint(axes: "object") -> None:
        from matplotlib.axes import Axes

        assert isinstance(axes, Axes)
        places = range(len(steps))
        shares = [n / max(most[unit], 1) for n, unit in zip(counts, units, strict=True)]
        axes.barh(list(places), shares, color=[colours[unit] for unit in units], height=0.62)
        for place, share, n, unit in zip(places, shares, counts, units, strict=True):
            axes.text(share + 0.01, place, f"{n:,} {unit}", va="center")
        axes.set_yticks(list(places), steps)
        axes.invert_yaxis()
        axes.set_xlim(0, 1.3)
        axes.set_xticks([])
        axes.grid(False)
        axes.spines["bottom"].set_visible(False)

    spoken = ", ".join(f"{step} {n:,}" for step, n in zip(steps, counts, strict=True))
    return draw("funnel", (8.2, 0.32 * len(steps) + 0.3), f"What every filter left: {spoken}.", paint)
