"""Planted regressions: how often the gate raises a false alarm, lets damage through, and finds it. Fills docs/gate.md.

    python docs/gate.py [--worlds N] [--gates N]

A catalog of 3,000 items in 12 categories, in which looking alike is known: items of one line. The old model sees a
noisy copy of what matters. Every row damages it in one way; queries are drawn, results of the old model's first 20 and
the new model's first 10 are labelled by the truth, and the gate decides. What is true is the same difference over every
item as a query. Minutes on one core.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from marks import fill, paragraph
from numpy.typing import NDArray
from scipy.special import stdtr

from likewise.evaluation.gate.bounded_mean import p_at_most
from likewise.evaluation.gate.decision import ALPHA_PASS, BoundedDifferences, decide_gate
from likewise.evaluation.gate.list_differences import compare_lists
from likewise.evaluation.measures import CutoffMeasure, nDCG
from likewise.evaluation.pairs import JudgedPairs

PAGE = Path(__file__).with_suffix(".md")
N_ITEMS, N_CATEGORIES, LINE, DIM, K, DEPTH = 3000, 12, 10, 24, 10, 20
MARGIN = 0.01
NOISE = 1.0
MEASURE: CutoffMeasure = nDCG @ K
N_QUERIES = (100, 300, 1000)

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Rng = np.random.Generator


@dataclass(frozen=True)
class World:
    """Items with their category and line, what matters of them, and what the old model sees."""

    category: Ints
    line: Ints
    truth: Floats
    seen: Floats


@dataclass(frozen=True)
class Damage:
    """A way to change the model: the lists of every item as a query."""

    name: str
    lists: Callable[[World, Ints, Rng], Ints]  # from the world and the old model's long lists


@dataclass(frozen=True)
class Outcome:
    """Of one world and number of queries: what is true, and the verdicts of many gates."""

    true: float
    worst_category: float
    verdicts: dict[str, int]


def make_world(rng: Rng) -> World:
    line = np.arange(N_ITEMS) // LINE
    category = line % N_CATEGORIES
    centres = rng.normal(size=(N_CATEGORIES, DIM)) * 2.0
    lines = centres[np.arange(line.max() + 1) % N_CATEGORIES] + rng.normal(size=(line.max() + 1, DIM))
    truth = (lines[line] + 0.35 * rng.normal(size=(N_ITEMS, DIM))).astype(np.float32)
    return World(category, line, truth, noisy(truth, NOISE, rng))


def noisy(truth: Floats, level: float, rng: Rng) -> Floats:
    return (truth + level * rng.normal(size=truth.shape)).astype(np.float32)


def long_lists(vectors: Floats, depth: int = 4 * K) -> Ints:
    """The nearest items of every item, itself left out."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = unit @ unit.T
    np.fill_diagonal(scores, -np.inf)
    near = np.argpartition(-scores, depth, axis=1)[:, :depth]
    order = np.argsort(-np.take_along_axis(scores, near, 1), axis=1)
    return np.take_along_axis(near, order, 1).astype(np.int64)


def same(world: World, old: Ints, rng: Rng) -> Ints:
    return old[:, :K]


def retrained(world: World, old: Ints, rng: Rng) -> Ints:
    return long_lists(noisy(world.truth, NOISE, rng))[:, :K]


def worse_everywhere(level: float) -> Callable[[World, Ints, Rng], Ints]:
    return lambda world, old, rng: long_lists(noisy(world.seen, level, rng))[:, :K]


def blind(share: float) -> Callable[[World, Ints, Rng], Ints]:
    """A share of one category all look the same to the new model."""

    def lists(world: World, old: Ints, rng: Rng) -> Ints:
        members = np.flatnonzero(world.category == rng.integers(N_CATEGORIES))
        hit = rng.choice(members, round(share * len(members)), replace=False)
        vectors = world.seen.copy()
        vectors[hit] = noisy(np.repeat(vectors[members].mean(axis=0, keepdims=True), len(hit), axis=0), NOISE, rng)
        return long_lists(vectors)[:, :K]

    return lists


def shuffled(share: float) -> Callable[[World, Ints, Rng], Ints]:
    """A share of the vectors belong to other images."""

    def lists(world: World, old: Ints, rng: Rng) -> Ints:
        hit = rng.choice(N_ITEMS, round(share * N_ITEMS), replace=False)
        vectors = world.seen.copy()
        vectors[hit] = vectors[np.roll(hit, 1)]
        return long_lists(vectors)[:, :K]

    return lists


