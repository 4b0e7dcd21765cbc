"""Is it settled? The owner's question on the labels of now, with intervals that hold however often one looks.

Comparisons are settled when the confidence sequence of the difference excludes 0 (a winner), or lies within the margin
(no difference that matters). Of several models each is compared with the one that leads, at alpha / (number - 1), so
that the chance of a wrong winner among all looks and all models stays below alpha. Recall is found / similar, and the
logarithm of the number of similar pairs gets the sequence: for these queries, over draws.
"""

from dataclasses import dataclass
from math import exp, inf, log

from likewise.chain import in_words
from likewise.errors import LikewiseError
from likewise.evaluation.estimates.estimate import CatalogEstimates
from likewise.evaluation.estimates.linearised import MOST_LOG, CatalogEstimate
from likewise.evaluation.stopping.confidence_sequence import (
    ALPHA,
    MIN_POSITIVES,
    MIN_QUERIES,
    ConfidenceSequence,
    confidence_sequence,
    labels_needed,
    needed_error,
)
from likewise.evaluation.stopping.goal import LabelingGoal

SEQUENCE_NOTE = "The interval holds at every look together, with a chance of 95 %."


@dataclass(frozen=True)
class LeadOverModel:
    """The leading model against another: the difference and its ends, all looks together."""

    model: str
    other: str
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Settlement:
    """The answer for now. `labels_in_all` is how many labels would likely settle it, None where that is not known."""

    question: str
    settled: bool
    answer: str
    comparisons: list[LeadOverModel]
    n_labels: int
    labels_in_all: int | None = None
    low: float | None = None  # of recall
    high: float | None = None

    @property
    def labels_left(self) -> int | None:
        """How many more labels would likely settle it."""
        return None if self.labels_in_all is None else max(0, self.labels_in_all - self.n_labels)


def settle_goal(goal: LabelingGoal, found: CatalogEstimates) -> Settlement:
    """Answer a goal from estimates of at least its models."""
    n_queries = len(found.positives.influence)
    if n_queries < MIN_QUERIES:
        why = f"Too early to say: {n_queries} queries have labels, and at least {MIN_QUERIES} are needed."
        return Settlement(goal.question, False, why, [], found.n_labelled)
    if found.n_found < MIN_POSITIVES:
        why = f"Too early to say: {found.n_found} pairs are labelled similar, and at least {MIN_POSITIVES} are needed."
        return Settlement(goal.question, False, why, [], found.n_labelled)
    if goal.kind == "recall":
        return _settle_recall(goal, found)
    missing = [name for name in goal.models if name not in found.encoders]
    if missing:
        raise LikewiseError(
            f"{', '.join(missing)} cannot be compared on these labels (no vectors, or they learned from them): name "
            "another goal with `likewise label goal`."
        )
    return _settle_order(goal, found)


def _settle_order(goal: LabelingGoal, found: CatalogEstimates) -> Settlement:
    by_name = dict(zip(found.encoders, found.by_encoder, strict=True))
    values = {name: by_name[name][goal.measure] for name in goal.models}
    leader = max(goal.models, key=lambda name: values[name].value)
    others = [name for name in goal.models if name != leader]
    alpha, tightest_at = ALPHA / len(others), goal.margin / 3.0
    differences = {name: values[leader].minus(values[name]) for name in others}
    ends = {name: _sequence(one, tightest_at, alpha) for name, one in differences.items()}
    comparisons = [LeadOverModel(leader, name, one.value, one.low, one.high) for name, one in ends.items()]
    near = [name for name, one in ends.items() if one.low <= 0.0]
    tied = all(-goal.margin < ends[name].low and ends[name].high < goal.margin for name in near)
    if near and not tied:
        needed = [_labels_for(differences[name], found.n_labelled, goal.margin, alpha) for name in near]
        in_all = None if None in needed else max(one for one in needed if one is not None)
        answer = f"Not yet: {leader} leads, but {in_words(near)} may be as good or better."
        return Settlement(goal.question, False, answer, comparisons, found.n_labelled, in_all)
    answer = f"Yes, stop: {leader} is better than {in_words(others)} by {goal.measure}."
    if near:
        points = f"{100 * goal.margin:g} points"
        answer = f"Yes, stop: {leader} and {in_words(near)} differ by less than {points} of {goal.measure}."
    return Settlement(goal.question, True, answer, comparisons, found.n_labelled, found.n_labelled)


def _settle_recall(goal: LabelingGoal, found: CatalogEstimates) -> Settlement:
    n_queries = len(found.positives.influence)
    similar = max(found.positives.value * n_queries, float(found.n_found))
    error, recall = found.positives.drawing_error * n_queries / similar, found.n_found / similar
    ends = confidence_sequence(log(similar), error, n_queries, tightest_at=goal.margin / 3.0)
    low, high = (recall * exp(min(log(similar) - end, MOST_LOG)) for end in (ends.high, ends.low))
    low, high = max(low, 0.0), min(high, 1.0)
    settled = high - low <= 2.0 * goal.margin
    shown = f"{100 * recall:.0f} % ({100 * low:.0f}–{100 * high:.0f} %) of all similar pairs are found"
    wanted = needed_error(goal.margin / recall, ALPHA, goal.margin / 3.0)
    in_all = found.n_labelled if settled else labels_needed(found.n_labelled, error, error, wanted)
    answer = f"Yes, stop: {shown}." if settled else f"Not yet: {shown}."
    return Settlement(goal.question, settled, answer, [], found.n_labelled, in_all, low, high)


def _sequence(one: CatalogEstimate, tightest_at: float, alpha: float) -> ConfidenceSequence:
    if one.standard_error == 0.0:
        return ConfidenceSequence(one.value, one.value, one.value)
    return confidence_sequence(one.value, one.standard_error, len(one.influence), tightest_at=tightest_at, alpha=alpha)


def _labels_for(one: CatalogEstimate, n_labels: int, margin: float, alpha: float) -> int | None:
    """Until the difference is seen, if it stays as it is, or seen to be below the margin."""
    distance = max(abs(one.value), margin - abs(one.value))
    wanted = needed_error(distance, alpha, margin / 3.0) if distance < inf else 0.0
    return labels_needed(n_labels, one.standard_error, one.drawing_error, wanted)
