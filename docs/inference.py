"""How often do intervals, tests and estimates hold? Simulations against known truths: fills in `inference.md`.

    python docs/inference.py [--quick] [--only coverage] [--seed 1000]

A few minutes; `--quick` repeats less often and writes nothing. Settings were chosen on the shapes CHOSEN with seeds
below 1000; what the page reports are other shapes and seeds from 1000 on.
"""

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from inference_worlds import CHOSEN, REPORTED, Floats, Shape, ranked_pools, two_models
from marks import fill
from scipy.special import expit, logit
from scipy.stats import binom

from likewise.discovery.positive_model import fit_logistic, fit_positives, rank_features
from likewise.discovery.prevalence import chebyshev_error, exact_interval, map_estimate
from likewise.evaluation.bootstrap import percentile_interval, query_weights
from likewise.evaluation.differences import paired_difference
from likewise.evaluation.query_sums import QuerySums
from likewise.intervals import clopper_pearson, interval_of, share_interval, standard_error, t_interval, t_quantile

SIZES = (8, 10, 15, 20, 30, 100)
TEST_SIZES = (8, 15, 30, 100)
MEASURES = ("ROC_AUC", "P@1", "micro ROC_AUC", "micro AP")
SHARE_RANGES = ((0.1, 0.9), (0.3, 0.6), (0.6, 0.9))
Method = Callable[[Floats], tuple[float, float]]


@dataclass(frozen=True)
class Effort:
    """How often each simulation is repeated."""

    intervals: int
    methods: int
    tests: int
    prevalence: int
    pools: int


FULL, QUICK = Effort(4000, 1500, 1500, 20_000, 400), Effort(600, 100, 300, 4000, 80)


@dataclass(frozen=True)
class Coverage:
    """How often an interval holds the truth, and how wide it is on average."""

    share: float
    width: float


