"""The tables of training in `inference.md`: `python docs/inference_training.py [--data FOLDER --work FOLDER]`.

Without `--data` the drawn reruns, whose truth is known (a few minutes). With the folder that holds `emoji`, two losses
trained 40 times: the reruns of one loss are split into two groups at random, 200 times, and a test that calls the
groups different is wrong. `--work` keeps the trained reruns.
"""

import argparse
import subprocess
import sys
from itertools import combinations, product
from pathlib import Path

import numpy as np
import polars as pl
from marks import fill

from likewise.evaluation.differences import ALPHA, holm_correction
from likewise.evaluation.query_sums import Floats
from likewise.synthetic.reruns import draw_reruns
from likewise.training.differences import class_means
from likewise.training.rerun_test import RerunDifference, RerunValues, compare_reruns
from likewise.training.runs import RunFolder
from likewise.training.tables import read_reruns

PAGE = Path(__file__).parent / "inference.md"
ENCODER = "efficientnet-lite0?size=96"
METHODS = {"contrastive": "contrastive", "normalized-softmax": "normalized softmax"}
N_DRAWN, N_FAMILIES, N_SPLITS, N_TRAINED = 1000, 200, 200, 40
UNEQUAL = (0.03, 0.05, 0.1, 0.1, 0.2, 0.5)


def over_reruns_and_classes(a: Floats, b: Floats, n_queries: Floats) -> RerunDifference:
    return compare_reruns(RerunValues(a), RerunValues(b), n_queries)


def over_classes_alone(a: Floats, b: Floats, n_queries: Floats) -> RerunDifference:
    """As if another seed changed nothing: the paired t-test over the classes' means of all reruns."""
    first, second = (RerunValues(each.mean(axis=0, keepdims=True), deterministic=True) for each in (a, b))
    return compare_reruns(first, second, n_queries)


def level_table(rng: np.random.Generator) -> str:
    """How often two methods with the same true mean are called different."""
    lines = [
        "| reruns | test classes | sd of reruns | sd of a lead over classes | classes alone | reruns and classes |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for n_reruns, n_classes, interaction, spread in product((3, 5, 10), (8, 60), (0.0, 0.5), (0.1, 0.5)):
        alone, both = 0, 0
        for n_queries in rng.integers(1, 40, (N_DRAWN, n_classes)).astype(np.float64):
            a, b = draw_reruns(rng, n_reruns, n_classes, (spread, spread), interaction)
            alone += over_classes_alone(a, b, n_queries).p < ALPHA
            both += over_reruns_and_classes(a, b, n_queries).p < ALPHA
        shown = (n_reruns, n_classes, spread, interaction, percent(alone / N_DRAWN), percent(both / N_DRAWN))
        lines.append(f"| {' | '.join(map(str, shown))} |")
    return "\n".join(lines)


def family_table(rng: np.random.Generator) -> str:
    """How often any of all pairs of six equal methods is called different after Holm's correction."""
    lines = ["| reruns | any false alarm among 15 pairs |", "|--:|--:|"]
    n_queries = np.full(60, 4.0)
    for n_reruns in (3, 5, 10):
        wrong = 0
        for _ in range(N_FAMILIES):
            methods = draw_reruns(rng, n_reruns, 60, UNEQUAL, 0.3)
            p = np.array([over_reruns_and_classes(a, b, n_queries).p for a, b in combinations(methods, 2)])
            wrong += holm_correction(p).min() < ALPHA
        lines.append(f"| {n_reruns} | {percent(wrong / N_FAMILIES)} |")
    return "\n".join(lines)


def power_table(rng: np.random.Generator) -> str:
    """What a check says it can find, and how often it does: one pair, and the strictest of 78 (twelve losses)."""
    lines = [
        "| reruns | pairs | difference stated, in sd of reruns | found |",
        "|--:|--:|--:|--:|",
    ]
    n_queries, spread = np.full(60, 4.0), 0.2
    for n_reruns, n_pairs in product((3, 5, 10, 20), (1, 78)):
        alpha = ALPHA / n_pairs
        pairs = [draw_reruns(rng, n_reruns, 60, (spread, spread), 0.0) for _ in range(400)]
        stated = float(np.median([over_reruns_and_classes(a, b, n_queries).detectable(alpha) for a, b in pairs]))
        found = np.mean([over_reruns_and_classes(a + stated, b, n_queries).p < alpha for a, b in pairs])
        lines.append(f"| {n_reruns} | {n_pairs} | {stated / spread:.1f} | {percent(float(found))} |")
    return "\n".join(lines)


def split_table(workspace: Path, rng: np.random.Generator) -> str:
    """A loss against itself: its reruns in two groups, 200 times."""
    lines = [
        "| loss, embedding (MAP@R) | sd of reruns | reruns a group | classes alone | reruns and classes |",
        "|---|--:|--:|--:|--:|",
    ]
    for method, title in METHODS.items():
        for embedding in ("concatenated", "separated"):
            table = read_reruns(RunFolder(workspace / "runs" / "seeds"), method, N_TRAINED)
            assert table is not None
            values, n_queries = class_means(table.filter(pl.col("embedding") == embedding), "MAP@R")
            spread = float((values @ (n_queries / n_queries.sum())).std(ddof=1))
            for size in (3, 5, 10):
                alone, both = 0, 0
                for _ in range(N_SPLITS):
                    order = rng.permutation(len(values))
                    a, b = values[order[:size]], values[order[size : 2 * size]]
                    alone += over_classes_alone(a, b, n_queries).p < ALPHA
                    both += over_reruns_and_classes(a, b, n_queries).p < ALPHA
                what = f"{title}, {embedding}"
                shares = f"{percent(alone / N_SPLITS)} | {percent(both / N_SPLITS)}"
                lines.append(f"| {what} | {100 * spread:.2f} | {size} | {shares} |")
    return "\n".join(lines)


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def train(data: Path, work: Path) -> Path:
    """Emoji by item; two losses, 40 reruns each."""
    work.mkdir(parents=True, exist_ok=True)
    workspace = work / "emoji"
    if not workspace.exists():
        likewise("new", workspace, data / "emoji" / "catalog.csv")
    likewise("encode", workspace, "--with", ENCODER)
    options = ("--name", "seeds", "--with", ENCODER, "--reruns", N_TRAINED)
    likewise("train", "check", workspace, "--preset", "quick", "--methods", ",".join(METHODS), *options)
    return workspace


def likewise(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "likewise", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, help="the folder that holds emoji")
    asked.add_argument("--work", type=Path, help="where the losses are trained")
    given = asked.parse_args()
    rng = np.random.default_rng(0)
    if given.data and given.work:
        workspace = train(given.data.resolve(), given.work)
        fill(PAGE, {"inference-training-splits": split_table(workspace, rng)})
        return
    tables = {
        "inference-training-level": level_table(rng),
        "inference-training-family": family_table(rng),
        "inference-training-power": power_table(rng),
    }
    fill(PAGE, tables)


if __name__ == "__main__":
    main()
