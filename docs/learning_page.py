"""The tables, words and picture of `learning.md`, from what `learning.py` left in its workspaces."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from likewise.encoders.spec import spec_name
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.bootstrap import RESAMPLES, percentile_interval, query_weights
from likewise.evaluation.differences import randomisation_p, swap_signs
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.retrieval import retrieval
from likewise.training.runs import read_run_table
from likewise.workspace import WorkspaceFolder, read_json

LEARNED = "perceptual"
SHOWN = 4  # of the encoders beside the learned one
WHAT = {
    "given test": "the `test` answers of the data set (same materials, other questions)",
    "answers": "other answers to the same queries (VSD's open-catalog task)",
    "queries": "queries without a training answer (VSD's closed-catalog task)",
    "items": "items that no training answer names",
}
HOW = """\
# Models that learn: from people, and from the catalog

Written by `python docs/learning.py --data PATH`.  All intervals are 95 %, over resampled queries, paired where two
models are compared; `n` says how many answers or queries a number rests on.

    likewise train perceptual shoes                                     # from experts' labels
    likewise train perceptual stones --triplets answers.csv             # from "which of two looks more like it"
    likewise train perceptual shoes --trunk efficientnet-lite0?size=96  # the network itself learns, not an adapter
    likewise train finetune shoes --with efficientnet-lite0 --task id   # id, cat, id+c or dino
    likewise encode shoes --with run:perceptual                         # what was learned is an encoder
    likewise report shoes                                               # has a section on what training changed

An encoder that learned from a workspace's labels knows them, so `likewise evaluate` excludes it with a note.  Its
numbers are those of `train perceptual`, where every answer is scored by a model that has not seen it; the report has
them.
"""
EXPERTS = """
## Learning from people

`train perceptual` learns a metric over the stored vectors of several frozen encoders: a matrix that is pulled towards
"leave it as it is" by a penalty, with or without a hidden layer, fitted to votes.  How strong the penalty is and
whether there is a hidden layer is chosen by cross-validation inside the training answers.  Then it is measured only on
what it has not seen: every fold chooses and learns for itself, and a fold whose training answers give away a test query
or item is refused.