def low_recall(recall: float) -> Callable[[World, Ints, Rng], Ints]:
    """An index that misses neighbours by chance; those behind move up."""

    def lists(world: World, old: Ints, rng: Rng) -> Ints:
        kept = rng.random(old.shape) < recall
        order = np.argsort(~kept, axis=1, kind="stable")[:, :K]
        return np.take_along_axis(old, order, 1)

    return lists


DAMAGES = (
    Damage("none: the same vectors", same),
    Damage("none: trained again, as good", retrained),
    *(Damage(f"noise of {level:g} on every vector", worse_everywhere(level)) for level in (0.1, 0.15, 0.2, 0.3)),
    *(Damage(f"{100 * share:g} % of a category blind", blind(share)) for share in (0.1, 0.25, 0.5, 1.0)),
    *(
        Damage(f"{100 * share:g} % of the vectors shuffled", shuffled(share))
        for share in (0.002, 0.005, 0.01, 0.02, 0.05)
    ),
    *(Damage(f"index with recall {100 * recall:g} %", low_recall(recall)) for recall in (0.995, 0.99, 0.98, 0.95, 0.9)),
)


def differences(world: World, old: Ints, new: Ints, *, labelled: bool) -> BoundedDifferences:
    """Of every item as a query; without `labelled` only the old model's lists have labels."""
    listed = np.concatenate([old[:, :DEPTH], new] if labelled else [old[:, :DEPTH]], axis=1)
    return compare_lists(MEASURE, old[:, :K], new, labelled_pairs(world, listed)).bounds()


def labelled_pairs(world: World, listed: Ints) -> JudgedPairs:
    """True labels of every item's listed candidates."""
    every = np.arange(N_ITEMS)
    cells = np.unique(np.repeat(every, listed.shape[1]) * N_ITEMS + listed.ravel())
    query, candidate = cells // N_ITEMS, cells % N_ITEMS
    label = (world.line[query] == world.line[candidate]).astype(np.int8)
    names = [str(row) for row in every]
    return JudgedPairs(names, names, every, every, query, candidate, label)


def gate_many(found: BoundedDifferences, category: Ints, n_queries: int, n_gates: int, rng: Rng) -> Outcome:
    verdicts = dict.fromkeys(("pass", "fail", "undecided"), 0)
    unchanged = not np.nan_to_num(found.lowest).any() and not np.nan_to_num(found.highest).any()
    for _ in range(n_gates):
        rows = rng.integers(N_ITEMS, size=n_queries)
        drawn, of = _rows(found, rows), category[rows]
        by_category = {str(each): _rows(found, rows[of == each]) for each in np.unique(of)}
        verdicts["pass" if unchanged else decide_gate(drawn, by_category, MARGIN).verdict] += 1
    worst = min(float(np.nanmean(found.labelled[category == each])) for each in range(N_CATEGORIES))
    return Outcome(found.difference, worst, verdicts)


def _rows(found: BoundedDifferences, rows: Ints) -> BoundedDifferences:
    return BoundedDifferences(found.labelled[rows], found.lowest[rows], found.highest[rows])


@dataclass(frozen=True)
class Table:
    rows: list[str]
    false_alarms: dict[int, tuple[int, int]]
    false_passes: dict[int, tuple[int, int]]


def simulate(n_worlds: int, n_gates: int, seed: int = 0) -> tuple[Table, Table]:
    """All results that differ labelled; and only those of the old model."""
    made = []
    for labelled in (True, False):
        table = Table([], dict.fromkeys(N_QUERIES, (0, 0)), dict.fromkeys(N_QUERIES, (0, 0)))
        for damage in DAMAGES:
            rng = np.random.default_rng(seed)
            outcomes: dict[int, list[Outcome]] = {n: [] for n in N_QUERIES}
            for _ in range(n_worlds):
                world = make_world(rng)
                old = long_lists(world.seen)
                new = damage.lists(world, old, rng)
                truth = differences(world, old, new, labelled=True)
                found = truth if labelled else differences(world, old, new, labelled=False)
                for n in N_QUERIES:
                    one = gate_many(found, world.category, n, n_gates, rng)
                    true = gate_many(truth, world.category, n, 0, rng)
                    outcomes[n].append(Outcome(true.true, true.worst_category, one.verdicts))
            table.rows.append(_row(damage.name, outcomes))
            _count(outcomes, table, undamaged=damage.name.startswith("none"))
            print(table.rows[-1], flush=True)
        made.append(table)
    return made[0], made[1]


def _row(name: str, outcomes: dict[int, list[Outcome]]) -> str:
    every = outcomes[N_QUERIES[0]]
    true, worst = (np.mean([getattr(one, each) for one in every]) for each in ("true", "worst_category"))
    cells = [name, *(f"{100 * each + 1e-9:+.1f}".replace("-0.0", "+0.0") for each in (true, worst))]
    for n in N_QUERIES:
        total = sum(sum(one.verdicts.values()) for one in outcomes[n])
        cells += [f"{100 * sum(one.verdicts[each] for one in outcomes[n]) / total:.0f}" for each in ("pass", "fail")]
    return f"| {' | '.join(cells).replace('-', '−')} |"


