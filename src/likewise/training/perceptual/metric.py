"""A metric that explains people's votes: d(i, j) = |(z_i - z_j) W|^2, W = s 1 + D, D shrunk towards zero.

    triplet   P(close) = sigmoid(d(anchor, far) - d(anchor, close))
    pair      P(similar) = sigmoid(b - d(query, candidate))

minimising the mean negative log-likelihood of a vote plus `shrinkage` times |D|^2. With much shrinkage the metric is
the encoders' own up to its scale s; with none it is whatever fits the votes. The gradient is exact, the optimiser
L-BFGS, and there is no chance in it: the same answers give the same weights.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints
from likewise.training.perceptual.answers import Answers

MAX_ITERATIONS, SPARSE_ITERATIONS = 1000, 150
TOLERANCE, SPARSE_TOLERANCE = 1e-10, 1e-7
"""Of the value between two steps: printed digits are those of the minimum; sparse distances are float32, so coarser."""
SLOPE_TOLERANCE, SPARSE_SLOPE_TOLERANCE = 1e-7, 1e-5
"""Of the gradient's largest element, below which the solver stops too, whatever the value does."""
MAX_DENSE_RATIO = 8  # all pairs at once while there are at most so many times as many as are needed
PAIRS_PER_BLOCK = 2048
START_LOG_SCALE = 0.5
MAX_LOGIT = 700.0  # beyond it the exponential is infinite


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
    cells: Ints
    """Of each pair, its place in the matrix of all stimuli laid out flat, once in every triangle."""
    mirrored: Ints

    def squared(self, projected: Floats) -> Floats:
        products = projected @ projected.T
        own = np.diagonal(products)
        distance = own[self.pairs.left] + own[self.pairs.right]
        distance -= 2.0 * products.ravel()[self.cells]
        return np.asarray(distance)

    def gradient(self, projected: Floats, slope: Floats) -> Floats:
        """Gradient by `projected` of a sum of distances with the given slopes."""
        weights = np.zeros((len(projected), len(projected)))
        weights.ravel()[self.cells] = slope
        weights.ravel()[self.mirrored] = slope
        return np.asarray(2.0 * (weights.sum(axis=1)[:, None] * projected - weights @ projected))


@dataclass(frozen=True)
class _SparseDistances:
    """Distances pair by pair: for many stimuli of which each is compared with few.

    Pairs are in the order of a sparse matrix by rows, in blocks that stay in the processor's cache. Fetching rows takes
    most of the time, so they are float32; sums over answers are not.
    """

    pairs: _ComparedPairs
    starts: Ints
    """Of every stimulus, where the pairs begin in which it is the left one; one more than there are stimuli."""

    def squared(self, projected: Floats) -> Floats:
        return _squared_distances(projected.astype(np.float32), self.pairs.left, self.pairs.right)

    def gradient(self, projected: Floats, slope: Floats) -> Floats:
        from scipy.sparse import csr_array

        n, rows = len(projected), projected.astype(np.float32)
        degree = np.bincount(self.pairs.left, slope, n) + np.bincount(self.pairs.right, slope, n)
        weights = csr_array((slope.astype(np.float32), self.pairs.right, self.starts), shape=(n, n))
        return np.asarray(2.0 * (degree[:, None] * projected - weights @ rows - weights.T @ rows))


def _squared_distances(rows: Floats | NDArray[np.float32], left: Ints, right: Ints) -> Floats:
    found = np.empty(len(left))
    for start in range(0, len(left), PAIRS_PER_BLOCK):
        block = slice(start, start + PAIRS_PER_BLOCK)
        gap = rows[left[block]] - rows[right[block]]
        found[block] = np.einsum("pk,pk->p", gap, gap)
    return found


def _distance_computer(pairs: _ComparedPairs, n_stimuli: int) -> _DenseDistances | _SparseDistances:
    if n_stimuli**2 <= MAX_DENSE_RATIO * len(pairs.left):
        return _DenseDistances(pairs, pairs.left * n_stimuli + pairs.right, pairs.right * n_stimuli + pairs.left)
    return _SparseDistances(pairs, np.searchsorted(pairs.left, np.arange(n_stimuli + 1)))


