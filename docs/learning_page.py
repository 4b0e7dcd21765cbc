"""The tables and the picture of `learning.md`, from what `learning.py` left in its workspaces."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from marks import fill, paragraph
from matplotlib.figure import Figure

from likewise.encoders.spec import spec_name
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.differences import paired_difference
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.retrieval import retrieval
from likewise.intervals import interval_of
from likewise.training.runs import read_run_table
from likewise.workspace import WorkspaceFolder, read_json

LEARNED = "perceptual"
RESULTS, EFFECTS = "results.parquet", "results/trained.parquet"
SHOWN = 4  # of the encoders beside the learned one
WHAT = {
    "given test": "the `test` answers of the data set (same materials, other questions)",
    "answers": "other answers to the same queries",
    "queries": "queries without a training answer",
    "items": "items that no training answer names",
}


def fill_page(work: Path, docs: Path) -> None:
    """Fill `learning.md` and draw `learning.png` from every part that is finished."""
    materials, whole, shop = (
        work / name for name in ("materials/runs/perceptual", "materials/runs/whole", "wardrobe/runs/perceptual")
    )
    blocks: dict[str, str] = {}
    if (materials / RESULTS).exists():
        picked = " (every built-in one at three crops; none was picked by its scores)"
        blocks |= {"learning-materials": people(materials, ("given test", "answers", "queries", "items"), picked)}
        draw(materials, docs / "learning.png")
    if (whole / RESULTS).exists():
        blocks |= {"learning-network": people(whole, ("given test", "answers"))}
    if (shop / RESULTS).exists():
        blocks |= {"learning-wardrobe": people(shop, ("queries", "items"))}
    if (work / "wardrobe" / EFFECTS).exists():
        blocks |= {"learning-wardrobe-effects": effects(work / "wardrobe")}
    if (work / "emoji" / EFFECTS).exists():
        blocks |= {"learning-emoji-effects": effects(work / "emoji")}
    if (work / "products" / "runs" / LEARNED / RESULTS).exists():
        blocks |= {"learning-products": people(work / "products" / "runs" / LEARNED, ("queries", "items"))}
    if (work / "products" / EFFECTS).exists():
        blocks |= {"learning-products-effects": effects(work / "products")}
    if "lite0-cat" in WorkspaceFolder(work / "clothing").encoders():
        blocks |= {"learning-clothing": clothing(work / "clothing")}
    fill(docs / "learning.md", blocks)


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def p_value(p: float) -> str:
    return "< 0.001" if p < 0.0005 else f"{p:.3f}"


def ends(low: float, high: float) -> str:
    return f"{percent(low)} to {percent(high)}"


def people(run: Path, kinds: tuple[str, ...], picked: str = "") -> str:
    """What was learned from answers: a table for every kind of unseen answer."""
    results, summary = (
        read_run_table(run / "results.parquet", "likewise train perceptual"),
        read_json(run / "summary.json"),
    )
    several, base = len(summary["bases"]), spec_name(summary["bases"][0]) if summary["trunk"] else ""
    built = f"`{summary['bases'][0]}` itself" if summary["trunk"] else f"over {several} stored encoders{picked}"
    about = (
        f"{summary['n_answers']:,} training answers ({summary['n_votes']:,} votes) to {summary['n_queries']} queries, "
        f"{built}; chosen: {summary['chosen']}."
    )
    lines = [paragraph(about), ""]
    for kind in kinds:
        here = results.filter(pl.col("unseen") == kind)
        measure = here["measure"][0]
        rows = here.filter(pl.col("measure") == measure)
        own, others = (rows.filter(same) for same in (pl.col("encoder") == run.name, pl.col("encoder") != run.name))
        best = others.sort("value", descending=True)
        best = best.filter((pl.int_range(pl.len()) < SHOWN) | (pl.col("encoder") == base))
        first = own.row(0, named=True)
        name = {"majority": "agreement with the majority", "ROC_AUC": "ROC_AUC, macro"}.get(measure, measure)
        rotated = "" if kind == "given test" else f", {summary['folds']} folds"
        lines.append(f"On {WHAT[kind]}{rotated}; n = {first['n_answers']:,} answers to {first['n_queries']} queries:\n")
        lines.append(f"| model | {name}, % | 95 % | learned minus this, points | p (Holm) |\n|---|---|---|---|---|")
        lines.append(f"| **learned** | **{percent(first['value'])}** | {ends(first['low'], first['high'])} | | |")
        for row in best.iter_rows(named=True):
            gain = f"{100 * row['gain']:+.1f} ({100 * row['gain_low']:+.1f} to {100 * row['gain_high']:+.1f})"
            value = f"{percent(row['value'])} | {ends(row['low'], row['high'])}"
            lines.append(f"| {row['encoder']} | {value} | {gain} | {p_value(row['p_holm'])} |")
        lines.append("")
    curve = summary["calibration"]
    said = "that the closer one is chosen" if summary["learned_from"] == "triplets" else 'of "similar"'
    lines.append(
        paragraph(
            f"Probabilities {said} are off by {100 * curve['expected_error']:.1f} points on average over "
            f"{curve['n_votes']:,} unseen votes (Brier score {curve['brier']:.3f})."
        )
    )
    return "\n".join(lines)


def effects(space: Path) -> str:
    """What each fine-tuning changed, for the two questions, and for images that it did and did not see."""
    rows = pl.read_parquet(space / EFFECTS).drop_nulls("gain")
    runs = rows["encoder"].unique(maintain_order=True)
    abouts = [read_json(space / "runs" / run / "summary.json") for run in runs]
    epochs = ", ".join(f"{each['task'].upper()} {each['epochs']} epochs at {each['rate']:g}" for each in abouts)
    what = f"{abouts[0]['n_images']:,} training images in batches of {abouts[0]['batch']}; {epochs}"
    lines = [
        paragraph(f"{what}; from `{abouts[0]['encoder']}`."),
        "",
        "| trained on | question | before, % | after, % | gain, points (95 %) | p (Holm) | n queries |",
        "|---|---|---|---|---|---|---|",
        *map(_effect, rows.iter_rows(named=True)),
        "",
        *_by_item(space, rows),
    ]
    return "\n".join(lines)


def _by_item(space: Path, rows: pl.DataFrame) -> list[str]:
    """The same item among images that were trained on and among others: what ids teach, and what carries over."""
    catalog = pl.read_parquet(space / "catalog.parquet")
    if catalog["item"].is_unique().all():
        return []
    encoders = [rows["base"][0], *rows["encoder"].unique(maintain_order=True)]
    lines = ["MAP@R by item, of the images of each half among themselves (n images), in percent:\n"]
    halves = {split: catalog.filter(pl.col("split") == split) for split in ("train", "test")}
    head = " | ".join(
        f"{'trained on' if split == 'train' else 'never seen'} ({len(half):,})" for split, half in halves.items()
    )
    lines.append(f"| model | {head} |\n|---|---|---|")
    for encoder in encoders:
        values = []
        for half in halves.values():
            vectors = read_vectors(WorkspaceFolder(space), encoder, half["image"].to_list())
            found = QuerySums.mean_of(retrieval(vectors, half["item"].to_list()).per_query("MAP@R"))
            values.append(f"{percent(found.value())} ({ends(*interval_of(found))})")
        lines.append(f"| {encoder} | {' | '.join(values)} |")
    return [*lines, ""]


def _effect(row: dict[str, Any]) -> str:
    gain = f"{100 * row['gain']:+.1f} ({100 * row['low']:+.1f} to {100 * row['high']:+.1f})"
    question = "what looks alike" if row["question"] == "discovery" else "the same item"
    cells = f"{question}: {row['measure']} | {percent(row['before'])} | {percent(row['after'])} | {gain}"
    return f"| {row['task'].upper()} | {cells} | {p_value(row['p_holm'])} | {row['n_queries']} |"


def clothing(space: Path) -> str:
    """Retrieval by category among photos that were not trained on, before and after."""
    catalog = pl.read_parquet(space / "catalog.parquet").filter(pl.col("split") == "test")
    images, labels = catalog["image"].to_list(), catalog["category"].to_list()
    before, after = (
        retrieval(read_vectors(WorkspaceFolder(space), name, images), labels)
        for name in ("efficientnet-lite0_size-64", "lite0-cat")
    )
    about = read_json(space / "runs" / "lite0-cat" / "summary.json")
    lines = [
        f"{about['n_images']:,} training photos, {about['epochs']} epochs; measured among {len(images):,} others:\n",
        "| measure | before, % | after, % | gain, points (95 %) | p | n |\n|---|---|---|---|---|---|",
    ]
    for measure in ("P@1", "R_Precision", "MAP@R"):
        one, other = (QuerySums.mean_of(found.per_query(measure)) for found in (after, before))
        found = paired_difference(one, other)
        gain = f"{100 * found.value:+.1f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"
        values = f"{percent(other.value())} | {percent(one.value())}"
        lines.append(f"| {measure} | {values} | {gain} | {found.p:.4f} | {one.n_defined:,} |")
    return "\n".join(lines)


def draw(run: Path, target: Path) -> None:
    """Agreement of every encoder, and the reliability of the learned one."""
    results = read_run_table(run / "results.parquet", "likewise train perceptual")
    kind = "given test" if "given test" in set(results["unseen"]) else results["unseen"][0]
    rows = results.filter((pl.col("unseen") == kind) & (pl.col("measure") == results["measure"][0])).sort("value")
    bins = pl.read_parquet(run / "calibration.parquet")
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.5, 1.0))
    values, low, high = (100 * rows[name].to_numpy() for name in ("value", "low", "high"))
    places = np.arange(len(rows))
    colours = ["#b3541e" if name == LEARNED else "#7d8ca3" for name in rows["encoder"]]
    left.errorbar(values, places, xerr=(values - low, high - values), fmt="none", ecolor="#c8ccd4", linewidth=3)
    left.scatter(values, places, color=colours, zorder=3)
    left.set_yticks(places, ["learned" if name == LEARNED else name for name in rows["encoder"]], fontsize=8)
    left.set_xlabel("agreement with the majority of people (%)")
    right.plot([0, 100], [0, 100], color="#c8ccd4", linewidth=1, linestyle="dashed")
    right.plot(100 * bins["predicted"].to_numpy(), 100 * bins["observed"].to_numpy(), marker="o", color="#b3541e")
    right.set(xlabel="predicted share of votes (%)", ylabel="observed share (%)", xlim=(0, 100), ylim=(0, 100))
    right.set_aspect("equal")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, dpi=110)