def _count(outcomes: dict[int, list[Outcome]], table: Table, *, undamaged: bool) -> None:
    """Failures of models that are as good or within the margin everywhere, and passes of those that lose up to two."""
    for n, found in outcomes.items():
        for one in found:
            n_gates = sum(one.verdicts.values())
            if undamaged or min(one.true, one.worst_category) >= -MARGIN:
                wrong, total = table.false_alarms[n]
                table.false_alarms[n] = wrong + one.verdicts["fail"], total + n_gates
            if -2.0 * MARGIN <= one.true < -MARGIN:
                wrong, total = table.false_passes[n]
                table.false_passes[n] = wrong + one.verdicts["pass"], total + n_gates


def losses(kind: str, n: int, rng: Rng) -> NDArray[np.float64]:
    """Differences of n queries that lose exactly the margin on average."""
    rare = np.where(rng.random(n) < MARGIN / 0.6, -rng.uniform(0.2, 1.0, n), 0.0)
    if kind == "few queries lose much":
        return rare
    if kind == "few lose much, all change a little":
        return np.clip(rare + rng.normal(0.0, 0.04, n), -1.0, 1.0)
    if kind == "all change":
        return np.clip(rng.normal(-MARGIN, 0.1, n), -1.0, 1.0)
    draw = rng.random(n)
    return np.where(draw < 0.05 + MARGIN / 0.3, -0.3, np.where(draw > 0.95, 0.3, 0.0))


def boundary(n_repeats: int, seed: int = 0) -> str:
    """How often a model that loses exactly the margin passes: by Student's t, and by the gate's test."""
    sizes, rng = (30, 100, 200, 300, 500), np.random.default_rng(seed)
    heads = ["what changes", *(f"{n} queries: t, gate %" for n in sizes)]
    rows = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for kind in ("few queries lose much", "few lose much, all change a little", "all change", "some win, more lose"):
        cells = [kind]
        for n in sizes:
            drawn = [losses(kind, n, rng) for _ in range(n_repeats)]
            by_t = np.mean([student_p(values) <= ALPHA_PASS for values in drawn])
            by_gate = np.mean([p_at_most(values, -MARGIN) <= ALPHA_PASS for values in drawn])
            cells.append(f"{100 * by_t:.1f}, {100 * by_gate:.1f}")
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def student_p(values: NDArray[np.float64]) -> float:
    """One-sided p of "the mean is at most -margin"."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    if error == 0.0:
        return float(values.mean() <= -MARGIN)
    return float(stdtr(len(values) - 1, -(values.mean() + MARGIN) / error))


def as_text(table: Table) -> str:
    heads = ["damage", "truly lost or won", "in the worst category"]
    heads += [f"{n} queries: {verdict} %" for n in N_QUERIES for verdict in ("pass", "fail")]
    return "\n".join([f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *table.rows])


def errors(table: Table) -> str:
    rows = [
        "| queries | failed, though as good or within the margin | passed, though losing 1 to 2 points |",
        "|---|---|---|",
    ]
    for n in N_QUERIES:
        both = table.false_alarms[n], table.false_passes[n]
        shares = (f"{100 * wrong / max(total, 1):.1f} % of {total:,}" for wrong, total in both)
        rows.append(f"| {n:,} | {' | '.join(shares)} |")
    return "\n".join(rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--worlds", type=int, default=20)
    options.add_argument("--gates", type=int, default=25)
    chosen = options.parse_args()
    full, partial = simulate(chosen.worlds, chosen.gates)
    world = make_world(np.random.default_rng(0))
    old = long_lists(world.seen)
    found = np.nanmean(
        compare_lists(MEASURE, old[:, :K], old[:, :K], labelled_pairs(world, old[:, :DEPTH])).values()[0]
    )
    said = f"""{chosen.worlds} worlds and {chosen.gates} gates each, {MEASURE}, margin {100 * MARGIN:g} point;
    differences in points; what is neither pass nor fail is undecided. The old model has an {MEASURE} of
    {100 * found:.0f}."""
    fill(
        PAGE,
        {
            "gate-power": f"{as_text(full)}\n\n{paragraph(said)}",
            "gate-errors": errors(full),
            "gate-boundary": boundary(2000),
            "gate-unlabelled": as_text(partial),
            "gate-unlabelled-errors": errors(partial),
        },
    )


if __name__ == "__main__":
    main()
