"""Campaigns that are looked at after every 50 labels, for `stopping.md`: `python docs/stopping.py`.

Questions: which of two models is better, for every two of eight; which of three is best, for all sets of three that
hold the best two; and the share of similar pairs found (recall within 5 points). `--quick` makes few campaigns, and
prints instead of writing the page.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np
from marks import fill
from sampling_bench import Bench, Ints, drawn_wardrobe, materials_bench
from sampling_draws import DrawnDesign, RoundOfPairs, draw_campaign_rounds, labelled

from likewise.evaluation.estimates.catalog_measures import ExpectedMeasure
from likewise.evaluation.estimates.chances import Expectation
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.estimate import CatalogEstimates
from likewise.evaluation.estimates.judge import labelled_pairs
from likewise.evaluation.estimates.linearised import estimate_measure
from likewise.evaluation.estimates.prediction import fit_predictions, with_labels
from likewise.evaluation.stopping.goal import LabelingGoal
from likewise.evaluation.stopping.settled import Settlement, settle

PAGE = Path(__file__).parent / "stopping.md"
K, MEASURE, MARGIN, EVERY = 10, "P@10", 0.05, 50
N_QUERIES, LABELS_PER_QUERY, FIRST_LOOK = 40, 20, 200
DESIGNS: dict[DrawnDesign, str] = {
    "sampled": "sampled",
    "comparing": "adaptive, for comparing",
    "finding": "adaptive, for finding",
}

BLOCKS: dict[str, DrawnDesign] = {
    "stopping-sampled": "sampled",
    "stopping-comparing": "comparing",
    "stopping-finding": "finding",
}


def estimate_precision(bench: Bench, drawn: LabelledDraw, rows: Sequence[int], seed: int) -> CatalogEstimates:
    """P@10 of every model as `estimate_catalog` has it, without the measures that are not asked for.

    `rows` are the bench's rows of the campaign's queries.
    """
    asked = np.asarray(rows)[drawn.queries]
    features, top = bench.features[:, asked], bench.ranked.rank[:, asked] < K
    table = features[:, drawn.query, drawn.unit].T.astype(np.float64)
    predictions = fit_predictions(table, drawn.query, drawn.label, drawn.weight, drawn.n_queries, seed)
    chance = np.mean(predictions.model.chances(features, np.arange(drawn.n_queries)), axis=0)
    known = with_labels(chance, bench.ranked.admissible[asked], drawn.query, drawn.unit, drawn.label)
    corrections = labelled_pairs(drawn, predictions).corrections
    every = Expectation(np.ones(drawn.n_queries), np.zeros(len(drawn.query)))
    found = []
    for of_model in top:
        gain = of_model / K
        measured = Expectation((gain * known).sum(axis=1), gain[drawn.query, drawn.unit])
        found.append({MEASURE: estimate_measure(corrections, ExpectedMeasure(measured, every))})
    count = Expectation(known.sum(axis=1), np.ones(len(drawn.query)))
    positives = estimate_measure(corrections, ExpectedMeasure(count, every))
    return CatalogEstimates(list(bench.names), found, positives, len(drawn.query), int(drawn.label.sum()))


@dataclass
class Looks:
    """One question over many campaigns: when it was settled, whether rightly, and what looking often would do."""

    title: str
    kind: str
    settled_at: list[int] = field(default_factory=list)
    wrong: list[bool] = field(default_factory=list)  # settled with a wrong answer
    settled: list[bool] = field(default_factory=list)
    peeking: list[bool] = field(default_factory=list)  # a 95 % interval of one look ever named a wrong winner
    outside: list[bool] = field(default_factory=list)  # the truth was outside the sequence at some look


def questions(bench: Bench) -> dict[LabelingGoal, Looks]:
    truth = bench.truth()[MEASURE]
    by_value = [bench.names[place] for place in np.argsort(-truth)]
    goals = [LabelingGoal("better", pair, MEASURE, MARGIN) for pair in combinations(bench.names, 2)]
    goals += [LabelingGoal("best", (*by_value[:2], third), MEASURE, MARGIN) for third in by_value[2:]]
    goals.append(LabelingGoal("recall", (), MEASURE, MARGIN))
    return {goal: Looks(goal.question, goal.kind) for goal in goals}


def run_campaign(bench: Bench, design: DrawnDesign, looks: dict[LabelingGoal, Looks], seed: int) -> None:
    """Rounds one after the other, labels of a round in random order; look after every 50 and settle goal by goal."""
    rng = np.random.default_rng([3, seed])
    queries = rng.integers(0, bench.n_queries, N_QUERIES)
    truth = dict(zip(bench.names, bench.truth()[MEASURE], strict=True))
    n_similar = float(bench.similar[queries].sum())
    rounds = draw_campaign_rounds(bench, queries, N_QUERIES * LABELS_PER_QUERY, design, rng)
    orders = [rng.permutation(len(one.query)) for one in rounds]
    n_labels = sum(map(len, orders))
    done = {goal: Looks(goal.question, goal.kind) for goal in looks}
    for n in range(FIRST_LOOK, n_labels + 1, EVERY):
        so_far = labelled(bench, queries, _arrived(rounds, orders, n), design)
        if so_far.label.min() == so_far.label.max():
            continue
        found = estimate_precision(bench, so_far, queries.tolist(), seed)
        for goal, one in done.items():
            answer = settle(goal, found)
            one.outside.append(_outside(goal, answer, found, truth, n_similar))
            if goal.kind == "better":
                one.peeking.append(_wrong_at_one_look(goal, found, truth))
            if answer.settled and not one.settled_at:
                one.settled_at.append(n)
                one.wrong.append(_wrong(goal, answer, found, truth, n_similar))
    for goal, one in looks.items():
        mine = done[goal]
        one.settled_at.append(mine.settled_at[0] if mine.settled_at else n_labels)
        one.settled.append(bool(mine.settled_at))
        one.wrong.append(bool(mine.wrong and mine.wrong[0]))
        one.peeking.append(any(mine.peeking))
        one.outside.append(any(mine.outside))


def _arrived(rounds: list[RoundOfPairs], orders: list[Ints], n: int) -> list[RoundOfPairs]:
    """The first n labels: whole rounds, and the part of the last one that has come in, at its share of the chances.

    The share is that of the query in the first round and of the whole round later, as `labelled_draw` has it.
    """
    kept: list[RoundOfPairs] = []
    for one, order in zip(rounds, orders, strict=True):
        if n <= 0:
            break
        if kept:
            some = np.sort(order[:n])
            part = len(some) / len(order)
            kept.append(RoundOfPairs(one.query[some], one.unit[some], one.probability[some] * part))
            n -= len(order)
            continue
        some = np.sort(order[:n])
        share = np.bincount(one.query[some], minlength=N_QUERIES) / np.maximum(
            np.bincount(one.query, minlength=N_QUERIES), 1
        )
        kept.append(RoundOfPairs(one.query[some], one.unit[some], one.probability[some] * share[one.query[some]]))
        n -= len(order)
    return kept


def _recall(found: CatalogEstimates, n_similar: float) -> float:
    return found.n_found / n_similar


def _outside(
    goal: LabelingGoal, answer: Settlement, found: CatalogEstimates, truth: dict[str, float], n_similar: float
) -> bool:
    if goal.kind == "recall":
        recall = _recall(found, n_similar)
        return answer.low is not None and answer.high is not None and not answer.low <= recall <= answer.high
    return any(not one.low <= truth[one.model] - truth[one.other] <= one.high for one in answer.comparisons)


def _wrong(
    goal: LabelingGoal, answer: Settlement, found: CatalogEstimates, truth: dict[str, float], n_similar: float
) -> bool:
    """A winner that is not the best, a tie of models that differ by the margin, or a recall that is further off."""
    if goal.kind == "recall":
        return _outside(goal, answer, found, truth, n_similar)
    leader = answer.comparisons[0].model
    best = max(truth[name] for name in goal.models)
    tie = "differ by less" in answer.answer
    return best - truth[leader] >= goal.margin if tie else truth[leader] < best


def _wrong_at_one_look(goal: LabelingGoal, found: CatalogEstimates, truth: dict[str, float]) -> bool:
    by_name = dict(zip(found.encoders, found.by_encoder, strict=True))
    a, b = goal.models
    low, high = by_name[a][MEASURE].minus(by_name[b][MEASURE]).interval()
    gap = truth[a] - truth[b]
    return bool(low > 0.0 >= gap or high < 0.0 <= gap)


def summary_rows(looks: dict[LabelingGoal, Looks], bench: Bench, design: DrawnDesign) -> list[str]:
    """One line per kind of question: means over its questions, and the worst of them."""
    lines, n_labels = [], N_QUERIES * LABELS_PER_QUERY
    for kind, title in (
        ("better", "A better than B"),
        ("best", "best of three"),
        ("recall", "recall within ± 5 points"),
    ):
        some = [one for one in looks.values() if one.kind == kind]
        wrong, outside, peeking = (
            [100.0 * float(np.mean(values)) for values in side]
            for side in (
                [one.wrong for one in some],
                [one.outside for one in some],
                [one.peeking for one in some],
            )
        )
        saved = 100.0 * (1.0 - np.concatenate([one.settled_at for one in some]) / n_labels)
        quantiles = ", ".join(f"{value:.0f}" for value in np.quantile(saved, (0.1, 0.5, 0.9)))
        cells = [
            bench.title,
            DESIGNS[design],
            f"{title} ({len(some)})",
            f"{np.mean(wrong):.1f} %, {max(wrong):.1f} %",
            f"{np.mean(outside):.1f} %, {max(outside):.1f} %",
            f"{max(peeking):.1f} %" if kind == "better" else "",
            f"{100 * np.mean(np.concatenate([one.settled for one in some])):.0f} %",
            f"{quantiles} %",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def run(bench: Bench, design: DrawnDesign, n_campaigns: int) -> str:
    """The table of one design."""
    lines = [
        "| catalog | design | question (how many) | wrong answer: mean, worst | truth ever outside: mean, worst "
        "| wrong winner at any 95 % interval: worst | settled | labels saved: 10 %, 50 %, 90 % |",
        "|---" * 8 + "|",
    ]
    looks, started = questions(bench), time.process_time()
    for seed in range(n_campaigns):
        run_campaign(bench, design, looks, seed)
    lines += summary_rows(looks, bench, design)
    said = (
        f"{n_campaigns:,} campaigns of {N_QUERIES * LABELS_PER_QUERY:,} labels for {N_QUERIES} queries, looked at "
        f"after every {EVERY} labels from {FIRST_LOOK} on; {time.process_time() - started:.0f} s of processor time."
    )
    return f"{said}\n\n" + "\n".join(lines)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="few campaigns; prints")
    asked.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "likewise-sampling")
    asked.add_argument("--campaigns", type=int, help="how many; 1,000 by default, 2 with --quick")
    asked.add_argument("--catalog", choices=("materials", "wardrobe"), default="materials")
    asked.add_argument("--only", choices=tuple(DESIGNS), help="run one design")
    given = asked.parse_args()
    n_campaigns = given.campaigns or (2 if given.quick else 1000)
    data = Path(os.environ.get("LIKEWISE_DATA", "../shared/data"))
    wardrobe = given.catalog == "wardrobe"
    bench = drawn_wardrobe(given.work, 600, 3) if wardrobe else materials_bench(given.work, data)
    for block, design in BLOCKS.items():
        if given.only in (None, design):
            text = run(bench, design, n_campaigns)
            if given.quick:
                print(text)
            else:
                fill(PAGE, {block: text})


if __name__ == "__main__":
    main()
