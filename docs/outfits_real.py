"""The tables of outfits.md on outfits of real stylists: `python docs/outfits_real.py --data FOLDER --work FOLDER`.

FOLDER holds catalog.csv and outfits.csv. Runs `new`, `encode`, `outfits benchmark --folds 5 --words`, and a few models
again with eight folds (about fifteen minutes of one core; goes on where it stopped), then fills the page.
`--values` and `--values-eight` fill it from stored values; a model that stands in several tables counts in the last.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
from marks import fill, paragraph

from likewise.catalog import read_catalog
from likewise.outfits.benchmark.cross_validation import training_sizes
from likewise.outfits.benchmark.folds import copy_groups, split_items
from likewise.outfits.benchmark.summary import compare_with, summarize
from likewise.outfits.training.step import read_outfits
from likewise.workspace import WorkspaceFolder

PAGE = Path(__file__).with_name("outfits.md")
ENCODER = "efficientnet-lite0?pooling=stages"
N_FOLDS, SEED = 5, 1  # settings were compared on another division, seed 0
N_MORE_FOLDS, MORE_FOLDS = 8, ("mean-cosine", "popular", "type-aware")
BASELINES = ["mean-cosine", "popular"]
ORDER = ("random", *BASELINES, "bi-lstm", "type-aware", "sce-net", "fhn", "ngnn", "ngnn-agreement", "set-transformer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--values", type=Path, nargs="*", help="Tables outfits-folds-values.parquet that are there.")
    parser.add_argument("--values-eight", type=Path, nargs="*", help="The same, of eight folds.")
    given = parser.parse_args()
    workspace = WorkspaceFolder(given.work / "looks")
    if not given.values:
        measure(given.data, workspace.path, given.work)
    values = stored(given.values or [given.work / f"values-{N_FOLDS}.parquet"])
    more = stored(given.values_eight or [given.work / f"values-{N_MORE_FOLDS}.parquet"])
    catalog = read_catalog(workspace)
    outfits, _ = read_outfits(workspace, catalog, given.data / "outfits.csv")
    folds = split_items(outfits, N_FOLDS, groups=copy_groups(workspace, catalog), seed=SEED)
    learned, tested = (f"{min(each):,} to {max(each):,}" for each in zip(*training_sizes(folds), strict=True))
    setting = (
        f"{len(catalog):,} products and {len(outfits):,} outfits of a fashion house's stylists; vectors of "
        f"`{ENCODER}`. Of the outfits {folds.n_tested:,} lie within one of {N_FOLDS} item-disjoint folds and are "
        f"tested; the other {len(outfits) - folds.n_tested:,} hold items of several folds, and teach where none is "
        f"tested: {learned} outfits to learn from and {tested} to test on per fold. Values in percent, with 95 % "
        f"intervals over outfits and folds:"
    )
    blocks = {
        "outfits-real-setting": paragraph(setting),
        "outfits-real": scores(values, ("FITB", "FITB hard", "AUC")),
        "outfits-real-apart": apart(values, ("FITB", "FITB hard", "AUC")),
        "outfits-real-hits": scores(values, ("hit@10",)),
        "outfits-real-hits-apart": apart(values, ("hit@10",)),
        "outfits-real-eight": scores(more, ("FITB", "FITB hard", "AUC", "hit@10"), MORE_FOLDS),
        "outfits-real-eight-apart": apart(more, ("FITB", "FITB hard", "AUC", "hit@10")),
    }
    fill(PAGE, blocks)


def stored(paths: list[Path]) -> pl.DataFrame:
    """Values of several tables, of each model those of the last."""
    tables = [pl.read_parquet(path) for path in paths]
    for place, table in enumerate(tables[:-1]):
        later = {name for after in tables[place + 1 :] for name in after["model"].unique()}
        tables[place] = table.filter(~pl.col("model").is_in(later))
    return pl.concat(tables)


def measure(data: Path, looks: Path, work: Path) -> None:
    likewise = [sys.executable, "-m", "likewise"]
    if not looks.exists():
        subprocess.run([*likewise, "new", looks, data / "catalog.csv"], check=True)
    subprocess.run([*likewise, "encode", looks, "--with", ENCODER], check=True)
    more = [word for kind in MORE_FOLDS for word in ("--model", kind)]
    for n_folds, options in ((N_FOLDS, ["--words"]), (N_MORE_FOLDS, more)):
        common = [
            "--outfits",
            str(data / "outfits.csv"),
            "--folds",
            str(n_folds),
            "--with",
            ENCODER,
            "--seed",
            str(SEED),
        ]
        subprocess.run([*likewise, "outfits", "benchmark", looks, *common, *options], check=True)
        shutil.copyfile(looks / "results" / "outfits-folds-values.parquet", work / f"values-{n_folds}.parquet")


def scores(values: pl.DataFrame, measures: tuple[str, ...], models: tuple[str, ...] = ORDER) -> str:
    """Models by measures; models on words beside their own row."""
    cells = {(row["model"], row["measure"]): row for row in summarize(values).iter_rows(named=True)}
    first = {measure: cells["mean-cosine", measure] for measure in measures}
    heads = [f"{m} (n = {first[m]['n_outfits']:,})" for m in measures]
    lines = [f"| model | {' | '.join(heads)} |", f"|---|{'---|' * len(measures)}"]
    for model in models:
        for name in (model, f"{model}, words"):
            if (name, measures[0]) in cells:
                found = [cells[name, measure] for measure in measures]
                shown = (f"{100 * r['value']:.1f} ({100 * r['low']:.1f}–{100 * r['high']:.1f})" for r in found)
                lines.append(f"| {name} | {' | '.join(shown)} |")
    chances = (f"*{100 * first[measure]['chance']:.0f}*" for measure in measures)
    return "\n".join([*lines, f"| *chance* | {' | '.join(chances)} |"])


def apart(values: pl.DataFrame, measures: tuple[str, ...]) -> str:
    """Every trained model minus each baseline, paired by outfit; bold where the models' own intervals lie apart."""
    compared = compare_with(values, BASELINES)
    cells = {(row["model"], row["baseline"], row["measure"]): row for row in compared.iter_rows(named=True)}
    there = {row["model"] for row in compared.iter_rows(named=True)}
    models = [name for base in ORDER[3:] for name in (base, f"{base}, words") if name in there]
    heads = [f"{measure} minus {baseline}" for measure in measures for baseline in BASELINES]
    lines = [f"| model | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for name in models:
        found = [cells[name, baseline, measure] for measure in measures for baseline in BASELINES]
        lines.append(f"| {name} | {' | '.join(_difference(row) for row in found)} |")
    for measure in measures:
        n_apart = sum(all(cells[name, one, measure]["apart"] for one in BASELINES) for name in models)
        n_above = sum(all(cells[name, one, measure]["low"] > 0 for one in BASELINES) for name in models)
        lines += [""] if measure == measures[0] else []
        lines.append(
            f"- {measure}: of {len(models)} trained models {n_above} lie above both baselines by the paired "
            f"difference, {n_apart} also with their own intervals apart from both."
            f"{_exceptions(cells, models, measure)}"
        )
    return "\n".join(lines)


def _exceptions(cells: dict[tuple[str, str, str], dict[str, object]], models: list[str], measure: str) -> str:
    """By name: which models are not above a baseline, and which intervals are not apart from a baseline's."""
    said = []
    for baseline in BASELINES:
        rows = {name: cells[name, baseline, measure] for name in models}
        below = [name for name, row in rows.items() if float(str(row["low"])) <= 0]
        if below:
            said.append(f"Not above {baseline}: {'; '.join(below)}.")
        overlapping = [name for name, row in rows.items() if not row["apart"]]
        if overlapping:
            every = len(models) > 1 and len(overlapping) == len(models)
            named = f"all {len(models)}" if every else "; ".join(overlapping)
            said.append(f"Own intervals overlap with that of {baseline}: {named}.")
    return "".join(f" {sentence}" for sentence in said)


def _difference(row: dict[str, object]) -> str:
    difference, low, high = (100 * float(str(row[name])) for name in ("difference", "low", "high"))
    shown = f"{difference:+.1f} ({low:+.1f} to {high:+.1f})"
    return f"**{shown}**" if row["apart"] else shown


if __name__ == "__main__":
    main()