def coverage(method: Method, shape: Shape, n: int, repeats: int, seed: int) -> Coverage:
    """Over so many draws of n queries; the truth is the mean of very many."""
    rng = np.random.default_rng(seed)
    truth = float(np.mean([shape(rng, 20_000).mean() for _ in range(10)]))
    drawn = shape(rng, n * repeats).reshape(repeats, n)
    ends = np.array([method(values) for values in drawn])
    held = (ends[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= ends[:, 1])
    return Coverage(float(held.mean()), float((ends[:, 1] - ends[:, 0]).mean()))


def ours(values: Floats) -> tuple[float, float]:
    return interval_of(QuerySums.mean_of(values))


def plain_t(values: Floats) -> tuple[float, float]:
    sums = QuerySums.mean_of(values)
    return t_interval(sums.value(), standard_error(sums.value(), sums.jackknife(), len(values)), len(values))


def logit_t(values: Floats) -> tuple[float, float]:
    value, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
    if error < 1e-12 or not 0.0 < value < 1.0:
        return clopper_pearson(value * len(values), len(values))
    margin = t_quantile(len(values) - 1) * error / (value * (1.0 - value))
    return float(expit(logit(value) - margin)), float(expit(logit(value) + margin))


def percentile(values: Floats) -> tuple[float, float]:
    return percentile_interval(QuerySums.mean_of(values).resampled(query_weights(len(values), 400, 0)))


def equal_tails(values: Floats) -> tuple[float, float]:
    """The chosen one with the same tail at both ends, however many queries there are."""
    sums = QuerySums.mean_of(values)
    return share_interval(sums.value(), standard_error(sums.value(), sums.jackknife(), len(values)), len(values))


def fixed_weight(values: Floats) -> tuple[float, float]:
    """The same with a query of value 1/2 and weight 0.05, however many others there are."""
    sums = QuerySums.mean_of(values)
    error = standard_error(sums.value(), sums.jackknife(), len(values))
    return share_interval(sums.value(), error, len(values), weight=0.05)


METHODS: dict[str, Method] = {
    "percentile bootstrap": percentile,
    "Student's t": plain_t,
    "Student's t of the logit": logit_t,
    "Wilson's with t, weight 0.05": fixed_weight,
    "Wilson's with t, weight by n": equal_tails,
    "Wilson's with t, weight and tails by n (this one)": ours,
}


def interval_table(effort: Effort, seed: int, sizes: Iterable[int] = SIZES) -> dict[str, dict[int, Coverage]]:
    """Coverage of the intervals that are printed, for every reported shape and number of queries."""
    return {
        name: {n: coverage(ours, shape, n, effort.intervals, seed + n) for n in sizes}
        for name, shape in REPORTED.items()
    }


def shares_table(sizes: tuple[int, ...] = SIZES) -> str:
    """Where every query is 0 or 1: the exact coverage over all shares of a range, and at the worst and best of them."""
    lines = ["| true share | " + " | ".join(map(str, sizes)) + " |", "|---|" + "---|" * len(sizes)]
    for least, most in SHARE_RANGES:
        cells = []
        for n in sizes:
            hits = np.arange(n + 1)
            low, high = np.array([ours((np.arange(n) < k).astype(np.float64)) for k in hits]).T
            shares = np.linspace(least, most, 401)
            held = (low[:, None] <= shares) & (shares <= high[:, None])
            covered = (binom.pmf(hits[:, None], n, shares) * held).sum(axis=0)
            cells.append(f"{percent(covered.mean())} ({percent(covered.min())}–{percent(covered.max())})")
        lines.append(f"| {least:g}–{most:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def method_table(effort: Effort, seed: int) -> str:
    """What the choice was made by: lowest and highest coverage, and mean width, over the chosen shapes."""
    lines = ["| interval | " + " | ".join(f"{n} queries" for n in (8, 15, 30)) + " |", "|---|---|---|---|"]
    for name, method in METHODS.items():
        cells = []
        for n in (8, 15, 30):
            found = [coverage(method, shape, n, effort.methods, seed + n) for shape in CHOSEN.values()]
            shares, width = [one.share for one in found], np.mean([one.width for one in found])
            cells.append(f"{percent(min(shares))}–{percent(max(shares))} % ({100 * width:.0f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


@dataclass(frozen=True)
class TestLevel:
    """Of one measure and number of queries: false alarms at 5 % and 1 %, the power, and the difference it is for."""

    alarms: float
    alarms_at_1: float
    power: float
    difference: float


def test_levels(effort: Effort, seed: int, sizes: Iterable[int] = TEST_SIZES) -> dict[str, dict[int, TestLevel]]:
    """Paired tests of two exchangeable models, and of two whose skill differs."""
    found: dict[str, dict[int, TestLevel]] = {measure: {} for measure in MEASURES}
    for n in sizes:
        rng = np.random.default_rng(seed + n)
        null, effect = ([two_models(rng, n, better_by) for _ in range(effort.tests)] for better_by in (0.0, 0.5))
        for measure in MEASURES:
            alike, apart = (
                [paired_difference(world.estimate(0, measure), world.estimate(1, measure)) for world in worlds]
                for worlds in (null, effect)
            )
            p = np.array([one.p for one in alike])
            found[measure][n] = TestLevel(
                float((p < 0.05).mean()),
                float((p < 0.01).mean()),
                float(np.mean([one.p < 0.05 for one in apart])),
                float(np.mean([one.value for one in apart])),
            )
    return found


def prevalence_table(effort: Effort, seed: int) -> dict[tuple[float, int], tuple[float, float]]:
    """How often p lies outside p_hat +- Chebyshev's bound with p_hat put in, and outside the exact interval."""
    rng = np.random.default_rng(seed)
    table = {}
    for p in (0.002, 0.01, 0.05):
        for n_random in (500, 2000):
            counts, times = np.unique(rng.binomial(n_random, p, effort.prevalence), return_counts=True)
            outside = np.zeros(2)
            for n_positive, weight in zip(counts.tolist(), times.tolist(), strict=True):
                estimate = map_estimate(0.0, n_positive, n_random)
                low, high = exact_interval(n_positive, n_random, 0.0)
                beyond = abs(estimate - p) > chebyshev_error(estimate, n_random, 0.05)
                outside += weight * np.array([beyond, not low <= p <= high])
            table[p, n_random] = (float(outside[0] / effort.prevalence), float(outside[1] / effort.prevalence))
    return table


@dataclass(frozen=True)
class BudgetError:
    """Of positives predicted between the labelled rank and twice that: bias, and how often the interval holds."""

    bias: float
    bias_of_log_rank_alone: float
    coverage: float


def budget_error(effort: Effort, seed: int) -> dict[str, BudgetError]:
    """Predict pools of drawn worlds from the labels of their first ranks; by the number of queries, and for all."""
    rows: list[tuple[int, float, float, float, bool]] = []
    for pool, labelled in ranked_pools(np.random.default_rng(seed), effort.pools):
        known = pool.ranks.min(axis=1) < labelled
        model = fit_positives(pool.query, pool.ranks, pool.k, np.where(known, pool.label, np.nan))
        assert model is not None
        hidden, truth = ~known, float(pool.label[~known].sum())
        expected = float(model.probability[hidden].sum())
        gradient, noise = model.gradient.sum(axis=0), float(model.noise.sum())
        low, high = model.interval(expected, 0.0, float(hidden.sum()), gradient, noise)
        features = rank_features(pool.ranks, pool.k)[:, [0, 1, 3]]  # without the rank itself
        plain = fit_logistic(features[known], pool.label[known])[0]
        alone = float(expit(features[hidden] @ plain).sum())
        rows.append((int(pool.query.max()) + 1, expected, alone, truth, low <= truth <= high))
    found = {}
    for name, keep in (*((f"{n} queries", n) for n in (20, 40, 100)), ("all", None)):
        part = [row for row in rows if keep is None or abs(row[0] - keep) <= 1]
        _, expected_sum, alone_sum, truth_sum, inside = (sum(column) for column in zip(*part, strict=True))
        found[name] = BudgetError(expected_sum / truth_sum - 1, alone_sum / truth_sum - 1, inside / len(part))
    return found


def coverage_lines(covered: dict[str, dict[int, Coverage]]) -> list[str]:
    """A row for every shape, and the mean over shapes."""
    lines = ["| value of a query | " + " | ".join(map(str, SIZES)) + " |", "|---|" + "---|" * len(SIZES)]
    lines += [
        f"| {name} | " + " | ".join(percent(one.share) for one in row.values()) + " |" for name, row in covered.items()
    ]
    means = [float(np.mean([row[n].share for row in covered.values()])) for n in SIZES]
    return [*lines, "| **mean over shapes** | " + " | ".join(f"**{percent(mean)}**" for mean in means) + " |"]


def outside_sentences(covered: dict[str, dict[int, Coverage]], repeats: int) -> str:
    """Which cells of the table lie outside 94-96 %, by what sets their queries apart."""
    error = 100 * np.sqrt(0.95 * 0.05 / repeats)
    total = sum(len(row) for row in covered.values())
    beyond = {
        name: [f"{percent(one.share)} at {n}" for n, one in row.items() if not 0.94 <= one.share <= 0.96]
        for name, row in covered.items()
    }
    n_beyond = sum(map(len, beyond.values()))
    n_below = sum(one.share < 0.94 for row in covered.values() for one in row.values())
    lines = [
        f"{n_beyond} of {total} lie outside 94–96 %, {n_below} of them below (a share of {repeats:,} draws has a "
        f"standard error of {error:.1f} points):",
        "",
    ]
    for reason, belongs in REASONS.items():
        named = [f"{name}: {', '.join(cells)}" for name, cells in beyond.items() if cells and belongs(name)]
        lines += [f"- {reason} {'; '.join(named)}."] if named else []
    return "\n".join(lines)


def _near_one(name: str) -> bool:
    return name.startswith("gallery") or "perfect" in name


def _few_levels(name: str) -> bool:
    return name.startswith("P@")


REASONS: dict[str, Callable[[str], bool]] = {
    "*Few levels.* A query counts 0 or 1 (P@1), or one of a few values, so the mean takes few values and the coverage "
    "jumps with the true value and the number of queries; only an interval with a random part would not jump. Over all "
    "true values of a range it is 95 to 96 % (the table below).": _few_levels,
    "*Near 1, with rare failures.* A few queries seldom show one of the failures that the mean rests on. The query of "
    "value 1/2 that stands for them makes the interval wider than most such values need.": _near_one,
    "*Others*, by little:": lambda name: not _few_levels(name) and not _near_one(name),
}


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def tests_table(effort: Effort, seed: int) -> str:
    lines = [
        "| measure | queries | false alarms at 5 % | at 1 % | difference, points | power |",
        "|---|---|---|---|---|---|",
    ]
    for measure, by_size in test_levels(effort, seed).items():
        for n, one in by_size.items():
            cells = percent(one.alarms), percent(one.alarms_at_1), f"{100 * one.difference:.1f}", percent(one.power)
            lines.append(f"| {measure} | {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def prevalence_lines(effort: Effort, seed: int) -> str:
    lines = ["| p | random pairs | outside p̂ ± Chebyshev | outside the exact interval |", "|---|---|---|---|"]
    for (p, n_random), (beyond, outside) in prevalence_table(effort, seed).items():
        lines.append(f"| {p:g} | {n_random:,} | {percent(beyond)} % | {percent(outside)} % |")
    return "\n".join(lines)


def budget_lines(effort: Effort, seed: int) -> str:
    lines = ["| pools | bias of log(1 + rank) alone | bias | the interval holds |", "|---|---|---|---|"]
    for name, error in budget_error(effort, seed).items():
        biases = f"{100 * error.bias_of_log_rank_alone:+.1f} % | {100 * error.bias:+.1f} %"
        lines.append(f"| {name} | {biases} | {percent(error.coverage)} % |")
    return "\n".join(lines)


def coverage_blocks(effort: Effort, seed: int) -> dict[str, str]:
    covered = interval_table(effort, seed)
    return {
        "inference-coverage": "\n".join(coverage_lines(covered)),
        "inference-outside": outside_sentences(covered, effort.intervals),
    }


BLOCKS: dict[str, Callable[[Effort, int], dict[str, str]]] = {
    "choice": lambda effort, _: {"inference-choice": method_table(effort, 0)},
    "coverage": coverage_blocks,
    "shares": lambda *_: {"inference-shares": shares_table()},
    "tests": lambda effort, seed: {"inference-tests": tests_table(effort, seed)},
    "prevalence": lambda effort, seed: {"inference-prevalence": prevalence_lines(effort, seed)},
    "budget": lambda effort, seed: {"inference-budget": budget_lines(effort, seed)},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=BLOCKS, help="a part of the page")
    parser.add_argument("--seed", type=int, default=1000)
    asked = parser.parse_args()
    for name, make in BLOCKS.items():
        if asked.only in (None, name):
            made = make(QUICK if asked.quick else FULL, asked.seed)
            print(*made.values(), sep="\n\n", flush=True)
            if not asked.quick:
                fill(Path(__file__).parent / "inference.md", made)


if __name__ == "__main__":
    main()
