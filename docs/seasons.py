"""Twelve seasons of a catalog, updated against labelled anew. Fills docs/living.md, draws docs/seasons.svg.

    python docs/seasons.py [--replays N] [--work FOLDER] [--tuning]
    python docs/seasons.py --photographs --data FOLDER [--replays N | --own-queries N] [--work FOLDER]

A fifth of 600 items is exchanged in every season, and in the seventh half of all that had gone come back. After each
season the pool grows as `likewise discover` grows it; beside it the same design is drawn anew over the same catalog,
and the truth is known of every pair. Settings were chosen on another wardrobe (`--tuning`), which is not reported.
With `--photographs` the items are products of a shop, similar where type and colour are the same.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from kept import made_once
from marks import fill, paragraph
from photographs import MEASURED, photographs_bench
from sampling_bench import Bench, wardrobe_bench
from seasons_replay import (
    COMEBACK,
    MEASURES,
    MODELS,
    N_QUERIES,
    N_SEASONS,
    Floats,
    Season,
    own_errors,
    replay,
    save_pictures,
)

from likewise.discovery.grow import SHARE_OF_DESIGN
from likewise.discovery.step import Design
from likewise.report.plots.svg import STYLE

HERE = Path(__file__).parent
N_STOCK = 2400
DESCRIPTORS = "colour,layout,shape,texture,blend"
TUNING, REPORTED = 1, 2  # seeds of the two wardrobes
REPLAYS: dict[Design, float] = {"sampled": 1.0, "adaptive": 0.2, "eds": 0.1}  # shares of the replays: time


def wardrobe(work: Path, seed: int) -> Bench:
    """Drawn and encoded once."""
    folder = work / f"wardrobe-{seed}"
    if not (folder / "vectors" / "blend" / "meta.json").exists():
        likewise = [sys.executable, "-m", "likewise"]
        drawn = ["new", str(folder), "--wardrobe", "--items", str(N_STOCK), "--views", "1", "--seed", str(seed)]
        subprocess.run([*likewise, *drawn, "--replace"], check=True, stdout=subprocess.DEVNULL)
        encoded = ["encode", str(folder), "--with", DESCRIPTORS]
        subprocess.run([*likewise, *encoded], check=True, stdout=subprocess.DEVNULL)
    return wardrobe_bench(folder)


def made_in_a_folder(file: Path, make: Callable[[Path], Any]) -> Any:
    """What `make` gave with a folder that is thrown away; stored, so that a run that was stopped goes on."""

    def in_a_folder() -> Any:
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            return make(Path(folder))

    return made_once(file, in_a_folder)


def replays(
    bench: Bench, models: tuple[str, ...], work: Path, name: str, design: Design, n_replays: int
) -> list[list[Season]]:
    save_pictures(work / "pictures", bench.n_items)
    found = []
    for seed in range(n_replays):

        def seasons(folder: Path, seed: int = seed) -> list[dict[str, Any]]:
            return [one.to_json() for one in replay(bench, models, folder, work / "pictures", design, seed)]

        stored = made_in_a_folder(work / f"replay-{name}-{design}-{seed}.json", seasons)
        found.append([Season.from_json(season) for season in stored])
        print(
            f"{design}, replay {seed + 1} of {n_replays}: {100 * labels_share(found[-1:]):.1f} % of the labels",
            flush=True,
        )
    return found


def after_updates(found: Sequence[Sequence[Season]]) -> list[Season]:
    return [season for one in found for season in one if season.number > 0]


def labels_share(found: Sequence[Sequence[Season]]) -> float:
    """Labels asked for after updates, of those that labelling anew asks for."""
    seasons = after_updates(found)
    return sum(one.n_new_labels for one in seasons) / sum(one.n_full_labels for one in seasons)


def covered(estimate: Floats, truth: Floats) -> Floats:
    return ((estimate[:, 1] <= truth) & (truth <= estimate[:, 2])).astype(np.float64)


def agree(one: Floats, other: Floats) -> Floats:
    """Whether two estimates differ by less than the interval of their difference."""
    widths = np.hypot(*((each[:, 2] - each[:, 1]) / 2.0 for each in (one, other)))
    return (np.abs(one[:, 0] - other[:, 0]) <= widths).astype(np.float64)


def design_rows(design: str, found: Sequence[Sequence[Season]]) -> list[str]:
    seasons, rows = after_updates(found), []
    for name in MEASURES:
        kept = np.stack([one.kept[name] for one in seasons])
        full = np.stack([one.full[name] for one in seasons])
        truth = np.stack([one.truth[name] for one in seasons])
        pairs = list(zip(kept, full, truth, strict=True))
        errors = [100 * (each[:, :, 0] - truth) for each in (kept, full)]
        widths = [50 * (each[:, :, 2] - each[:, :, 1]).mean() for each in (kept, full)]
        cells = [
            design,
            name,
            f"{100 * np.mean([covered(a, t) for a, _, t in pairs]):.1f}",
            f"{100 * np.mean([covered(b, t) for _, b, t in pairs]):.1f}",
            f"{100 * np.mean([agree(a, b) for a, b, _ in pairs]):.1f}",
            *(f"{each.mean():+.1f} ± {standard_error(each, len(found)):.1f}" for each in errors),
            *(f"{each:.1f}" for each in widths),
        ]
        rows.append(f"| {' | '.join(cells).replace('-', '−')} |")
    return rows


def standard_error(errors: Floats, n_replays: int) -> float:
    """Of the mean error: seasons of one replay share labels, so replays are what is independent."""
    means = errors.reshape(n_replays, -1).mean(axis=1)
    return float(means.std(ddof=1) / np.sqrt(n_replays)) if n_replays > 1 else float("nan")


def estimates_table(found: dict[Design, list[list[Season]]]) -> str:
    heads = ["design", "measure", "holds the truth: updated %", "labelled anew %", "the two agree %"]
    heads += ["mean error, points: updated", "labelled anew", "half width, points: updated", "labelled anew"]
    rows = [row for design, each in found.items() if design != "eds" for row in design_rows(design, each)]
    return "\n".join([f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *rows])


def labels_table(found: dict[Design, list[list[Season]]]) -> str:
    heads = [
        "design",
        "replays",
        "labels after updates, % of labelling anew",
        "in the season of the comeback",
        "most in a season",
    ]
    rows = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for design, each in found.items():
        of_season = [one.n_new_labels / one.n_full_labels for one in after_updates(each)]
        back = [one.n_new_labels / one.n_full_labels for one in after_updates(each) if one.number == COMEBACK]
        cells = [
            design,
            f"{len(each)}",
            *(f"{100 * share:.1f}" for share in (labels_share(each), np.mean(back), max(of_season))),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def own_queries_table(bench: Bench, models: tuple[str, ...], work: Path, n_replays: int) -> str:
    """Errors that are not those of drawing queries: of the first pool, and of the updated ones."""
    save_pictures(work / "pictures", bench.n_items)
    errors = []
    for seed in range(n_replays):

        def rows(folder: Path, seed: int = seed) -> Any:
            return own_errors(bench, models, folder, work / "pictures", "sampled", seed)

        errors.append(made_in_a_folder(work / f"own-{bench.name}-{seed}.json", rows))
    seasons = 100 * np.array(errors)
    lines = ["| measure | first pool: mean error, points | after updates |", "|---|---|---|"]
    for place, name in enumerate(MEASURES):
        cells = (seasons[:, part, place] for part in (slice(0, 1), slice(1, None)))
        said = " | ".join(f"{each.mean():+.1f} ± {standard_error(each, n_replays):.1f}" for each in cells)
        lines.append(f"| {name} | {said} |".replace("-", "−"))
    said = f"""{n_replays} replays, sampled; against all labels of the pool's own queries.
    {100 * bench.similar.mean():.1f} % of all pairs are similar."""
    return "\n".join(lines) + f"\n\n{paragraph(said)}"


def draw(found: Sequence[Sequence[Season]], path: Path) -> None:
    """Left: one replay's estimates of three models against the truth. Right: labels, added up."""
    import matplotlib
    from matplotlib.figure import Figure

    one = found[0]
    at = [season.number for season in one]
    style: Any = {**STYLE, "svg.hashsalt": "likewise seasons", "figure.facecolor": "white"}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(9.2, 3.7), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        for model, colour in (("attributes", "#20639b"), ("blend", "#b3541e"), ("colour", "#4f7d3a")):
            place = MODELS.index(model)
            values = np.array([100 * season.kept["P@5"][place] for season in one])
            left.fill_between(at, values[:, 1], values[:, 2], color=colour, alpha=0.15, linewidth=0)
            left.plot(at, values[:, 0], color=colour, marker="o", markersize=3.5, label=model)
            left.plot(
                at, [100 * season.truth["P@5"][place] for season in one], color=colour, linestyle=":", linewidth=1.4
            )
        left.set(xlabel="season", ylabel="P@5 (%)", title="estimated after each update; dotted: the truth")
        left.legend(frameon=False, loc="best", fontsize=8)
        for label, colour, counts in (
            ("labelled anew", "#888888", [season.n_full_labels for season in one]),
            ("updated", "#20639b", [one[0].n_full_labels, *(season.n_new_labels for season in one[1:])]),
        ):
            right.plot(at, np.cumsum(counts), color=colour, marker="o", markersize=3.5, label=label)
        right.set(xlabel="season", title="labels so far")
        right.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        right.set_ylim(bottom=0)
        right.legend(frameon=False, loc="upper left", fontsize=8)
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--replays", type=int, default=20)
    options.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "likewise-seasons")
    options.add_argument("--tuning", action="store_true", help="the wardrobe that settings are chosen on; prints")
    options.add_argument("--designs", default=",".join(REPLAYS))
    options.add_argument("--photographs", action="store_true")
    options.add_argument("--data", type=Path)
    options.add_argument("--own-queries", type=int, help="only so many replays against the truth of their own queries")
    chosen = options.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    seed = TUNING if chosen.tuning else REPORTED
    if chosen.photographs:
        bench, models, name = photographs_bench(chosen.work, chosen.data), MEASURED, "photographs"
    else:
        bench, models, name = wardrobe(chosen.work, seed), MODELS, str(seed)
    if chosen.own_queries:
        table = own_queries_table(bench, models, chosen.work, chosen.own_queries)
        if chosen.photographs:
            fill(HERE / "living.md", {"living-photographs-queries": table})
        else:
            print(table)
        return
    found = {
        design: replays(bench, models, chosen.work, name, design, max(2, round(share * chosen.replays)))
        for design, share in REPLAYS.items()
        if design in chosen.designs.split(",")
    }
    n_cases = {design: len(models) * N_SEASONS * len(each) for design, each in found.items() if design != "eds"}
    counted = ", ".join(f"{n:,} estimates of each measure with {design}" for design, n in n_cases.items())
    said = f"""{N_QUERIES} queries; {counted}, of {len(models)} models. New pairs get {100 * SHARE_OF_DESIGN:.0f} % of
    the labels that the design would give them in a pool made anew."""
    labels, estimates = labels_table(found), f"{estimates_table(found)}\n\n{paragraph(said)}"
    if chosen.tuning:
        print(f"{labels}\n\n{estimates}")
    elif chosen.photographs:
        fill(HERE / "living.md", {"living-photographs-labels": labels, "living-photographs-estimates": estimates})
    else:
        fill(HERE / "living.md", {"living-labels": labels, "living-estimates": estimates})
        draw(found["sampled"], HERE / "seasons.svg")


if __name__ == "__main__":
    main()
