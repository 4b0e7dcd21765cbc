"""How many labels of which pairs would decide, or how many queries where labels would not.

Missing labels are drawn, several times; the pairs with the largest gain are labelled first. The number needed is the
smallest after which the average is decided in most of the draws. A result that stands in one of the two lists only, and
that nobody labelled, is less often similar than others: each draw takes a rate between 0 and that of the labelled
results that only this model lists (docs/gate.md has what that is worth).
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from likewise.evaluation.auc import Ints
from likewise.evaluation.gate.decision import UNDECIDED, BoundedDifferences, EstimatedDifference, decide, known
from likewise.evaluation.gate.list_differences import ListComparison
from likewise.evaluation.measures.ranked import POSITIVE, UNJUDGED

N_DRAWS = 20
N_STEPS = 12
MOST = 0.8
FEW = 4.0  # labelled results, below which their rate is not trusted
BOTH_QUANTILES = 1.645 + 0.842  # of a test at 5 % with a power of 80 %
MAX_QUERIES = 100_000
UNSEEN = 1.8  # so many queries without a loss, times the margin, exclude a loss of the margin


@dataclass(frozen=True)
class LabelsNeeded:
    """`n_unlabelled` pairs stand at different places; the first `n_labels` of them would decide.

    None where even all of them would not; then `n_queries` would, if what was measured goes on.
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
        whole = [lists.labelled_as(draw).bounds() for draw in draws[:1]]
        return LabelsNeeded(len(order), None, _queries_needed(whole[0], margin))
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
    return LabelsNeeded(0, None, queries_needed(found.difference, deviation, margin, found.n_queries))


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
        decided += decide(lists.labelled_as(labels).bounds(), {}, margin).verdict != UNDECIDED
    return decided / len(draws)


def _queries_needed(differences: BoundedDifferences, margin: float) -> int | None:
    """With the spread of now, so many queries decide in four of five cases; None where that is out of reach."""
    values = known(differences.labelled)
    if len(values) < 2:
        return None
    return queries_needed(float(values.mean()), float(values.std(ddof=1)), margin, len(values))


def queries_needed(difference: float, deviation: float, margin: float, n_now: int) -> int | None:
    """Of a difference with this standard deviation over queries, of which `n_now` do not decide."""
    apart = abs(difference + margin)
    needed = (BOTH_QUANTILES * deviation / apart) ** 2 if apart > 0.0 else float("inf")
    unseen = UNSEEN / margin if margin > 0.0 else 0.0
    return ceil(max(needed, unseen, n_now + 1)) if needed <= MAX_QUERIES else None
