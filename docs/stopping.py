"""Campaigns that are looked at after every 50 labels, for `stopping.md`: `python docs/stopping.py`.

Questions: which of two models is better, for every two of eight; which of three is best, for all sets of three that
hold the best two; and the share of similar pairs found (recall within 5 points). `--quick` makes few campaigns, and
prints instead of writing the page. Campaigns are kept in the work folder as they are made; a run that was interrupted
goes on where it stopped, and `--as-is` makes tables of those that there are.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from marks import fill
from sampling_bench import Bench, Floats, Ints, drawn_wardrobe, materials_bench
from sampling_draws import DrawnDesign, RoundOfPairs, draw_campaign_rounds, labelled

from likewise.evaluation.estimates.catalog_measures import ExpectedMeasure
from likewise.evaluation.estimates.chances import Expectation
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.estimate import CatalogEstimates
from likewise.evaluation.estimates.judge import labelled_pairs
from likewise.evaluation.estimates.linearised import estimate_count, estimate_measure
from likewise.evaluation.estimates.prediction import fit_predictions, with_labels
from likewise.evaluation.stopping.goal import LabelingGoal
from likewise.evaluation.stopping.settled import Settlement, settle_goal

PAGE = Path(__file__).parent / "stopping.md"
K, MEASURE, MARGIN, EVERY = 10, "P@10", 0.05, 50
N_QUERIES, LABELS_PER_QUERY, FIRST_LOOK, KEEP_EVERY = 40, 20, 200, 10
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
    positives = estimate_count(corrections, Expectation(known.sum(axis=1), np.ones(len(drawn.query))))
    return CatalogEstimates(list(bench.names), found, positives, len(drawn.query), int(drawn.label.sum()))


SETTLED_AT, SETTLED, WRONG, PEEKING, OUTSIDE = range(5)
"""Of one question in one campaign: labels when it was settled (all, if never), whether it was, and with a wrong answer;
whether a 95 % interval of one look ever named a wrong winner; whether the truth was ever outside the sequence."""


def questions(bench: Bench) -> list[LabelingGoal]:
    truth = bench.truth()[MEASURE]
    by_value = [bench.names[place] for place in np.argsort(-truth)]
    goals = [LabelingGoal("better", pair, MEASURE, MARGIN) for pair in combinations(bench.names, 2)]
    goals += [LabelingGoal("best", (*by_value[:2], third), MEASURE, MARGIN) for third in by_value[2:]]
    return [*goals, LabelingGoal("recall", (), MEASURE, MARGIN)]


def run_campaign(bench: Bench, design: DrawnDesign, goals: list[LabelingGoal], seed: int) -> Floats:
    """Rounds one after the other, labels of a round in random order; look after every 50 and settle goal by goal.

    Returns (questions, 5).
    """
    rng = np.random.default_rng([3, seed])
    queries = rng.integers(0, bench.n_queries, N_QUERIES)
    truth = dict(zip(bench.names, bench.truth()[MEASURE], strict=True))
    n_similar = float(bench.similar[queries].sum())
    rounds = draw_campaign_rounds(bench, queries, N_QUERIES * LABELS_PER_QUERY, design, rng)
    orders = [rng.permutation(len(one.query)) for one in rounds]
    n_labels = sum(map(len, orders))
    done = np.zeros((len(goals), 5))
    done[:, SETTLED_AT] = n_labels
    for n in range(FIRST_LOOK, n_labels + 1, EVERY):
        so_far = labelled(bench, queries, _arrived(rounds, orders, n), design)
        if so_far.label.min() == so_far.label.max():
            continue
        found = estimate_precision(bench, so_far, queries.tolist(), seed)
        for goal, row in zip(goals, done, strict=True):
            answer = settle_goal(goal, found)
            row[OUTSIDE] = max(row[OUTSIDE], _outside(goal, answer, found, truth, n_similar))
            if goal.kind == "better":
                row[PEEKING] = max(row[PEEKING], _wrong_at_one_look(goal, found, truth))
            if answer.settled and not row[SETTLED]:
                wrong = _wrong(goal, answer, found, truth, n_similar)
                row[[SETTLED_AT, SETTLED, WRONG]] = n, 1.0, wrong
    return done


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


def summary_rows(goals: list[LabelingGoal], looks: Floats, bench: Bench, design: DrawnDesign) -> list[str]:
    """One line per kind of question: means over its questions, and the worst of them."""
    lines, n_labels = [], N_QUERIES * LABELS_PER_QUERY
    for kind, title in (
        ("better", "A better than B"),
        ("best", "best of three"),
        ("recall", "recall within ± 5 points"),
    ):
        some = looks[:, [place for place, goal in enumerate(goals) if goal.kind == kind]]
        wrong, outside, peeking = (100.0 * some[:, :, side].mean(axis=0) for side in (WRONG, OUTSIDE, PEEKING))
        settled = some[:, :, SETTLED] == 1.0
        saved = 100.0 * (1.0 - some[:, :, SETTLED_AT] / n_labels)
        cells = [
            bench.title,
            DESIGNS[design],
            f"{title} ({some.shape[1]})",
            f"{wrong.mean():.1f} %, {wrong.max():.1f} %",
            f"{outside.mean():.1f} %, {outside.max():.1f} %",
            f"{peeking.max():.1f} %" if kind == "better" else "",
            f"{100 * settled.mean():.0f} %",
            _quantiles(saved),
            _quantiles(saved[settled]) if settled.any() else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _quantiles(saved: Floats) -> str:
    return ", ".join(f"{value:.0f}" for value in np.quantile(saved, (0.1, 0.5, 0.9))) + " %"


def run(bench: Bench, design: DrawnDesign, n_campaigns: int, kept: Path) -> str:
    """The table of one design."""
    lines = [
        "| catalog | design | question (how many) | wrong answer: mean, worst | truth ever outside: mean, worst "
        "| wrong winner at any 95 % interval: worst | settled | labels saved: 10 %, 50 %, 90 % "
        "| where settled: 10 %, 50 %, 90 % |",
        "|---" * 9 + "|",
    ]
    goals, file = questions(bench), kept / f"stopping-{bench.name}-{design}.npz"
    looks, seconds = np.empty((0, len(goals), 5)), 0.0
    if file.exists():
        with np.load(file) as stored:
            looks, seconds = stored["looks"], float(stored["seconds"])
    for seed in range(len(looks), n_campaigns):
        started = time.process_time()
        looks = np.concatenate([looks, run_campaign(bench, design, goals, seed)[None]])
        seconds += time.process_time() - started
        if len(looks) % KEEP_EVERY == 0 or len(looks) == n_campaigns:
            np.savez(file, looks=looks, seconds=seconds)
    lines += summary_rows(goals, looks, bench, design)
    said = (
        f"{len(looks):,} campaigns of {N_QUERIES * LABELS_PER_QUERY:,} labels for {N_QUERIES} queries, looked at "
        f"after every {EVERY} labels from {FIRST_LOOK} on; {seconds:.0f} s of processor time."
    )
    return f"{said}\n\n" + "\n".join(lines)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="few campaigns; prints")
    asked.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "likewise-sampling")
    asked.add_argument("--campaigns", type=int, help="how many; 1,000 by default, 2 with --quick")
    asked.add_argument("--catalog", choices=("materials", "wardrobe"), default="materials")
    asked.add_argument("--as-is", action="store_true", help="tables of the campaigns kept, no further ones")
    asked.add_argument("--only", choices=tuple(DESIGNS), help="run one design")
    given = asked.parse_args()
    n_campaigns = 0 if given.as_is else given.campaigns or (2 if given.quick else 1000)
    kept: Path = given.work / ("quick" if given.quick else "campaigns")
    kept.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ.get("LIKEWISE_DATA", "../shared/data"))
    wardrobe = given.catalog == "wardrobe"
    bench = drawn_wardrobe(given.work, 600, 3) if wardrobe else materials_bench(given.work, data)
    for block, design in BLOCKS.items():
        if given.only in (None, design):
            text = run(bench, design, n_campaigns, kept)
            if given.quick:
                print(text)
            else:
                fill(PAGE, {block: text})


if __name__ == "__main__":
    main()
