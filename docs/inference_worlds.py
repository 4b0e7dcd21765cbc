"""Worlds with a known truth for `inference.py`: queries of many shapes, pairs of models, pools with ranks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.measures.ranked import MicroAverage, PairScores
from likewise.evaluation.query_sums import QuerySums
from likewise.intervals import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shape = Callable[[np.random.Generator, int], Floats]  # so many queries, one value each


def area(mean: float, spread: float, positives: int, negatives: int) -> Shape:
    """ROC-AUC of queries whose positives score higher by a skill of their own."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        similar = rng.normal(size=(n, positives)) + rng.normal(mean, spread, n)[:, None]
        others = rng.normal(size=(n, negatives))
        return np.asarray((similar[:, :, None] > others[:, None, :]).mean(axis=(1, 2)))

    return draw


def average_precision(mean: float, spread: float, positives: int, negatives: int) -> Shape:
    def draw(rng: np.random.Generator, n: int) -> Floats:
        scores = rng.normal(size=(n, positives + negatives))
        scores[:, :positives] += rng.normal(mean, spread, n)[:, None]
        hit = np.argsort(-scores, axis=1) < positives
        precision = np.cumsum(hit, axis=1) / np.arange(1, hit.shape[1] + 1)
        return np.asarray((precision * hit).sum(axis=1) / positives)

    return draw


def precision_at(k: int, a: float, b: float) -> Shape:
    """Hits among k, with a share of similar candidates that differs between queries; k = 1 is right or wrong."""
    return lambda rng, n: rng.binomial(k, rng.beta(a, b, n)) / k


def reciprocal_rank(share: float) -> Shape:
    return lambda rng, n: 1.0 / np.minimum(rng.geometric(share, n), 50)


def beta(a: float, b: float) -> Shape:
    return lambda rng, n: rng.beta(a, b, n)


def mostly_perfect(share: float, a: float, b: float) -> Shape:
    """Perfect with this chance, otherwise anywhere."""
    return lambda rng, n: np.where(rng.random(n) < share, 1.0, rng.beta(a, b, n))


# The interval was chosen on these ...
CHOSEN: dict[str, Shape] = {
    "ROC_AUC 0.6": area(0.36, 0.5, 4, 6),
    "ROC_AUC 0.8": area(1.2, 0.6, 4, 6),
    "ROC_AUC 0.95": area(2.6, 0.9, 4, 6),
    "gallery ROC_AUC 0.92": area(2.2, 0.8, 2, 40),
    "gallery ROC_AUC 0.97": area(3.0, 1.0, 4, 60),
    "gallery ROC_AUC 0.96, few far below": area(3.2, 1.6, 2, 80),
    "0.95, skewed": beta(3.8, 0.2),
    "0.97, very skewed": beta(1.9, 0.06),
    "70 % perfect, mean 0.96": mostly_perfect(0.7, 6.0, 1.0),
    "85 % perfect, mean 0.95": mostly_perfect(0.85, 4.0, 2.0),
    "90 % perfect, mean 0.98": mostly_perfect(0.9, 4.0, 1.0),
    "P@5 0.2": precision_at(5, 0.8, 3.2),
    "P@5 0.7": precision_at(5, 2.1, 0.9),
    "AP 0.15": beta(0.5, 2.8),
    "AP 0.5": beta(1.2, 1.2),
    "P@1 0.3": precision_at(1, 0.3, 0.7),
    "P@1 0.6": precision_at(1, 0.6, 0.4),
}
# ... and is reported on these.
REPORTED: dict[str, Shape] = {
    "ROC_AUC 0.67, 3 against 9": area(0.6, 0.4, 3, 9),
    "ROC_AUC 0.85, 6 against 14": area(1.7, 0.8, 6, 14),
    "gallery ROC_AUC 0.94, 3 against 50": area(2.5, 0.9, 3, 50),
    "gallery ROC_AUC 0.95, few far below": area(2.9, 1.4, 3, 120),
    "75 % perfect, mean 0.95": mostly_perfect(0.75, 4.0, 1.0),
    "AP 0.24": average_precision(0.8, 0.6, 3, 27),
    "AP 0.58": average_precision(2.0, 0.7, 4, 16),
    "P@5 0.3": precision_at(5, 1.5, 3.5),
    "P@9 0.6": precision_at(9, 1.8, 1.2),
    "MRR 0.5": reciprocal_rank(0.32),
    "P@1 0.45": precision_at(1, 0.45, 0.55),
    "P@1 0.8": precision_at(1, 0.8, 0.2),
}


