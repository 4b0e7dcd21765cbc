"""What k and which generators? Pairs, hours and expected positives for every choice, before anyone is paid.

The input is a pool proposed with the largest k of interest; every smaller k and every subset of the generators is
contained in it. Once some labels exist, unlabelled pairs get a probability from a logistic fit on their best rank
and on how many generators proposed them, so that the positives of an unseen choice can be estimated.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.discovery.pool import RANDOM
from likewise.discovery.prevalence import SECONDS_PER_PAIR
from likewise.discovery.unit import PairCounter

MAX_GENERATORS_FOR_ALL_SUBSETS = 8
RIDGE = 1.0
NEWTON_STEPS = 25

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Proposals:
    """Every distinct pair of a pool and the rank each generator gave it (`k_max` where it did not propose it)."""

    pairs: pl.DataFrame
    generators: list[str]
    ranks: NDArray[np.int64]
    k_max: int
    n_queries: int
    target: NDArray[np.int64]  # the number of what each pair counts as: a query and an item, or a query and an image


def proposals_of(pool: pl.DataFrame, counter: PairCounter | None = None) -> Proposals:
    """Lay the candidates of a pool out as a table of pairs x generators; without a counter every image is a pair."""
    candidates = pool.filter(pl.col("generator") != RANDOM)
    wide = candidates.pivot("generator", index=["query", "candidate"], values="rank").sort("query", "candidate")
    generators = sorted(column for column in wide.columns if column not in ("query", "candidate"))
    k_max = int(candidates["rank"].max()) + 1  # type: ignore[arg-type]
    ranks = wide.select(generators).fill_null(k_max).to_numpy().astype(np.int64)
    pairs = wide.select("query", "candidate")
    counted = pairs.with_columns(target="candidate") if counter is None else counter.with_target(pairs)
    target = counted.select(pl.struct("query", "target").rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    return Proposals(pairs, generators, ranks, k_max, candidates["query"].n_unique(), target)


def generator_subsets(generators: list[str]) -> Iterator[list[int]]:
    """All subsets, smallest first; for many generators only single ones, all but one, and all."""
    n = len(generators)
    sizes = range(1, n + 1) if n <= MAX_GENERATORS_FOR_ALL_SUBSETS else sorted({1, n - 1, n})
    return (list(chosen) for size in sizes for chosen in combinations(range(n), size))


def budget_table(
    pool: pl.DataFrame,
    labels: pl.DataFrame | None = None,
    seconds_per_pair: float = SECONDS_PER_PAIR,
    counter: PairCounter | None = None,
) -> pl.DataFrame:
    """One row per subset of generators and k: pairs, hours per expert, expected positives and their marginal rate.

    `n_pairs` are those an expert sees; positives are counted as `counter` does, two images of one item once.
    """
    proposals = proposals_of(pool, counter)
    probability = positive_probability(proposals, labels)
    rows = []
    for subset in generator_subsets(proposals.generators):
        best_rank = proposals.ranks[:, subset].min(axis=1)
        n_pairs = np.array([np.count_nonzero(best_rank < k) for k in range(proposals.k_max + 1)])
        expected = None if probability is None else _expected_positives(proposals, best_rank, probability)
        for k in range(1, proposals.k_max + 1):
            hours = n_pairs[k] * seconds_per_pair / 3600.0
            more_hours = hours - n_pairs[k - 1] * seconds_per_pair / 3600.0
            positives = None if expected is None else float(expected[k])
            gained = None if expected is None or more_hours == 0 else float(expected[k] - expected[k - 1]) / more_hours
            names = "+".join(proposals.generators[g] for g in subset)
            rows.append((names, len(subset), k, int(n_pairs[k]), hours, positives, gained))
    return pl.DataFrame(
        rows,
        schema={
            "generators": pl.String,
            "n_generators": pl.Int64,
            "k": pl.Int64,
            "n_pairs": pl.Int64,
            "hours": pl.Float64,
            "expected_positives": pl.Float64,
            "marginal_positives_per_hour": pl.Float64,
        },
        orient="row",
    ).with_columns(pairs_per_query=pl.col("n_pairs") / proposals.n_queries)


def positive_probability(proposals: Proposals, labels: pl.DataFrame | None) -> Floats | None:
    """For every pair its label where there is one, else a fitted probability; None without any label."""
    if labels is None:
        return None
    known = (
        proposals.pairs.join(labels, on=["query", "candidate"], how="left", maintain_order="left")["label"]
        .cast(pl.Float64)
        .fill_null(np.nan)
        .to_numpy()
    )
    judged = ~np.isnan(known)
    if not judged.any():
        return None
    features = np.column_stack(
        [
            np.ones(len(known)),
            np.log1p(proposals.ranks.min(axis=1)),
            (proposals.ranks < proposals.k_max).sum(axis=1),
        ]
    ).astype(np.float64)
    fitted = _logistic(features[judged], known[judged], features)
    return np.where(judged, known, fitted)


def _logistic(features: Floats, target: Floats, wanted: Floats) -> Floats:
    """Ridge logistic regression by Newton's method; the intercept is not penalised."""
    penalty = np.diag([0.0] + [RIDGE] * (features.shape[1] - 1))
    penalty[0, 0] = 1e-6  # keeps one-class labels solvable
    weights = np.zeros(features.shape[1])
    for _ in range(NEWTON_STEPS):
        p = _sigmoid(features @ weights)
        gradient = features.T @ (p - target) + penalty @ weights
        curvature = (features * (p * (1 - p))[:, None]).T @ features + penalty
        weights -= np.linalg.solve(curvature, gradient)
    return _sigmoid(wanted @ weights)


def _sigmoid(values: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-np.clip(values, -30.0, 30.0)))


def _expected_positives(proposals: Proposals, best_rank: NDArray[np.int64], probability: Floats) -> Floats:
    """Entry k: positives expected among pairs whose best rank is under k; images of one item are similar together."""
    expected = np.zeros(proposals.k_max + 1)
    highest = np.zeros(int(proposals.target.max()) + 1)
    for k in range(1, proposals.k_max + 1):
        here = best_rank == k - 1
        np.maximum.at(highest, proposals.target[here], probability[here])
        expected[k] = highest.sum()
    return expected
