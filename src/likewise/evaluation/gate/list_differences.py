"""Two models' lists of the same queries: how far the new one is better by the labels, whatever the missing ones say.

A measure of the first k candidates is a sum of gains over positives, divided by what the query's positives could reach.
A candidate nobody labelled moves the difference new - old by gain(rank in new) - gain(rank in old), so only candidates
that stand at different places are asked about: others, `shared`, can only make a difference smaller, by adding to what
can be reached; whether that could turn a verdict is asked of `bounds_if_shared_were_similar`. The lowest
difference that labels could still bring is found by calling the first m of them, from the most harmful on, similar, for
every m, because more positives also mean more to reach; the highest by the same from the most helpful on.
"""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.evaluation.auc import Ints
from likewise.evaluation.gate.decision import BoundedDifferences
from likewise.evaluation.measures import CutoffMeasure
from likewise.evaluation.measures.ranked import POSITIVE, UNJUDGED, RankedResults, look_up_labels
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.query_items import shared_items
from likewise.evaluation.query_sums import Floats

Bools = NDArray[np.bool_]
NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class ListComparison:
    """Lists (queries x k) of both models with the labels along them, and the unlabelled candidates that matter.

    Row i of `query`, `candidate`: a pair without label; `gain` is what it adds to new - old if it is similar, before
    the division by what could be reached.
    """

    measure: CutoffMeasure
    old: Ints
    new: Ints
    old_labels: Ints
    new_labels: Ints
    n_positive: Ints
    query: Ints
    candidate: Ints
    gain: Floats
    shared: tuple[Ints, Ints]
    """Queries and candidates without label that both list, at places of equal worth."""
    items: Ints | None = None
    """Of each query the number of its item, where several show one."""

    @property
    def changed(self) -> Bools:
        """Queries whose lists differ."""
        return np.asarray((self.old != self.new).any(axis=1))

    def values(self) -> tuple[Floats, Floats]:
        """Each query's measure of the old and the new model as labelled; NaN where the query has no positive."""
        return self._value(self.old_labels, self.n_positive), self._value(self.new_labels, self.n_positive)

    def labelled_as(self, labels: Ints) -> "ListComparison":
        """The same after some of the missing pairs were labelled 0 or 1; UNJUDGED leaves one as it is."""
        old, new, n_positive = self._with_labels(labels)
        left = labels == UNJUDGED
        rest = (self.query[left], self.candidate[left], self.gain[left])
        lists = self.measure, self.old, self.new, old, new, n_positive
        return ListComparison(*lists, *rest, shared=self.shared, items=self.items)

    def bounds(self) -> BoundedDifferences:
        """new - old of every query: as labelled, and the lowest and highest that the missing labels could make it."""
        labelled = self._difference(np.full(len(self.query), UNJUDGED))
        return BoundedDifferences(labelled, self._extreme(labelled, -1.0), self._extreme(labelled, 1.0), self.items)

    def bounds_if_shared_were_similar(self) -> BoundedDifferences:
        """The same where results that both list at the same place may be similar too, all those of a query or none."""
        query, candidate = self.shared
        similar = np.full(len(query), POSITIVE)
        old, new = (
            _fill(lists, listed, query, candidate, similar)
            for lists, listed in ((self.old, self.old_labels), (self.new, self.new_labels))
        )
        n_positive = self.n_positive + np.bincount(query, minlength=len(self.n_positive))
        filled = replace(self, old_labels=old, new_labels=new, n_positive=n_positive).bounds()
        here = self.bounds()
        return BoundedDifferences(
            here.labelled, np.fmin(here.lowest, filled.lowest), np.fmax(here.highest, filled.highest), self.items
        )

    def _extreme(self, labelled: Floats, sign: float) -> Floats:
        """The lowest (sign -1) or highest difference; a query without a positive counts where one could move it."""
        order = np.lexsort((-sign * self.gain, self.query))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order)) - np.searchsorted(self.query[order], self.query[order])
        found = sign * labelled
        for m in range(1, int(place.max(initial=-1)) + 2):
            filled = sign * self._difference(np.where(place < m, 1, UNJUDGED))
            found = np.fmax(found, filled)
        found[np.isnan(labelled) & (found <= 0.0)] = np.nan
        return sign * found

    def _difference(self, labels: Ints) -> Floats:
        old, new, n_positive = self._with_labels(labels)
        return self._value(new, n_positive) - self._value(old, n_positive)

    def _with_labels(self, labels: Ints) -> tuple[Ints, Ints, Ints]:
        said = labels != UNJUDGED
        pairs = self.query[said], self.candidate[said], labels[said]
        n_positive = self.n_positive + np.bincount(self.query[labels == POSITIVE], minlength=len(self.n_positive))
        return _fill(self.old, self.old_labels, *pairs), _fill(self.new, self.new_labels, *pairs), n_positive

    def _value(self, listed: Ints, n_positive: Ints) -> Floats:
        sums = self.measure.estimate(RankedResults(listed, n_positive))
        value: Floats = np.full(len(listed), np.nan)
        np.divide(sums.numerator, sums.denominator, out=value, where=sums.denominator > 0)
        return value


def compare_lists(measure: CutoffMeasure, old: Ints, new: Ints, pairs: JudgedPairs) -> ListComparison:
    """Line up two models' lists (queries x k, rows of `pairs`) with the labels."""
    k, width = measure.cutoff, len(pairs.gallery)
    old, new = old[:, :k], new[:, :k]
    labels = [look_up_labels(each, pairs.query, pairs.candidate, pairs.label, width) for each in (old, new)]
    gains = np.append(rank_gains(measure), 0.0)
    table = None
    for name, lists, listed in (("old", old, labels[0]), ("new", new, labels[1])):
        query, rank = np.nonzero(listed == UNJUDGED)
        part = pl.DataFrame({"query": query, "candidate": lists[query, rank], name: gains[rank]})
        table = part if table is None else table.join(part, on=["query", "candidate"], how="full", coalesce=True)
    assert table is not None
    table = table.with_columns(gain=pl.col("new").fill_null(0.0) - pl.col("old").fill_null(0.0))
    table, shared = (
        table.filter(matters).sort("query", "candidate")
        for matters in (pl.col("gain").abs() > NEGLIGIBLE, pl.col("gain").abs() <= NEGLIGIBLE)
    )
    query, candidate, gain = (table[name].to_numpy() for name in ("query", "candidate", "gain"))
    both = shared["query"].to_numpy(), shared["candidate"].to_numpy()
    items = shared_items(pairs.query_items)
    return ListComparison(
        measure, old, new, labels[0], labels[1], pairs.n_positive, query, candidate, gain, shared=both, items=items
    )


def rank_gains(measure: CutoffMeasure) -> Floats:
    """What a query's only positive is worth at each rank."""
    one_each = np.eye(measure.cutoff, dtype=np.int64)
    sums = measure.estimate(RankedResults(one_each, np.ones(measure.cutoff, np.int64)))
    return sums.numerator / sums.denominator


def _fill(lists: Ints, listed: Ints, query: Ints, candidate: Ints, label: Ints) -> Ints:
    """The labels along lists, with those of some pairs added."""
    if not len(query):
        return listed
    width = max(int(lists.max(initial=0)), int(candidate.max(initial=0))) + 1
    added = look_up_labels(lists, query, candidate, label, width)
    return np.where(added >= 0, added, listed)
