"""What k and which generators? Pairs, hours and expected positives for every choice, before anyone is paid.

The input is a pool proposed with the largest k of interest; every smaller k and every subset of the generators is
contained in it. Once some labels exist, the positives of an unseen choice are estimated with an interval
(`positive_model.py`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.discovery.pool import RANDOM
from likewise.discovery.positive_model import PositiveModel, fit_positives
from likewise.discovery.prevalence import SECONDS_PER_PAIR
from likewise.discovery.unit import PairCounter

MAX_GENERATORS_FOR_ALL_SUBSETS = 8

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
    `positives_low` and `positives_high` are the 95 % interval of the positives that labelling these pairs would find.
    """
    proposals = proposals_of(pool, counter)
    counted = counted_proposals(proposals)
    model = None if labels is None else fit_positives(*counted, proposals.k_max, target_labels(proposals, labels))
    rows = []
    for subset in generator_subsets(proposals.generators):
        best_rank = proposals.ranks[:, subset].min(axis=1)
        n_pairs = np.array([np.count_nonzero(best_rank < k) for k in range(proposals.k_max + 1)])
        expected = None if model is None else _expected(model, counted[1][:, subset].min(axis=1), proposals.k_max)
        for k in range(1, proposals.k_max + 1):
            hours = n_pairs[k] * seconds_per_pair / 3600.0
            more_hours = hours - n_pairs[k - 1] * seconds_per_pair / 3600.0
            positives = (None, None, None) if expected is None else expected[k]
            gained = None if expected is None or more_hours == 0 else (expected[k][0] - expected[k - 1][0]) / more_hours
            names = "+".join(proposals.generators[g] for g in subset)
            rows.append((names, len(subset), k, int(n_pairs[k]), hours, *positives, gained))
    return pl.DataFrame(
        rows,
        schema={
            "generators": pl.String,
            "n_generators": pl.Int64,
            "k": pl.Int64,
            "n_pairs": pl.Int64,
            "hours": pl.Float64,
            "expected_positives": pl.Float64,
            "positives_low": pl.Float64,
            "positives_high": pl.Float64,
            "marginal_positives_per_hour": pl.Float64,
        },
        orient="row",
    ).with_columns(pairs_per_query=pl.col("n_pairs") / proposals.n_queries)


def counted_proposals(proposals: Proposals) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The query (a number) and the ranks of everything that counts once: the best rank of an item's images."""
    _, query_of_pair = np.unique(proposals.pairs["query"].to_numpy(), return_inverse=True)
    n_targets = int(proposals.target.max()) + 1
    query, ranks = np.zeros(n_targets, np.int64), np.full((n_targets, len(proposals.generators)), proposals.k_max)
    query[proposals.target] = query_of_pair
    np.minimum.at(ranks, proposals.target, proposals.ranks)
    return query, ranks


def target_labels(proposals: Proposals, labels: pl.DataFrame) -> Floats:
    """The label of everything that counts once, the highest of its images; NaN where none is labelled."""
    known = proposals.pairs.join(labels, on=["query", "candidate"], how="left", maintain_order="left")["label"]
    label = known.cast(pl.Float64).fill_null(np.nan).to_numpy()
    highest = np.full(int(proposals.target.max()) + 1, np.nan)
    np.fmax.at(highest, proposals.target, label)
    return highest


def _expected(model: PositiveModel, best_rank: NDArray[np.int64], k_max: int) -> list[tuple[float, float, float]]:
    """Expected positives and the ends of their interval, for every k from 0."""
    positives = _cumulative_by_k(best_rank, model.probability, k_max)
    noise = _cumulative_by_k(best_rank, model.noise, k_max)
    unlabelled = _cumulative_by_k(best_rank, model.is_unlabelled.astype(np.float64), k_max)
    known = positives - _cumulative_by_k(best_rank, np.where(model.is_unlabelled, model.probability, 0.0), k_max)
    gradient = np.column_stack([_cumulative_by_k(best_rank, column, k_max) for column in model.gradient.T])
    return [
        (float(positives[k]), *model.interval(positives[k], known[k], unlabelled[k], gradient[k], noise[k]))
        for k in range(k_max + 1)
    ]


def _cumulative_by_k(best_rank: NDArray[np.int64], amount: Floats, k_max: int) -> Floats:
    """Entry k: the amount summed over what has a best rank under k; entry 0 is 0."""
    at_rank = np.bincount(best_rank, amount, minlength=k_max + 1)[:k_max]
    return np.concatenate([[0.0], np.cumsum(at_rank)])
