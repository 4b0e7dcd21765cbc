"""Scores to probabilities: P(yes) = sigmoid(slope * score + offset), fitted to votes (Platt 1999); how far that holds.

Which candidate of a triplet is named first says nothing, so there the offset is zero, and both ways round count.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints

N_BINS = 10
MIN_SHRINKAGE = 1e-6  # keeps the slope finite where scores separate the votes


@dataclass(frozen=True)
class Calibration:
    """A fitted curve."""

    slope: float
    offset: float

    def probability(self, scores: Floats) -> Floats:
        from scipy.special import expit

        return np.asarray(expit(self.slope * scores + self.offset))


def fit_calibration(scores: Floats, yes: Floats, no: Floats, *, through_zero: bool) -> Calibration:
    """The curve under which the votes are most likely."""
    from scipy.optimize import minimize
    from scipy.special import expit

    centre, spread = (0.0 if through_zero else float(scores.mean())), float(scores.std()) or 1.0
    standard = (scores - centre) / spread
    total = float((yes + no).sum())

    def value(at: Floats) -> tuple[float, Floats]:
        logit = at[0] * standard + (0.0 if through_zero else at[1])
        loss = float((np.logaddexp(0.0, -logit) * yes + np.logaddexp(0.0, logit) * no).sum()) / total
        slope = ((yes + no) * expit(logit) - yes) / total
        gradient = np.array([slope @ standard, 0.0 if through_zero else slope.sum()]) + 2.0 * MIN_SHRINKAGE * at
        return loss + MIN_SHRINKAGE * float(at @ at), gradient

    found = minimize(value, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B").x
    slope = float(found[0] / spread)
    return Calibration(slope, 0.0 if through_zero else float(found[1]) - slope * centre)


@dataclass(frozen=True)
class Reliability:
    """How well probabilities hold: the table by bins, the mean distance (ECE), and the Brier score of a vote."""

    bins: pl.DataFrame
    expected_error: float
    brier: float
    n_votes: int


def calibration_curve(
    probability: Floats, yes: Floats, no: Floats, n_bins: int = N_BINS, *, symmetric: bool = False
) -> Reliability:
    """Votes by predicted probability, in bins that hold about the same number of votes each.

    `symmetric` for triplets: named by their majority, they would seem to be more certain than people are.
    """
    n_votes = int((yes + no).sum())
    if symmetric:
        probability = np.concatenate([probability, 1.0 - probability])
        yes, no = np.concatenate([yes, no]), np.concatenate([no, yes])
    votes = yes + no
    order = np.argsort(probability, kind="stable")
    share = (np.cumsum(votes[order]) - votes[order] / 2.0) / votes.sum()
    bin_of: Ints = np.empty(len(votes), np.int64)
    bin_of[order] = np.minimum((share * n_bins).astype(np.int64), n_bins - 1)
    weight = _sums(bin_of, votes, n_bins)
    filled = weight > 0
    predicted = _sums(bin_of, probability * votes, n_bins)[filled] / weight[filled]
    observed = _sums(bin_of, yes, n_bins)[filled] / weight[filled]
    table = pl.DataFrame({"predicted": predicted, "observed": observed, "n_votes": weight[filled].astype(np.int64)})
    error = float((np.abs(predicted - observed) * weight[filled]).sum() / weight.sum())
    brier = float((yes * (1.0 - probability) ** 2 + no * probability**2).sum() / votes.sum())
    return Reliability(table, error, brier, n_votes)


def _sums(bin_of: Ints, values: Floats, n_bins: int) -> NDArray[np.float64]:
    return np.bincount(bin_of, values, n_bins).astype(np.float64)
