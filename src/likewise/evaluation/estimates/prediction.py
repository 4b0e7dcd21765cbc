"""The chance of every pair to be similar, predicted from the labels drawn: logistic regression with query effects.

    logit p = intercept + weights . features + effect of the query

Features of a pair are, for each encoder, the logarithm of its rank and its score in standard deviations of the query's
scores, and three summaries over encoders. Weights and effects are shrunk towards 0. Effects have a t-distribution,
because some queries are like nothing else in the catalog; its scale is estimated from the labels (steps of EM with
Laplace's approximation). What is not known of a query's effect moves all its pairs together, so chances are given below
and above it (SHIFTS), and whoever computes a curved measure takes the mean over both. Labelled pairs are predicted by
models that have not seen them: the labels are dealt into FOLDS, and each fold is predicted from the others.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

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
SMALLEST_VARIANCE = 1e-3
RRF_OFFSET = 10.0  # of reciprocal rank fusion
SMALLEST_WEIGHT = 1e-3
LARGEST_LOG_WEIGHT = 2.5
SHIFTS = (-0.7, 0.7)  # of a query's effect, in its standard errors: what its own labels do not correct


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
    effect_errors: Floats

    def chances(self, features: NDArray[np.float32], query_rows: Ints) -> list[Floats]:
        """Of all pairs of some queries, shape (queries, units), at each of SHIFTS."""
        slopes = self.weights / self.scale
        logit = np.tensordot(slopes.astype(np.float32), features, 1).astype(np.float64)
        logit += self.intercept - float(self.centre @ slopes) + self.effects[query_rows][:, None]
        return [expit(logit + shift * self.effect_errors[query_rows][:, None]) for shift in SHIFTS]

    def chances_of_pairs(self, features: Floats, query: Ints) -> list[Floats]:
        """Of single pairs, rows of `features`, at each of SHIFTS."""
        logit = (features - self.centre) @ (self.weights / self.scale) + self.intercept + self.effects[query]
        return [expit(logit + shift * self.effect_errors[query]) for shift in SHIFTS]


@dataclass(frozen=True)
class Predictions:
    """A model of all labels, for pairs nobody labelled, and of each labelled pair the chance it had unseen."""

    model: PairModel
    unseen: Floats


def fit_predictions(
    features: Floats, query: Ints, label: Floats, weight: Floats, n_queries: int, seed: int
) -> Predictions:
    """Fit labelled pairs (rows of `features`), and predict each of them from the other folds.

    `weight` is how many pairs each stands for (see `fit_weights`).
    """
    centre, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale == 0.0] = 1.0
    standard = np.column_stack([np.ones(len(features)), (features - centre) / scale])
    weight = fit_weights(weight, standard)
    weights, effects = np.zeros(standard.shape[1]), np.zeros(n_queries)
    precision = np.full(n_queries, EFFECT_PRECISION)
    variances = 1.0 / precision
    for _ in range(EFFECT_ROUNDS):
        weights, effects, variances = _newton(standard, query, label, weight, precision, weights, effects, NEWTON_STEPS)
        squares = effects**2 + variances
        certainty = (EFFECT_FREEDOM + 1.0) / (EFFECT_FREEDOM + squares / max(squares.mean(), SMALLEST_VARIANCE))
        variance = max(float((certainty * squares).mean()), SMALLEST_VARIANCE)
        precision = (EFFECT_FREEDOM + 1.0) / (EFFECT_FREEDOM * variance + squares)
    fold = np.random.default_rng(seed).permutation(len(label)) % FOLDS
    unseen, mean_weights, mean_effects = np.empty(len(label)), np.zeros_like(weights), np.zeros_like(effects)
    for number in range(FOLDS):
        out = fold == number
        kept = ~out
        some, own, vague = _newton(
            standard[kept], query[kept], label[kept], weight[kept], precision, weights, effects, REFIT_STEPS
        )
        unseen[out] = _mean_chance(standard[out] @ some + own[query[out]], np.sqrt(vague)[query[out]])
        mean_weights += some / FOLDS
        mean_effects += own / FOLDS
    model = PairModel(centre, scale, float(mean_weights[0]), mean_weights[1:], mean_effects, np.sqrt(variances))
    return Predictions(model, unseen)


def fit_weights(weight: Floats, features: Floats) -> Floats:
    """How much each label counts in the fit: the number of pairs it stands for, over what its features foretell.

    Where a design chose by the features alone these stabilised weights are 1, and no information is lost. Where it
    chose by more, as the adaptive one does, an unweighted fit would take the pairs that were not drawn for too much
    like those that were. They sum to the number of equal labels that they are worth (Kish).
    """
    logarithm = np.log(np.maximum(weight, SMALLEST_WEIGHT))
    foretold = features @ np.linalg.solve(
        features.T @ features + RIDGE * np.eye(features.shape[1]), features.T @ logarithm
    )
    stable = np.exp(np.clip(logarithm - foretold, -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT))
    return np.asarray(stable * stable.sum() / (stable**2).sum())


def _mean_chance(logit: Floats, error: Floats) -> Floats:
    return np.asarray(np.mean([expit(logit + shift * error) for shift in SHIFTS], axis=0))


def _newton(
    features: Floats,
    query: Ints,
    label: Floats,
    case_weight: Floats,
    precision: Floats,
    weights: Floats,
    effects: Floats,
    n_steps: int,
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
        chance = expit(features @ weights + effects[query])
        error, curvature = case_weight * (chance - label), case_weight * chance * (1.0 - chance)
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


def with_labels(chance: Floats, admissible: Bools, row: Ints, unit: Ints, label: Floats) -> Floats:
    """Predicted chances, with labelled pairs at their label and others than admissible pairs at 0."""
    known = np.where(admissible, chance, 0.0)
    known[row, unit] = label
    return known