class PenalisedLikelihood:
    """What is minimised, for some answers about stimuli with `coordinates` (one row each), and its gradient.

    Distances depend on W only through W W'; of all W with the same product the symmetric one is nearest to s 1. So D is
    symmetric: half the parameters, and none along which nothing changes. The parameters are log s, the threshold, and
    the upper triangle of D, off the diagonal times the root of two, so that their square is |D|^2. The function is
    evaluated hundreds of times for every shrinkage: what stays the same is computed once, and arrays as long as the
    answers are reused, because allocating them would take as long as filling them.
    """

    def __init__(self, coordinates: Floats, answers: Answers) -> None:
        self.coordinates = coordinates
        self.dim = coordinates.shape[1]
        self.pairs = _ComparedPairs.of(answers)
        self.are_triplets = answers.are_triplets
        self._distances = _distance_computer(self.pairs, len(coordinates))
        is_dense = isinstance(self._distances, _DenseDistances)
        self.tolerance = TOLERANCE if is_dense else SPARSE_TOLERANCE
        self.slope_tolerance = SLOPE_TOLERANCE if is_dense else SPARSE_SLOPE_TOLERANCE
        self.max_iterations = MAX_ITERATIONS if is_dense else SPARSE_ITERATIONS
        total = float((answers.yes + answers.no).sum())
        self._yes, self._no = answers.yes / total, answers.no / total
        self._votes = self._yes + self._no
        self._first, self._second = np.empty(len(answers)), np.empty(len(answers))
        row, column = np.triu_indices(self.dim)
        self._upper, self._lower = row * self.dim + column, column * self.dim + row
        self._factor = np.where(row == column, 0.5, np.sqrt(0.5))  # what lies on the diagonal is counted twice

    def parameters(self, metric: MahalanobisMetric | None) -> Floats:
        """Of a metric, or of the one to begin with."""
        if metric is None:
            return np.concatenate([[START_LOG_SCALE, 1.0], np.zeros(len(self._upper))])
        return np.concatenate([[np.log(metric.scale), metric.threshold], self._pack(metric.change)])

    def change(self, parameters: Floats) -> Floats:
        """D."""
        flat, values = np.zeros(self.dim**2), parameters[2:] * self._factor
        flat[self._upper] = values
        flat[self._lower] += values
        return flat.reshape(self.dim, self.dim)

    def _pack(self, matrix: Floats) -> Floats:
        flat = matrix.ravel()
        return np.asarray((flat[self._upper] + flat[self._lower]) * self._factor)

    def __call__(self, parameters: Floats, shrinkage: float) -> tuple[float, Floats]:
        """Value and gradient."""
        scale, threshold, change = np.exp(parameters[0]), parameters[1], parameters[2:]
        matrix = self.change(parameters)
        matrix.ravel()[:: self.dim + 1] += scale
        projected = self.coordinates @ matrix
        value, slope = self._votes_against(self._distances.squared(projected), threshold)
        n_pairs = len(self.pairs.left)
        by_pair: Floats = -np.bincount(self.pairs.close, slope, n_pairs).astype(np.float64, copy=False)
        if self.are_triplets:
            by_pair += np.bincount(self.pairs.far, slope, n_pairs)
        by_matrix = self.coordinates.T @ self._distances.gradient(projected, by_pair)
        gradient = np.empty_like(parameters)
        gradient[0] = scale * float(np.trace(by_matrix))
        gradient[1] = 0.0 if self.are_triplets else float(slope.sum())
        gradient[2:] = self._pack(by_matrix) + 2.0 * shrinkage * change
        return value + shrinkage * float(change @ change), gradient

    def _votes_against(self, distance: Floats, threshold: float) -> tuple[float, Floats]:
        """The mean negative log-likelihood of a vote, and its derivative by each answer's logit (until the next call).

        With x = -logit, it is the sum of votes log(1 + exp x) - no x: one exponential and one logarithm an answer.
        """
        x, other = self._first, self._second
        np.take(distance, self.pairs.close, out=x, mode="clip")
        if self.are_triplets:
            np.take(distance, self.pairs.far, out=other, mode="clip")
            x -= other
        else:
            x -= threshold
        np.minimum(x, MAX_LOGIT, out=x)
        value = -float(self._no @ x)
        np.exp(x, out=x)
        x += 1.0
        value += float(self._votes @ np.log(x, out=other))
        slope = np.divide(self._votes, x, out=x)
        slope -= self._yes
        return value, slope


def fit_metric(
    likelihood: PenalisedLikelihood,
    shrinkage: float,
    *,
    start: MahalanobisMetric | None = None,
) -> MahalanobisMetric:
    """The metric under which the votes are most likely; `start` is the identity by default."""
    from scipy.optimize import minimize

    found = minimize(
        likelihood,
        likelihood.parameters(start),
        args=(shrinkage,),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxiter": likelihood.max_iterations,
            "maxcor": 12,
            "ftol": likelihood.tolerance,
            "gtol": likelihood.slope_tolerance,
        },
    )
    change = likelihood.change(found.x)
    penalty = shrinkage * float((change**2).sum())
    return MahalanobisMetric(
        float(np.exp(found.x[0])), change, float(found.x[1]), float(found.fun) - penalty, int(found.nit)
    )


def logits(coordinates: Floats, answers: Answers, metric: MahalanobisMetric) -> Floats:
    """What the metric says about answers: above zero for yes, or for close."""
    projected = coordinates @ metric.matrix

    near = _squared_distances(projected, answers.query, answers.close)
    if not answers.are_triplets:
        return metric.threshold - near
    return _squared_distances(projected, answers.query, answers.far) - near


def mean_negative_log_likelihood(logit: Floats, answers: Answers) -> float:
    """Of a vote, in nats."""
    total_loss = np.logaddexp(0.0, -logit) * answers.yes + np.logaddexp(0.0, logit) * answers.no
    return float(total_loss.sum() / (answers.yes + answers.no).sum())
