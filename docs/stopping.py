"""Campaigns that are looked at after every 50 labels, for `stopping.md`: `python docs/stopping.py`.

`--quick` makes few campaigns on a small catalog, and prints instead of writing the page.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np
from marks import fill
from numpy.typing import NDArray
from sampling_bench import Bench, draw_sampled
from sampling_estimates import drawn_wardrobe, population_truth

from likewise.evaluation.estimates.catalog_measures import ExpectedMeasure
from likewise.evaluation.estimates.chances import Expectation
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.estimate import CatalogEstimates
from likewise.evaluation.estimates.judge import labelled_pairs
from likewise.evaluation.estimates.linearised import estimate_measure
from likewise.evaluation.estimates.prediction import fit_predictions, pair_features, with_labels
from likewise.evaluation.stopping.goal import LabelingGoal
from likewise.evaluation.stopping.settled import settle

PAGE = Path(__file__).parent / "stopping.md"
BLOCKS = {"stopping-mixed": "mixed", "stopping-grouped": "grouped"}
K, MEASURE, MARGIN, EVERY = 10, "P@10", 0.05, 50
N_QUERIES, LABELS_PER_QUERY = 60, 20
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def estimate_precision(
    features: NDArray[np.float32], top: NDArray[np.bool_], names: Sequence[str], drawn: LabelledDraw, seed: int
) -> CatalogEstimates:
    """P@10 of every model as `estimate_catalog` has it, without the measures that are not asked for."""
    mine = features[:, drawn.queries]
    table = mine[:, drawn.query, drawn.unit].T.astype(np.float64)
    predictions = fit_predictions(table, drawn.query, drawn.label, drawn.n_queries, seed)
    admissible = top[0, drawn.queries] | True
    chance = predictions.model.chance(mine, np.arange(drawn.n_queries))
    known = with_labels(chance, admissible, drawn.query, drawn.unit, drawn.label)
    corrections = labelled_pairs(drawn, predictions).corrections
    every = Expectation(np.ones(drawn.n_queries), np.zeros(len(drawn.query)))
    found = []
    for of_model in top[:, drawn.queries]:
        gain = of_model / K
        measured = Expectation((gain * known).sum(axis=1), gain[drawn.query, drawn.unit])
        found.append({MEASURE: estimate_measure(corrections, ExpectedMeasure(measured, every))})
    count = Expectation(known.sum(axis=1), np.ones(len(drawn.query)))
    positives = estimate_measure(corrections, ExpectedMeasure(count, every))
    return CatalogEstimates(list(names), found, positives, len(drawn.query), int(drawn.label.sum()))


def labelled_so_far(drawn: LabelledDraw, arrived: Ints, sizes: Ints) -> LabelledDraw | None:
    """The design with the labels that have arrived, as `labelled_draw` makes it of a workspace."""
    chosen = np.sort(arrived)
    query, label = drawn.query[chosen], drawn.label[chosen]
    kept, place = np.unique(query, return_inverse=True)
    if len(kept) < 2 or label.min() == label.max():
        return None
    share = (np.bincount(query, minlength=len(sizes)) / sizes)[query]
    probability = share / drawn.weight[chosen]  # one round: the weight is 1 / probability
    return LabelledDraw.of_rounds(kept, place.astype(np.int64), drawn.unit[chosen], probability, label)


@dataclass
class Looks:
    """Of one goal over many campaigns: when it was settled (labels), as what, and what would always peeking give."""

    truth: float
    settled_at: list[int] = field(default_factory=list)
    said: list[str] = field(default_factory=list)  # winner, loser, tie, missed (a tie that is none), open
    peeking: list[bool] = field(default_factory=list)  # whether a 95 % interval of one look ever named the wrong one
    at_end: list[str] = field(default_factory=list)  # what a fixed design of all labels says
    outside: list[bool] = field(default_factory=list)  # whether the truth was outside the sequence at any look


def campaign(bench: Bench, truth: Floats, looks: dict[tuple[int, int], Looks], seed: int, *, grouped: bool) -> int:
    """One campaign: draw, let labels arrive in random order, look after every 50, and stop goal by goal."""
    rng = np.random.default_rng(seed)
    queries = rng.integers(0, bench.n_items, N_QUERIES)
    block = bench.block(queries)
    drawn = draw_sampled(bench, block, queries, N_QUERIES * LABELS_PER_QUERY, rng)
    features, top = pair_features(block), block.rank < K
    sizes = np.bincount(drawn.query, minlength=N_QUERIES)
    order = rng.permutation(len(drawn.query))
    if grouped:
        order = np.argsort(rng.permutation(N_QUERIES)[drawn.query], kind="stable")
    open_goals, wrong, outside = set(looks), dict.fromkeys(looks, False), dict.fromkeys(looks, False)
    outcome: dict[tuple[int, int], tuple[int, str]] = {}
    last: CatalogEstimates | None = None
    for n in [*range(EVERY, len(order), EVERY), len(order)]:
        so_far = labelled_so_far(drawn, order[:n], sizes)
        if so_far is None:
            continue
        last = estimate_precision(features, top, bench.names, so_far, seed)
        for pair in looks:
            a, b = (last.by_encoder[place][MEASURE] for place in pair)
            low, high = a.minus(b).interval()
            gap = truth[pair[0]] - truth[pair[1]]
            wrong[pair] |= last.positives.influence.size >= 20 and ((low > 0.0 >= gap) or (high < 0.0 <= gap))
            found = settle(LabelingGoal("better", (bench.names[pair[0]], bench.names[pair[1]]), MEASURE, MARGIN), last)
            for lead in found.comparisons:
                first = lead.model == bench.names[pair[0]]
                outside[pair] |= not lead.low <= (gap if first else -gap) <= lead.high
                if pair in open_goals and found.settled:
                    outcome[pair] = n, _outcome(found.answer, first, gap)
                    open_goals.discard(pair)
    assert last is not None
    for pair, one in looks.items():
        n, said = outcome.get(pair, (len(order), "open"))
        one.settled_at.append(n)
        one.said.append(said)
        one.peeking.append(bool(wrong[pair]))
        one.outside.append(outside[pair])
        a, b = (last.by_encoder[place][MEASURE] for place in pair)
        low, high = a.minus(b).interval()
        first = low > 0.0
        one.at_end.append(_outcome("", first, one.truth) if first or high < 0.0 else "open")
    return len(order)


def _outcome(answer: str, first_leads: bool, gap: float) -> str:
    if "differ by less" in answer:
        return "tie" if abs(gap) < MARGIN else "missed"
    return "winner" if (gap > 0.0) == first_leads and gap != 0.0 else "loser"


def run(
    work: Path, n_items: int, n_campaigns: int, *, grouped: bool
) -> tuple[dict[tuple[int, int], Looks], Bench, str]:
    """Many campaigns; every pair of models is a goal of its own."""
    bench = drawn_wardrobe(work, n_items, 3)
    truth = population_truth(bench)[MEASURE]
    looks = {pair: Looks(float(truth[pair[0]] - truth[pair[1]])) for pair in combinations(range(len(bench.names)), 2)}
    started = time.perf_counter()
    n_labels = 0
    for seed in range(n_campaigns):
        n_labels = campaign(bench, truth, looks, seed, grouped=grouped)
    minutes = (time.perf_counter() - started) / 60.0
    how = "query by query" if grouped else "in mixed order"
    said = (
        f"{n_campaigns:,} campaigns of {n_labels:,} labels for {N_QUERIES} queries among {n_items:,} items, labels "
        f"arriving {how}; {minutes:.0f} minutes on one core."
    )
    return looks, bench, said


def table(looks: dict[tuple[int, int], Looks], names: Sequence[str], n_labels: int) -> str:
    """One row per pair of models, the closest first, and one for all."""
    lines = [
        "| comparison (points of P@10 apart) | wrong winner | right winner | rightly: no difference that matters "
        "| wrongly | open "
        "| wrong winner if one stops at any 95 % interval | labels saved: 10 %, 50 %, 90 % of campaigns |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (a, b), one in sorted(looks.items(), key=lambda each: abs(each[1].truth)):
        kinds = ("loser", "winner", "tie", "missed", "open")
        shares = [100.0 * np.mean([said == kind for said in one.said]) for kind in kinds]
        saved = 100.0 * (1.0 - np.array(one.settled_at) / n_labels)
        quantiles = ", ".join(f"{value:.0f}" for value in np.quantile(saved, (0.1, 0.5, 0.9)))
        cells = [
            f"{names[a]}, {names[b]} ({100 * one.truth:+.1f})",
            *(f"{share:.1f} %" for share in shares),
            f"{100 * np.mean(one.peeking):.1f} %",
            f"{quantiles} %",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def summary(looks: dict[tuple[int, int], Looks]) -> str:
    """The worst comparison, and how often all labels at a fixed number decide."""
    wrong = {pair: 100.0 * np.mean([said == "loser" for said in one.said]) for pair, one in looks.items()}
    peeking = max(100.0 * np.mean(one.peeking) for one in looks.values())
    outside = [100.0 * np.mean(one.outside) for one in looks.values()]
    decided = 100.0 * np.mean([[said != "open" for said in one.said] for one in looks.values()])
    fixed = 100.0 * np.mean([[said != "open" for said in one.at_end] for one in looks.values()])
    return (
        f"Wrong winners: at most {max(wrong.values()):.1f} % of campaigns for any of {len(looks)} comparisons, "
        f"{np.mean(list(wrong.values())):.1f} % on average; stopping at any look whose 95 % interval excludes 0 would "
        f"name a wrong one in up to {peeking:.0f} %. Settled before the labels ran out: {decided:.0f} % (a 95 % "
        f"interval at the end alone names a winner in {fixed:.0f} %). The true difference was outside the sequence at "
        f"some look in {np.mean(outside):.1f} % of campaigns on average and {max(outside):.1f} % at most, where 5 % "
        "are allowed."
    )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="few campaigns, small catalog; prints")
    asked.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "likewise-sampling")
    asked.add_argument("--campaigns", type=int, help="how many; 1,000 by default, 8 with --quick")
    asked.add_argument("--only", choices=tuple(BLOCKS.values()), help="run one part")
    given = asked.parse_args()
    n_campaigns = given.campaigns or (8 if given.quick else 1000)
    for block, name in BLOCKS.items():
        if given.only in (None, name):
            n_items = 120 if given.quick else 600
            looks, bench, said = run(given.work, n_items, n_campaigns, grouped=name == "grouped")
            rows = table(looks, bench.names, N_QUERIES * LABELS_PER_QUERY)
            text = f"{said} {summary(looks)}\n\n{rows}"
            if given.quick:
                print(text)
            else:
                fill(PAGE, {block: text})


if __name__ == "__main__":
    main()
