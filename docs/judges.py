"""Machine judges of planted quality on a catalog whose truth is known, for `judges.md`: `python docs/judges.py`.

`--quick` makes few campaigns on a small catalog, and prints instead of writing the page.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from marks import fill
from numpy.typing import NDArray
from sampling_bench import Bench, drawn_wardrobe
from sampling_draws import draw_campaign

from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.estimate import CatalogEstimates, estimate_catalog
from likewise.evaluation.estimates.judge import JudgeAnswers

PAGE = Path(__file__).parent / "judges.md"
N_QUERIES, LABELS_PER_QUERY, PAIRS_PER_LABEL = 50, 20, 10
K = 10
MEASURES = ("P@10", "nDCG@10", "AP", "ROC_AUC")
JUDGES = {
    "no judge": None,
    "random": (0.5, 0.5),
    "biased: calls 40 % of other pairs similar": (1.0, 0.4),
    "blind: misses 60 % of similar pairs": (0.4, 0.02),
    "fair: 80 % and 10 %": (0.8, 0.1),
    "good: 95 % and 2 %": (0.95, 0.02),
    "the people themselves": (1.0, 0.0),
}
"""By name: the chance of saying similar where people do, and where they do not."""
Floats = NDArray[np.float64]


def ask(
    bench: Bench,
    queries: NDArray[np.int64],
    own: LabelledDraw,
    people: LabelledDraw,
    says: tuple[float, float],
    seed: int,
) -> JudgeAnswers:
    """A judge's answers about its own draw and the pairs drawn for people; a pair asked twice is answered once."""
    n = bench.n_items
    cells, place = np.unique(
        np.concatenate([own.query * n + own.unit, people.query * n + people.unit]), return_index=True
    )
    chance = np.append(1.0 / own.weight, np.zeros(len(people.query)))[place]
    query, unit = cells // n, cells % n
    similar = bench.similar[queries[query], unit]
    said = np.random.default_rng(seed).random(len(cells)) < np.where(similar, *says)
    return JudgeAnswers(query, unit, chance, said.astype(np.float64))


def run(work: Path, n_items: int, n_campaigns: int) -> str:
    """Bias, coverage and width for every judge, over the same campaigns."""
    bench = drawn_wardrobe(work, n_items, 3)
    every = bench.truth()
    n_queries = min(N_QUERIES, n_items // 2)
    n_labels = n_queries * LABELS_PER_QUERY
    rows: dict[str, list[Floats]] = {name: [] for name in JUDGES}
    worth: dict[str, list[tuple[float, float]]] = {name: [] for name in JUDGES}
    started = time.perf_counter()
    for seed in range(n_campaigns):
        rng = np.random.default_rng(seed)
        queries = rng.integers(0, bench.n_queries, n_queries)
        block = bench.block(queries)
        here = bench.truth(queries)
        people = draw_campaign(bench, queries, n_labels, "sampled", rng)
        own = draw_campaign(bench, queries, PAIRS_PER_LABEL * n_labels, "sampled", rng)
        for name, says in JUDGES.items():
            judge = None if says is None else ask(bench, queries, own, people, says, seed)
            found = estimate_catalog(
                lambda block=block: [(np.arange(len(block.admissible)), block)],  # type: ignore[misc]
                bench.names,
                people,
                (K,),
                seed,
                judge,
            )
            rows[name].append(_errors(found, here, every))
            agreed = found.judge
            worth[name].append((np.nan, 1.0) if agreed is None else (agreed.kappa, found.label_equivalent or 1.0))
    minutes = (time.perf_counter() - started) / 60.0
    said = (
        f"{n_campaigns} campaigns of {n_labels:,} labels for {n_queries} queries among {n_items:,} items, and "
        f"{PAIRS_PER_LABEL * n_labels:,} pairs for the judge; eight models; {minutes:.0f} minutes on one core."
    )
    lines = [
        "| judge | kappa with people | "
        + " | ".join(f"{name}: bias, covered, drawing" for name in MEASURES)
        + " | labels it was worth, per label |",
        "|---" * (len(MEASURES) + 3) + "|",
    ]
    for name in JUDGES:
        table, (kappa, equivalent) = np.array(rows[name]), np.array(worth[name]).T
        cells = [_cell(table[:, place]) for place in range(len(MEASURES))]
        shown = "" if np.isnan(kappa).all() else f"{np.nanmean(kappa):.2f}"
        lines.append(f"| {name} | {shown} | {' | '.join(cells)} | {np.median(equivalent):.1f} |")
    return f"{said}\n\n" + "\n".join(lines)


def _errors(found: CatalogEstimates, here: dict[str, Floats], every: dict[str, Floats]) -> Floats:
    """(measures, models, 3): error against these queries, whether the truth of all is covered, the error of drawing."""
    table = np.empty((len(MEASURES), len(found.encoders), 3))
    for place, name in enumerate(MEASURES):
        for model, by_measure in enumerate(found.by_encoder):
            one = by_measure[name]
            low, high = one.share_interval()
            table[place, model] = one.value - here[name][model], low <= every[name][model] <= high, one.drawing_error
    return table


def _cell(table: Floats) -> str:
    """Of (campaigns, models, 3): mean bias, share covered, mean standard error of drawing, over models."""
    bias, covered, drawing = table.mean(axis=(0, 1))
    return f"{100 * bias:+.1f}, {100 * covered:.0f} %, ± {100 * drawing:.2f}"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="few campaigns, small catalog; prints")
    asked.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "likewise-sampling")
    asked.add_argument("--campaigns", type=int, help="how many; 100 by default, 3 with --quick")
    given = asked.parse_args()
    blocks = {
        "judges-quality": run(given.work, 120 if given.quick else 600, given.campaigns or (3 if given.quick else 100))
    }
    if given.quick:
        print("\n\n".join(blocks.values()))
    else:
        fill(PAGE, blocks)


if __name__ == "__main__":
    main()
