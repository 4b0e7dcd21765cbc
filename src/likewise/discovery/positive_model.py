"""How many positives are among pairs nobody has labelled? A logistic fit on the labelled ones, with its uncertainty.

The log-odds that a pair is similar are linear in log(1 + rank), in the rank itself, and in how many generators proposed
it, the rank being the best that a generator gave it. Log(1 + rank) alone falls too slowly beyond the ranks that were
labelled. The penalty was chosen by simulation (docs/inference.md): with less, a few queries bend the curve at ranks
that nobody labelled. Queries are the units: the coefficients' covariance is the sandwich over queries, and counts vary
as much more than a coin's as the labelled pairs of a query do.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from likewise.intervals import t_quantile

RIDGE = 2.0
NEWTON_STEPS = 50
RANK_SCALE = 3.0  # the linear feature runs from 0 to this, so that the penalty means the same for every k

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PositiveModel:
    """For every pair its label, or the probability that it is positive, and what a sum of them is worth.

    `gradient` is how the probability of an unlabelled pair moves with the coefficients, `noise` the variance of its
    label; both are 0 for labelled pairs.
    """

    probability: Floats
    is_unlabelled: NDArray[np.bool_]
    gradient: Floats
    noise: Floats
    covariance: Floats
    n_queries: int

    def interval(
        self, expected: float, known: float, n_unlabelled: float, gradient: Floats, noise: float
    ) -> tuple[float, float]:
        """Of the positives among some pairs, `known` of them labelled so; the arguments are sums over these pairs."""
        if self.n_queries < 2:
            return float(known), float(known + n_unlabelled)
        margin = t_quantile(self.n_queries - 1) * float(np.sqrt(gradient @ self.covariance @ gradient + noise))
        return max(float(known), expected - margin), min(float(known + n_unlabelled), expected + margin)


def fit_positives(query: Ints, ranks: Ints, k_max: int, label: Floats) -> PositiveModel | None:
    """From pairs: the number of their query, each generator's rank (`k_max` for none), the label (NaN for none).

    None where nothing is labelled.
    """
    judged = ~np.isnan(label)
    if not judged.any():
        return None
    features = rank_features(ranks, k_max)
    coefficients, curvature = fit_logistic(features[judged], label[judged])
    fitted = expit(features @ coefficients)
    spread = fitted * (1.0 - fitted)
    known, query_of_label = np.unique(query[judged], return_inverse=True)
    n_queries = len(known)
    residual = label[judged] - fitted[judged]
    scores = np.zeros((n_queries, features.shape[1]))
    np.add.at(scores, query_of_label, features[judged] * residual[:, None])
    inverse = np.linalg.inv(curvature)
    small_sample = n_queries / max(1, n_queries - 1)
    covariance = inverse @ scores.T @ scores @ inverse * small_sample
    by_query = np.bincount(query_of_label, residual, minlength=n_queries)
    dispersion = max(1.0, small_sample * float((by_query**2).sum()) / max(1e-9, float(spread[judged].sum())))
    probability = np.where(judged, label, fitted)
    unknown = np.where(judged, 0.0, spread)
    gradient, noise = features * unknown[:, None], dispersion * unknown
    return PositiveModel(probability, ~judged, gradient, noise, covariance, n_queries)


def rank_features(ranks: Ints, k_max: int) -> Floats:
    best = ranks.min(axis=1).astype(np.float64)
    proposed_by = (ranks < k_max).sum(axis=1)
    return np.column_stack([np.ones(len(best)), np.log1p(best), RANK_SCALE * best / k_max, proposed_by])


def fit_logistic(
    features: Floats, target: Floats, ridge: float = RIDGE, towards: Floats | None = None
) -> tuple[Floats, Floats]:
    """Ridge logistic regression by Newton's method: coefficients and curvature; the intercept is not penalised.

    Coefficients are shrunk towards 0, or towards those given.
    """
    penalty = np.diag([1e-6] + [ridge] * (features.shape[1] - 1))  # the first keeps one-class labels solvable
    prior = np.zeros(features.shape[1]) if towards is None else towards
    coefficients = np.zeros(features.shape[1])
    for _ in range(NEWTON_STEPS):
        p = expit(features @ coefficients)
        curvature = (features * (p * (1 - p))[:, None]).T @ features + penalty
        step = np.linalg.solve(curvature, features.T @ (p - target) + penalty @ (coefficients - prior))
        coefficients = coefficients - np.clip(step, -5.0, 5.0)
        if np.abs(step).max() < 1e-8:
            break
    p = expit(features @ coefficients)
    return coefficients, (features * (p * (1 - p))[:, None]).T @ features + penalty
