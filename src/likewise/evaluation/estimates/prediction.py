"""The chance of every pair to be similar, predicted from the labels drawn: logistic regression with query effects.

    logit p = intercept + weights . features + effect of the query

Features of a pair are, for each encoder, the logarithm of its rank and its score in standard deviations of the query's
scores, and three summaries over encoders. Weights and effects are shrunk towards 0. Effects have a t-distribution,
because some queries are like nothing else in the catalog; its scale is estimated from the labels (steps of EM with
Laplace's approximation). Labelled pairs are predicted by models that have not seen them: the labels are dealt into
FOLDS, and each fold is predicted from the others.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.estimates.blocks import RankedBlock
from likewise.evaluation.estimates.chances import Bools, Floats, Ints

FOLDS = 10
RIDGE = 1.0
EFFECT_PRECISION = 2.0  # before anything is known of it
EFFECT_FREEDOM = 4.0  # degrees of freedom of the t-distribution
EFFECT_ROUNDS = 5
NEWTON_STEPS = 25
REFIT_STEPS = 5  # from a fit that saw a tenth more labels
CONVERGED = 1e-6
LARGEST_LOGIT = 30.0
SMALLEST_VARIANCE = 1e-3
RRF_OFFSET = 10.0  # of reciprocal rank fusion


def pair_features(block: RankedBlock) -> NDArray[np.float32]:
    """(features, queries, units)."""
    log_rank = np.log1p(block.rank.astype(np.float32))
    shown = np.where(block.admissible[None], block.scores, np.float32(0))
    count = block.n_admissible.astype(np.float32)[None, :, None]
    mean = shown.sum(axis=2, keepdims=True) / count
    spread = np.sqrt(np.maximum((shown**2).sum(axis=2, keepdims=True) / count - mean**2, 1e-12))
    standard = (block.scores - mean) / spread
    fused = np.log((1.0 / (block.rank + np.float32(RRF_OFFSET))).sum(axis=0))
    return np.concatenate([log_rank, standard, log_rank.min(axis=0)[None], log_rank.mean(axis=0)[None], fused[None]])


@dataclass(frozen=True)
class PairModel:
    """A fitted regression: predicts from features and the row of the query."""

    centre: Floats
    scale: Floats
    intercept: float
    weights: Floats
    effects: Floats

    def chance(self, features: NDArray[np.float32], query_rows: Ints) -> Floats:
        """Of all pairs of some queries, shape (queries, units)."""
        slopes = self.weights / self.scale
        logit = np.tensordot(slopes.astype(np.float32), features, 1).astype(np.float64)
        logit += self.intercept - float(self.centre @ slopes) + self.effects[query_rows][:, None]
        return sigmoid(logit)

    def chance_of_pairs(self, features: Floats, query: Ints) -> Floats:
        """Of single pairs, rows of `features`."""
        return sigmoid((features - self.centre) @ (self.weights / self.scale) + self.intercept + self.effects[query])


@dataclass(frozen=True)
class Predictions:
    """A model of all labels, for pairs nobody labelled, and of each labelled pair the chance it had unseen."""

    model: PairModel
    unseen: Floats


def fit_predictions(features: Floats, query: Ints, label: Floats, n_queries: int, seed: int) -> Predictions:
    """Fit labelled pairs (rows of `features`), and predict each of them from the other folds."""
    centre, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale == 0.0] = 1.0
    standard = np.column_stack([np.ones(len(features)), (features - centre) / scale])
    weights, effects = np.zeros(standard.shape[1]), np.zeros(n_queries)
    precision = np.full(n_queries, EFFECT_PRECISION)
    for _ in range(EFFECT_ROUNDS):
        weights, effects, variances = _newton(standard, query, label, precision, weights, effects, NEWTON_STEPS)
        squares = effects**2 + variances
        certainty = (EFFECT_FREEDOM + 1.0) / (EFFECT_FREEDOM + squares / max(squares.mean(), SMALLEST_VARIANCE))
        variance = max(float((certainty * squares).mean()), SMALLEST_VARIANCE)
        precision = (EFFECT_FREEDOM + 1.0) / (EFFECT_FREEDOM * variance + squares)
    fold = np.random.default_rng(seed).permutation(len(label)) % FOLDS
    unseen = np.empty(len(label))
    for number in range(FOLDS):
        out = fold == number
        kept = ~out
        some, own, _ = _newton(standard[kept], query[kept], label[kept], precision, weights, effects, REFIT_STEPS)
        unseen[out] = sigmoid(standard[out] @ some + own[query[out]])
    return Predictions(PairModel(centre, scale, float(weights[0]), weights[1:], effects), unseen)


def _newton(
    features: Floats, query: Ints, label: Floats, precision: Floats, weights: Floats, effects: Floats, n_steps: int
) -> tuple[Floats, Floats, Floats]:
    """Penalised logistic regression by Newton's method; the effects' own block of the curvature is diagonal.

    Returns weights, effects and the approximate variances of the effects.
    """
    n_queries = len(effects)
    penalty = np.full(features.shape[1], RIDGE)
    penalty[0] = 1e-6
    weights, effects = weights.copy(), effects.copy()
    diagonal = precision
    for _ in range(n_steps):
        chance = sigmoid(features @ weights + effects[query])
        error, curvature = chance - label, chance * (1.0 - chance)
        slope = features.T @ error + penalty * weights
        slope_effects = np.bincount(query, error, n_queries) + precision * effects
        weighted = features * curvature[:, None]
        shared = np.stack([np.bincount(query, column, n_queries) for column in weighted.T], axis=1)
        diagonal = np.bincount(query, curvature, n_queries) + precision
        reduced = features.T @ weighted + np.diag(penalty) - shared.T @ (shared / diagonal[:, None])
        step = np.linalg.solve(reduced, slope - shared.T @ (slope_effects / diagonal))
        step_effects = (slope_effects - shared @ step) / diagonal
        weights -= step
        effects -= step_effects
        if max(np.abs(step).max(), np.abs(step_effects).max(initial=0.0)) < CONVERGED:
            break
    return weights, effects, 1.0 / diagonal


def sigmoid(values: Floats) -> Floats:
    """The chance that belongs to a logit."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -LARGEST_LOGIT, LARGEST_LOGIT))))


def with_labels(chance: Floats, admissible: Bools, row: Ints, unit: Ints, label: Floats) -> Floats:
    """Predicted chances, with labelled pairs at their label and others than admissible pairs at 0."""
    known = np.where(admissible, chance, 0.0)
    known[row, unit] = label
    return known
