"""Machine judges of planted quality on a catalog whose truth is known, for `judges.md`: `python docs/judges.py`.

`--quick` makes few campaigns on a small catalog, and prints instead of writing the page. Campaigns are kept in the work
folder as they are made; a run that was interrupted goes on where it stopped, and `--as-is` makes the table of those
that there are.
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
N_QUERIES, LABELS_PER_QUERY, PAIRS_PER_LABEL = 30, 25, 6
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


def campaign(bench: Bench, n_queries: int, seed: int) -> Floats:
    """(judges, measures + 1, models, 3): errors, and in the last row the judge's kappa and what it was worth."""
    rng = np.random.default_rng(seed)
    queries = rng.integers(0, bench.n_queries, n_queries)
    n_labels = n_queries * LABELS_PER_QUERY
    people = draw_campaign(bench, queries, n_labels, "sampled", rng)
    own = draw_campaign(bench, queries, PAIRS_PER_LABEL * n_labels, "sampled", rng)
    block, here, every, found_of = bench.block(queries), bench.truth(queries), bench.truth(), []
    for says in JUDGES.values():
        judge = None if says is None else ask(bench, queries, own, people, says, seed)
        found = estimate_catalog(lambda: [(np.arange(n_queries), block)], bench.names, people, (K,), seed, judge)
        agreed = found.judge
        facts = (np.nan, 1.0, 0.0) if agreed is None else (agreed.kappa, found.label_equivalent or 1.0, 0.0)
        found_of.append(np.concatenate([_errors(found, here, every), np.full((1, len(bench.names), 3), facts)]))
    return np.stack(found_of)


def run(work: Path, n_items: int, n_campaigns: int) -> str:
    """Bias, coverage and width for every judge, over the same campaigns."""
    bench = drawn_wardrobe(work, n_items, 3)
    n_queries = min(N_QUERIES, n_items // 2)
    file = work / "campaigns" / f"judges-{n_items}-{n_queries}.npz"
    file.parent.mkdir(exist_ok=True)
    rows, seconds = np.empty((0, len(JUDGES), len(MEASURES) + 1, len(bench.names), 3)), 0.0
    if file.exists():
        with np.load(file) as stored:
            rows, seconds = stored["rows"], float(stored["seconds"])
    for seed in range(len(rows), n_campaigns):
        started = time.process_time()
        rows = np.concatenate([rows, campaign(bench, n_queries, seed)[None]])
        seconds += time.process_time() - started
        np.savez(file, rows=rows, seconds=seconds)
    n_labels = n_queries * LABELS_PER_QUERY
    said = (
        f"{len(rows)} campaigns of {n_labels:,} labels for {n_queries} queries among {n_items:,} items, and "
        f"{PAIRS_PER_LABEL * n_labels:,} pairs for the judge; eight models; {seconds:.0f} s of processor time."
    )
    lines = [
        "| judge | kappa with people | "
        + " | ".join(f"{name}: bias, covered, drawing" for name in MEASURES)
        + " | labels it was worth, per label |",
        "|---" * (len(MEASURES) + 3) + "|",
    ]
    for place, name in enumerate(JUDGES):
        kappa, equivalent, _ = rows[:, place, -1, 0].T
        cells = [_cell(rows[:, place, number]) for number in range(len(MEASURES))]
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
    asked.add_argument("--as-is", action="store_true", help="the table of the campaigns kept, no further ones")
    given = asked.parse_args()
    n_campaigns = 0 if given.as_is else given.campaigns or (3 if given.quick else 100)
    blocks = {"judges-quality": run(given.work, 120 if given.quick else 600, n_campaigns)}
    if given.quick:
        print("\n\n".join(blocks.values()))
    else:
        fill(PAGE, blocks)


if __name__ == "__main__":
    main()