With `--trunk` the network itself is trained: its unit vectors' cosines explain the votes, and cross-validation chooses
for how many steps it learns, from none to the most.  Statistics of batch norms stay fixed.
"""


def write_page(work: Path, target: Path) -> None:
    """Write `learning.md` and `learning.png` from every part that is finished."""
    parts = [HOW, EXPERTS]
    materials = work / "materials" / "runs" / LEARNED
    if (materials / "results.parquet").exists():
        kinds = ("given test", "answers", "queries", "items")
        picked = " (every built-in one at three crops; none was picked by its scores)"
        parts.append(_people(materials, "Materials: answers of a crowd", kinds, picked))
        draw(materials, target / "learning.png")
        parts.append(
            "\n![Agreement with people, and how far the probabilities hold](learning.png)\n\n"
            "Left: agreement with the majority on the `test` answers. Right: predicted against observed share of\n"
            "votes, in bins of equally many votes.\n"
        )
    whole = work / "materials" / "runs" / "whole"
    if (whole / "results.parquet").exists():
        parts.append(_people(whole, "Materials: a network trained whole", ("given test", "answers")))
    shop = work / "wardrobe" / "runs" / LEARNED
    if (shop / "results.parquet").exists():
        parts.append(_people(shop, "Wardrobe: labels of simulated experts", ("queries", "items")))
    parts.append(_effects(work))
    clothing = work / "clothing"
    if "lite0-cat" in WorkspaceFolder(clothing).encoders():
        parts.append(_clothing(clothing))
    (target / "learning.md").write_text("".join(parts), encoding="utf-8")


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def ends(low: float, high: float) -> str:
    return f"{percent(low)} to {percent(high)}"


def _people(run: Path, title: str, kinds: tuple[str, ...], picked: str = "") -> str:
    results, summary = (
        read_run_table(run / "results.parquet", "likewise train perceptual"),
        read_json(run / "summary.json"),
    )
    lines = [f"\n### {title}\n"]
    several, base = len(summary["bases"]), spec_name(summary["bases"][0]) if summary["trunk"] else ""
    built = f"`{summary['bases'][0]}` itself" if summary["trunk"] else f"over {several} stored encoders{picked}"
    lines.append(
        f"{summary['n_answers']:,} training answers ({summary['n_votes']:,} votes) to {summary['n_queries']} queries, "
        f"{built}; chosen: {summary['chosen']}.\n"
    )
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
            lines.append(f"| {row['encoder']} | {value} | {gain} | {row['p_holm']:.3f} |")
        lines.append("")
    curve = summary["calibration"]
    said = "that the closer one is chosen" if summary["learned_from"] == "triplets" else 'of "similar"'
    lines.append(
        f"Probabilities {said} are off by {100 * curve['expected_error']:.1f} points on average over "
        f"{curve['n_votes']:,} unseen votes (Brier score {curve['brier']:.3f})."
    )
    if "items" in kinds:
        lines.append(
            "An answer counts as unseen by item where at least one of its items is; it counts once for every fold\n"
            "that holds one of them out."
        )
    return "\n".join(lines) + "\n"


def _effects(work: Path) -> str:
    titles = {
        "wardrobe": "Wardrobe (simulated experts)",
        "emoji": 'Emoji ("similar" stands for "of the same subcategory", which is no expert\'s opinion)',
    }
    lines = [
        "\n## Does fine-tuning on the catalog help to find what looks alike? (RQ2, RQ3)\n",
        "A pretrained network trained on with the catalog's ids (ID), its categories (CAT), both (ID+C), or with",
        "DINO's own objective.  Half of the items are for training; all queries are of the other half, so ids were not",
        "learned by heart.  Few images, small pictures and few epochs, as two cores allow: read the directions,",
        "not the heights.\n",
    ]
    for name, title in titles.items():
        table = work / name / "results" / "trained.parquet"
        if not table.exists():
            continue
        rows = pl.read_parquet(table)
        runs = rows["encoder"].unique(maintain_order=True)
        abouts = [read_json(work / name / "runs" / run / "summary.json") for run in runs]
        passes = ", ".join(f"{each['task'].upper()} {each['epochs']} epochs at {each['rate']:g}" for each in abouts)
        what = f"{abouts[0]['n_images']:,} training images in batches of {abouts[0]['batch']}; {passes}"
        lines.append(f"### {title}\n\n{what}; from `{abouts[0]['encoder']}`.\n")
        lines.append("| taught by | question | before, % | after, % | gain, points (95 %) | p (Holm) | n queries |")
        lines.append("|---|---|---|---|---|---|---|")
        lines += [_effect(row) for row in rows.iter_rows(named=True)]
        lines += ["", *_by_item(work / name, rows)]
    return "\n".join(lines) + "\n"


def _by_item(space: Path, rows: pl.DataFrame) -> list[str]:
    """The same item among images that were trained on and among others: what ids teach, and what carries over."""
    catalog = pl.read_parquet(space / "catalog.parquet")
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
            low, high = percentile_interval(found.resampled(query_weights(len(found.numerator), RESAMPLES, 0)))
            values.append(f"{percent(found.value())} ({ends(low, high)})")
        lines.append(f"| {encoder} | {' | '.join(values)} |")
    return [*lines, ""]


def _effect(row: dict[str, Any]) -> str:
    gain = f"{100 * row['gain']:+.1f} ({100 * row['low']:+.1f} to {100 * row['high']:+.1f})"
    question = "what looks alike" if row["question"] == "discovery" else "the same item"
    cells = f"{question}: {row['measure']} | {percent(row['before'])} | {percent(row['after'])} | {gain}"
    return f"| {row['task'].upper()} | {cells} | {row['p_holm']:.3f} | {row['n_queries']} |"


def _clothing(space: Path) -> str:
    """Retrieval by category among photos that were not trained on, before and after."""
    catalog = pl.read_parquet(space / "catalog.parquet").filter(pl.col("split") == "test")
    images, labels = catalog["image"].to_list(), catalog["category"].to_list()
    before, after = (
        retrieval(read_vectors(WorkspaceFolder(space), name, images), labels)
        for name in ("efficientnet-lite0_size-64", "lite0-cat")
    )
    about = read_json(space / "runs" / "lite0-cat" / "summary.json")
    lines = [
        "\n### Clothing: categories alone (these photos have no item ids)\n",
        f"{about['n_images']:,} training photos, {about['epochs']} epochs; measured among {len(images):,} other",
        "photos: does the list around a photo show its category?  That is not yet what people call similar.\n",
        "| measure | before, % | after, % | gain, points (95 %) | p | n |\n|---|---|---|---|---|---|",
    ]
    for measure in ("P@1", "R_Precision", "MAP@R"):
        one, other = (QuerySums.mean_of(found.per_query(measure)) for found in (after, before))
        weights, signs = query_weights(len(one.numerator), RESAMPLES, 0), swap_signs(len(one.numerator), 0)
        low, high = percentile_interval(one.resampled(weights) - other.resampled(weights))
        gain = f"{100 * (one.value() - other.value()):+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
        p = randomisation_p(one, other, signs)
        values = f"{percent(other.value())} | {percent(one.value())}"
        lines.append(f"| {measure} | {values} | {gain} | {p:.4f} | {one.n_defined:,} |")
    return "\n".join(lines) + "\n"


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
