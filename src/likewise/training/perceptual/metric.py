"""A metric that explains people's votes: d(i, j) = |(z_i - z_j) W|^2 with W = s 1 + D, D shrunk towards zero.

    triplet   P(close) = sigmoid(d(anchor, far) - d(anchor, close))
    pair      P(similar) = sigmoid(b - d(query, candidate))

minimising the mean negative log-likelihood of a vote plus `shrinkage` times |D|^2. With much shrinkage the metric is
the encoders' own up to its scale s; with none it is whatever fits the votes. The gradient is exact, the optimiser
L-BFGS, and there is no chance in it: the same answers give the same weights.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints
from likewise.training.perceptual.answers import Answers

MAX_ITERATIONS = 150
TOLERANCE = 1e-7
MAX_DENSE_RATIO = 8  # all pairs at once while there are at most so many times as many as are needed
START_LOG_SCALE = 0.5


@dataclass(frozen=True)
class MahalanobisMetric:
    """A fitted metric: `scale` times the identity plus `change`, and the threshold of pairs."""

    scale: float
    change: Floats
    threshold: float
    negative_log_likelihood: float
    """Mean negative log-likelihood of a training vote, in nats, without the penalty."""
    steps: int

    @property
    def matrix(self) -> Floats:
        return self.scale * np.eye(len(self.change)) + self.change


@dataclass(frozen=True)
class _ComparedPairs:
    """Every pair of stimuli that some answer compares, once."""

    left: Ints
    right: Ints
    close: Ints
    far: Ints

    @classmethod
    def of(cls, answers: Answers) -> "_ComparedPairs":
        n = len(answers.stimuli)

        def key(one: Ints, other: Ints) -> Ints:
            return np.minimum(one, other) * n + np.maximum(one, other)

        keys = [key(answers.query, answers.close)]
        if answers.are_triplets:
            keys.append(key(answers.query, answers.far))
        distinct, place = np.unique(np.concatenate(keys), return_inverse=True)
        close, far = place[: len(answers)], place[len(answers) :]
        return cls(distinct // n, distinct % n, close, far)


@dataclass(frozen=True)
class _DenseDistances:
    """Distances from one matrix of products: for few stimuli that are compared with each other in all ways."""

    pairs: _ComparedPairs

    def squared(self, projected: Floats) -> Floats:
        products = projected @ projected.T
        own = np.diagonal(products)
        left, right = self.pairs.left, self.pairs.right
        return np.asarray(own[left] + own[right] - 2.0 * products[left, right])

    def gradient(self, projected: Floats, slope: Floats) -> Floats:
        """Gradient by `projected` of a sum of distances with the given slopes."""
        weights = np.zeros((len(projected), len(projected)))
        weights[self.pairs.left, self.pairs.right] = slope
        weights += weights.T
        return np.asarray(2.0 * (weights.sum(axis=1)[:, None] * projected - weights @ projected))


@dataclass(frozen=True)
class _SparseDistances:
    """Distances pair by pair: for many stimuli of which each is compared with few."""

    pairs: _ComparedPairs
    incidence: Any

    def squared(self, projected: Floats) -> Floats:
        gap = projected[self.pairs.left] - projected[self.pairs.right]
        return np.asarray(np.einsum("pk,pk->p", gap, gap))

    def gradient(self, projected: Floats, slope: Floats) -> Floats:
        gap = projected[self.pairs.left] - projected[self.pairs.right]
        return np.asarray(self.incidence.T @ (gap * (2.0 * slope)[:, None]))


def _distance_computer(pairs: _ComparedPairs, n_stimuli: int) -> _DenseDistances | _SparseDistances:
    from scipy.sparse import csr_array

    n_pairs = len(pairs.left)
    if n_stimuli**2 <= MAX_DENSE_RATIO * n_pairs:
        return _DenseDistances(pairs)
    ends = np.concatenate([np.arange(n_pairs), np.arange(n_pairs)])
    signs = np.concatenate([np.ones(n_pairs), -np.ones(n_pairs)])
    stimuli = np.concatenate([pairs.left, pairs.right])
    return _SparseDistances(pairs, csr_array((signs, (ends, stimuli)), shape=(n_pairs, n_stimuli)))


def fit_metric(
    coordinates: Floats,
    answers: Answers,
    shrinkage: float,
    *,
    start: MahalanobisMetric | None = None,
    steps: int = MAX_ITERATIONS,
) -> MahalanobisMetric:
    """Fit to the answers; `coordinates` has one row per stimulus. `start` is the identity by default."""
    from scipy.optimize import minimize

    pairs = _ComparedPairs.of(answers)
    dim = coordinates.shape[1]
    triplets = answers.are_triplets
    votes = answers.yes + answers.no
    total = float(votes.sum())
    distances = _distance_computer(pairs, len(coordinates))

    def value(flat: Floats) -> tuple[float, Floats]:
        scale, threshold = np.exp(flat[0]), flat[1]
        matrix = scale * np.eye(dim) + flat[2:].reshape(dim, dim)
        projected = coordinates @ matrix
        distance = distances.squared(projected)
        logit = (distance[pairs.far] if triplets else threshold) - distance[pairs.close]
        negative_log_likelihood = float(
            (np.logaddexp(0.0, -logit) * answers.yes + np.logaddexp(0.0, logit) * answers.no).sum()
        )
        slope = (votes * _sigmoid(logit) - answers.yes) / total
        by_pair: Floats = np.bincount(pairs.close, -slope, len(pairs.left)).astype(np.float64)
        if triplets:
            by_pair += np.bincount(pairs.far, slope, len(pairs.left))
        by_matrix = coordinates.T @ distances.gradient(projected, by_pair)
        change = flat[2:]
        gradient = np.empty_like(flat)
        gradient[0] = scale * float(np.trace(by_matrix))
        gradient[1] = 0.0 if triplets else float(slope.sum())
        gradient[2:] = by_matrix.ravel() + 2.0 * shrinkage * change
        return negative_log_likelihood / total + shrinkage * float(change @ change), gradient

    begin = np.zeros(2 + dim * dim)
    begin[0], begin[1] = START_LOG_SCALE, 1.0
    if start is not None:
        begin[0], begin[1], begin[2:] = np.log(start.scale), start.threshold, start.change.ravel()
    found = minimize(
        value, begin, jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxcor": 12, "ftol": TOLERANCE}
    )
    change = found.x[2:].reshape(dim, dim)
    penalty = shrinkage * float((change**2).sum())
    return MahalanobisMetric(
        float(np.exp(found.x[0])), change, float(found.x[1]), float(found.fun) - penalty, int(found.nit)
    )


def logits(coordinates: Floats, answers: Answers, metric: MahalanobisMetric) -> Floats:
    """What the metric says about answers: above zero for yes, or for close."""
    projected = coordinates @ metric.matrix

    def distance(one: Ints, other: Ints) -> Floats:
        gap = projected[one] - projected[other]
        return np.asarray(np.einsum("nk,nk->n", gap, gap))

    near = distance(answers.query, answers.close)
    return distance(answers.query, answers.far) - near if answers.are_triplets else metric.threshold - near


def mean_negative_log_likelihood(logit: Floats, answers: Answers) -> float:
    """Of a vote, in nats."""
    total_loss = np.logaddexp(0.0, -logit) * answers.yes + np.logaddexp(0.0, logit) * answers.no
    return float(total_loss.sum() / (answers.yes + answers.no).sum())


def _sigmoid(values: NDArray[np.float64]) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(values))
