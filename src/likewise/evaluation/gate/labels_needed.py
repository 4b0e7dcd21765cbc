"""How many labels of which pairs would decide, or how many queries where labels would not.

Missing labels are drawn, several times; the pairs with the largest gain are labelled first. The number needed is the
smallest after which the average is decided in most of the draws. A result that stands in one of the two lists only, and
that nobody labelled, is less often similar than others: each draw takes a rate between 0 and that of the labelled
results that only this model lists (docs/gate.md has what that is worth).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from likewise.evaluation.auc import Ints
from likewise.evaluation.gate.decision import (
    BoundedDifferences,
    EstimatedDifference,
    decide_gate,
    without_nan,
)
from likewise.evaluation.gate.list_differences import ListComparison
from likewise.evaluation.measures.ranked import POSITIVE, UNJUDGED

N_DRAWS = 20
N_STEPS = 12
MOST = 0.8
FEW = 4.0  # labelled results, below which their rate is not trusted
ONE_SIDED_QUANTILE = 1.645  # of a test at 5 %
N_PLACES = 201  # of the true difference, equally likely
SMALLEST_DEVIATION = 1e-9
MAX_QUERIES = 100_000
UNSEEN = 1.8  # so many queries without a loss, times the margin, exclude a loss of the margin


@dataclass(frozen=True)
class LabelsNeeded:
    """`n_unlabelled` pairs stand at different places; the first `n_labels` of them would decide.

    None where even all of them would not; then `n_queries` would, in four of five cases.
    """

    n_unlabelled: int
    n_labels: int | None
    n_queries: int | None


def labelling_order(lists: ListComparison) -> Ints:
    """The missing pairs, those first whose label can move the difference most."""
    reach = np.maximum(lists.n_positive, 1)[lists.query]
    return np.lexsort((lists.candidate, lists.query, -np.abs(lists.gain) / reach))


def labels_needed(lists: ListComparison, margin: float, seed: int) -> LabelsNeeded:
    """For an average that is undecided."""
    order, rng = labelling_order(lists), np.random.default_rng(seed)
    rate = np.where(lists.gain > 0.0, *(_rate(lists, mine) for mine in ("new", "old")))
    draws = (rng.random((N_DRAWS, len(order))) < rate * rng.random((N_DRAWS, 1))).astype(np.int64)
    low, high = 0, len(order)
    if not len(order) or _share_decided(lists, draws, order, high, margin) < MOST:
        drawn = [_moments(lists.labelled_as(draw).bounds()) for draw in (draws if len(order) else draws[:1])]
        return LabelsNeeded(len(order), None, queries_needed([each for each in drawn if each], margin))
    for _ in range(N_STEPS):
        middle = (low + high) // 2
        if middle in (low, high):
            break
        low, high = (low, middle) if _share_decided(lists, draws, order, middle, margin) >= MOST else (middle, high)
    return LabelsNeeded(len(order), high, None)


def _rate(lists: ListComparison, mine: str) -> float:
    """How many of the labelled results that only this model lists are similar; cautious where there are few."""
    listed, other = (lists.new, lists.old) if mine == "new" else (lists.old, lists.new)
    labels = lists.new_labels if mine == "new" else lists.old_labels
    alone = ~(listed[:, :, None] == other[:, None, :]).any(axis=2)
    judged = labels[alone & (labels >= 0)]
    return float((np.count_nonzero(judged == POSITIVE) + 1.0) / (len(judged) + FEW))


def drawn_labels_needed(found: EstimatedDifference, margin: float) -> LabelsNeeded:
    """Where labels were drawn: their error shrinks as that of queries does, if as many are drawn for each."""
    deviation = found.standard_error * float(np.sqrt(found.n_queries))
    return LabelsNeeded(
        0, None, queries_needed([DifferenceMoments(found.difference, deviation, found.n_queries)], margin)
    )


def _share_decided(
    lists: ListComparison,
    draws: Ints,
    order: Ints,
    n_labels: int,
    margin: float,
) -> float:
    decided = 0
    for draw in draws:
        labels = np.full(len(draw), UNJUDGED)
        labels[order[:n_labels]] = draw[order[:n_labels]]
        decided += decide_gate(lists.labelled_as(labels).bounds(), {}, margin).verdict != "undecided"
    return decided / len(draws)


@dataclass(frozen=True)
class DifferenceMoments:
    """Mean and standard deviation of a difference over so many queries."""

    mean: float
    deviation: float
    n_queries: int


def _moments(differences: BoundedDifferences) -> DifferenceMoments | None:
    values = without_nan(differences.labelled)
    if len(values) < 2:
        return None
    return DifferenceMoments(float(values.mean()), float(values.std(ddof=1)), len(values))


def queries_needed(measured: Sequence[DifferenceMoments], margin: float) -> int | None:
    """So many queries decide in four of five cases; None where that is out of reach.

    The true difference is not the one that was measured: the power is averaged over what it may be, given the queries
    of now (assurance), and over several answers of experts where some are missing.
    """
    from scipy.special import ndtr, ndtri

    if not measured:
        return None
    places = ndtri((np.arange(N_PLACES) + 0.5) / N_PLACES)
    errors = np.array([max(each.deviation, SMALLEST_DEVIATION) for each in measured])
    n_now = min(each.n_queries for each in measured)
    means = np.array([each.mean for each in measured])
    z_scores = np.abs((means + margin)[:, None] / errors[:, None] + places / np.sqrt(n_now))

    def share_decided(n: float) -> float:
        return float(ndtr(z_scores * np.sqrt(n) - ONE_SIDED_QUANTILE).mean())

    unseen = UNSEEN / margin if margin > 0.0 else 0.0
    low, high = float(n_now), float(MAX_QUERIES)
    if share_decided(high) < MOST:
        return None
    while high - low > 1.0:
        middle = (low + high) / 2.0
        low, high = (low, middle) if share_decided(middle) >= MOST else (middle, high)
    return ceil(max(high, unseen, n_now + 1))
