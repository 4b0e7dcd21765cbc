"""The second proof of `sampling.md`: the share of similar pairs that is found, against the share of pairs labelled.

EDS labels the union of the generators' k best for growing k; the adaptive design draws rounds.
"""

import time

import numpy as np
from sampling_bench import Bench, Floats, Ints
from sampling_draws import draw_first, so_far

from likewise.discovery.designs.adaptive import MOST_DEPTH, draw_round
from likewise.intervals import t_interval

ROUND_SHARE = 0.02
FINE_SHARE = 0.0025  # of the wardrobe, where positives are rare
GOALS = (0.8, 0.9, 0.95)


def adaptive_curve(
    bench: Bench, queries: Ints, round_share: float, last_share: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Shares labelled and shares found after every round, until `last_share` is labelled and all GOALS are reached
    (or twice as much is labelled)."""
    units = bench.units(queries)
    size = max(len(queries), round(round_share * units.n_pairs))
    views, lists = bench.views(queries), bench.lists(queries, MOST_DEPTH)
    rounds = [draw_first(bench, queries, size, rng, "finding")]
    labelled, found = [], []
    total = int(bench.similar[queries].sum())
    while True:
        known = so_far(bench, queries, rounds)
        labelled.append(len(known.drawn_query) / units.n_pairs)
        found.append(float(known.labelled.label.sum()) / total)
        enough = labelled[-1] >= last_share and (found[-1] >= max(GOALS) or labelled[-1] >= 2.0 * last_share)
        if enough or found[-1] >= 0.999:
            return np.array(labelled), np.array(found)
        rounds.append(draw_round(views, units, lists, known, size, "finding", rng))


def eds_curve(bench: Bench, queries: Ints) -> tuple[Floats, Floats]:
    """Shares labelled and found for every k."""
    block = bench.block(queries)
    best = np.where(block.admissible, block.rank[: bench.n_generators].min(axis=0), bench.n_items)
    similar = bench.similar[queries]
    sizes = np.cumsum(np.bincount(best[block.admissible], minlength=bench.n_items)[: bench.n_items])
    hits = np.cumsum(np.bincount(best[similar], minlength=bench.n_items)[: bench.n_items])
    return sizes / block.admissible.sum(), hits / similar.sum()


def found_at(curve: tuple[Floats, Floats], share: float) -> float:
    return float(np.interp(share, np.append(0.0, curve[0]), np.append(0.0, curve[1])))


def labelled_for(curve: tuple[Floats, Floats], goal: float) -> float:
    """The share labelled at which so much is found; NaN if it never is."""
    labelled, found = np.append(0.0, curve[0]), np.append(0.0, curve[1])
    return float(np.interp(goal, found, labelled)) if found[-1] >= goal else float("nan")


def finding_table(
    bench: Bench,
    n_queries: int | None,
    shares: tuple[float, ...],
    round_share: float,
    n_seeds: int,
    first_seed: int = 0,
) -> str:
    """Means over seeds with 95 % intervals; seeds choose queries (where there are more than are asked) and draws."""
    curves: dict[str, list[tuple[Floats, Floats]]] = {"adaptive, for finding": [], "EDS": []}
    started = time.process_time()
    for seed in range(first_seed, first_seed + n_seeds):
        rng = np.random.default_rng([7, seed])
        queries = np.arange(bench.n_queries)
        if n_queries is not None:
            queries = np.sort(rng.permutation(bench.n_queries)[:n_queries])
        curves["adaptive, for finding"].append(adaptive_curve(bench, queries, round_share, max(shares), rng))
        curves["EDS"].append(eds_curve(bench, queries))
    used = n_queries or bench.n_queries
    said = (
        f"{bench.title[0].upper()}{bench.title[1:]}, {used} queries, {bench.n_generators} generators, "
        f"{100 * bench.similar.sum() / bench.ranked.admissible.sum():.1f} % of pairs similar; rounds of "
        f"{100 * round_share:g} %; {n_seeds} seeds; {time.process_time() - started:.0f} s of processor time."
    )
    lines = [
        "| design | "
        + " | ".join(f"found at {100 * share:g} % labelled" for share in shares)
        + " | "
        + " | ".join(f"labelled for {100 * goal:.0f} % found" for goal in GOALS)
        + " |",
        "|---" * (1 + len(shares) + len(GOALS)) + "|",
    ]
    for name, some in curves.items():
        cells = [_mean([found_at(curve, share) for curve in some]) for share in shares]
        cells += [_mean([labelled_for(curve, goal) for curve in some]) for goal in GOALS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return f"{said}\n\n" + "\n".join(lines)


def _mean(values: list[float]) -> str:
    every = np.array(values)
    if np.isnan(every).any():
        return "not reached" if np.isnan(every).all() else f"not reached in {np.isnan(every).sum()} of {len(every)}"
    mean, error = every.mean(), every.std(ddof=1) / np.sqrt(len(every)) if len(every) > 1 else 0.0
    if np.ptp(every) < 1e-9:
        return f"{100 * mean:.1f} %"
    low, high = t_interval(float(mean), float(error), len(every))
    return f"{100 * mean:.1f} % ({100 * low:.1f}–{100 * high:.1f})"