@dataclass(frozen=True)
class TwoModels:
    """The scores that two models give the judged pairs of the same queries."""

    query: Ints
    label: NDArray[np.int8]
    scores: tuple[Floats, Floats]
    n_queries: int

    def estimate(self, model: int, measure: str) -> Estimate:
        score = self.scores[model]
        pairs = PairScores(self.query, np.arange(len(score)), score, self.label, self.n_queries)
        if measure.startswith("micro"):
            return MicroAverage(pairs, measure.removeprefix("micro "))
        ordered = score.reshape(self.n_queries, -1)
        right = self.label.reshape(self.n_queries, -1) == 1
        if measure == "P@1":
            return QuerySums.mean_of(right[np.arange(self.n_queries), ordered.argmax(axis=1)].astype(np.float64))
        positive, negative = (np.where(kind, ordered, np.nan) for kind in (right, ~right))
        above = (positive[:, :, None] > negative[:, None, :]).sum(axis=(1, 2))
        return QuerySums.mean_of(above / (right.sum(axis=1) * (~right).sum(axis=1)))


def two_models(rng: np.random.Generator, n_queries: int, better_by: float = 0.0) -> TwoModels:
    """Exchangeable models: what a query makes of a pair is shared, the rest is each model's own noise."""
    n_pairs = 12
    label = np.zeros((n_queries, n_pairs), np.int8)
    label[np.arange(n_pairs) < rng.integers(2, 9, n_queries)[:, None]] = 1
    shared = rng.normal(size=label.shape) + rng.normal(0, 1, n_queries)[:, None]
    skill = 0.8 + rng.normal(0, 0.5, (2, n_queries, 1)) + np.array([better_by, 0.0])[:, None, None]
    scores = shared + skill * label + rng.normal(0, 1, (2, *label.shape))
    query = np.repeat(np.arange(n_queries), n_pairs)
    return TwoModels(query, label.ravel(), (scores[0].ravel(), scores[1].ravel()), n_queries)


@dataclass(frozen=True)
class RankedPool:
    """Every pair that a generator has among its first k: query, each generator's rank (k for none), the truth."""

    query: Ints
    ranks: Ints
    label: Floats
    k: int


def ranked_pools(rng: np.random.Generator, n_pools: int) -> Iterator[tuple[RankedPool, int]]:
    """Pools of drawn worlds, and up to which rank they are labelled: half of k."""
    for _ in range(n_pools):
        n_queries, n_items, n_generators = int(rng.choice([20, 40, 100])), 300, int(rng.integers(1, 6))
        labelled = int(rng.choice([3, 4, 6, 8]))
        similar = np.zeros((n_queries, n_items), bool)
        n_similar = 1 + rng.negative_binomial(1.5, 1.5 / (1.5 + 8.0), n_queries)
        similar[np.arange(n_items) < n_similar[:, None]] = True
        skill = rng.uniform(1.0, 2.5, n_generators)
        shared = rng.normal(size=similar.shape)
        ranks = np.empty((n_generators, *similar.shape), np.int64)
        for generator in range(n_generators):
            score = skill[generator] * similar + 0.6 * shared + rng.normal(size=similar.shape)
            ranks[generator] = np.argsort(np.argsort(-score, axis=1), axis=1)
        yield pool_of(ranks, similar, 2 * labelled), labelled


def pool_of(ranks: Ints, similar: NDArray[np.bool_], k: int) -> RankedPool:
    """From ranks (generators x queries x items) and the truth."""
    inside = np.nonzero((ranks < k).any(axis=0))
    short = np.minimum(ranks[:, inside[0], inside[1]], k).T
    return RankedPool(inside[0], short, similar[inside].astype(np.float64), k)
