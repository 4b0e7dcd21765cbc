"""One encoder's results as measures see them: the labels along its lists, and its scores of the judged pairs."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Ints, SortedPairs, sort_pairs
from likewise.evaluation.micro_auc import micro_auc, micro_jackknife
from likewise.evaluation.query_sums import Floats

POSITIVE, UNJUDGED, PADDING = 1, -1, -2
AREAS = ("ROC_AUC", "AP")


@dataclass(frozen=True)
class PairScores:
    """Judged pairs (rows of queries and candidates) with one encoder's scores."""

    query: Ints
    candidate: Ints
    score: Floats
    label: NDArray[np.integer]
    n_queries: int

    @cached_property
    def n_positive(self) -> Ints:
        """Positives of each query."""
        return np.bincount(self.query[self.label == POSITIVE], minlength=self.n_queries)

    @cached_property
    def n_judged(self) -> Ints:
        """Judged pairs of each query."""
        return np.bincount(self.query, minlength=self.n_queries)

    @cached_property
    def by_query(self) -> SortedPairs:
        """Sorted by query and rising score, with ties in runs."""
        return sort_pairs(self.query, self.score, self.label, self.n_queries)

    @cached_property
    def best_first(self) -> Ints:
        """The order of the pairs by query and falling score; equal scores are ordered by candidate, as in lists."""
        return np.lexsort((self.candidate, -self.score, self.query))

    @cached_property
    def micro(self) -> dict[str, float]:
        """ROC_AUC and AP of all pairs in one list."""
        return dict(zip(AREAS, micro_auc(self.score, self.label), strict=True))

    @cached_property
    def micro_jackknife(self) -> dict[str, Floats]:
        """Both without each query in turn."""
        areas = micro_jackknife(self.query, self.score, self.label, self.n_queries)
        return dict(zip(AREAS, areas, strict=True))


@dataclass(frozen=True)
class MicroAverage:
    """An area under a curve of all pairs in one list: no sum over queries, but it can be computed without each."""

    pairs: PairScores
    area: str
    is_share = True

    @property
    def n_defined(self) -> int:
        return len(np.unique(self.pairs.query))

    def grouped(self, groups: Ints) -> "MicroAverage":
        """The queries of each group (numbered from 0) as one: the same value, over groups."""
        pairs = replace(self.pairs, query=groups[self.pairs.query], n_queries=int(groups.max()) + 1)
        return MicroAverage(pairs, self.area)

    def value(self) -> float:
        return self.pairs.micro[self.area]

    def jackknife(self) -> Floats:
        return self.pairs.micro_jackknife[self.area]


@dataclass(frozen=True)
class ListedGrades:
    """`listed`: the grade of each candidate of the lists, 0 without one; `best`: each query's grades, falling."""

    listed: Floats
    best: Floats


@dataclass(frozen=True)
class RankedResults:
    """`listed`: queries x list length, the label of each candidate (UNJUDGED without one, PADDING past the end).

    `n_positive`: how many positives each query has in all. Measures of judged pairs need `annotated`, the pairs with
    labelled negatives, or the same positives with others: `gallery` (drawn from the whole gallery) or `sampled` (from
    further down the generators' lists). `grades` are there where labels are graded.
    """

    listed: Ints
    n_positive: Ints
    annotated: PairScores | None = None
    sampled: PairScores | None = None
    gallery: PairScores | None = None
    grades: ListedGrades | None = None

    @property
    def has_positive(self) -> NDArray[np.bool_]:
        return self.n_positive > 0

    def hits(self, k: int) -> Floats:
        """1.0 where one of the first k candidates of a query is a positive, queries x (at most) k."""
        return np.asarray(self.listed[:, :k] == POSITIVE, dtype=np.float64)


def look_up_grades(
    lists: Ints, pair_query: Ints, pair_candidate: Ints, grade: Floats, n_gallery: int, n_best: int
) -> ListedGrades:
    """The grades of the lists' candidates, and the `n_best` highest of each query, padded with 0."""
    place = look_up_labels(lists, pair_query, pair_candidate, np.arange(len(grade)), n_gallery)
    listed = np.where(place >= 0, np.append(grade, 0.0)[np.maximum(place, -1)], 0.0)
    order = np.lexsort((-grade, pair_query))
    query = pair_query[order]
    rank = np.arange(len(query)) - np.searchsorted(query, query)
    best: Floats = np.zeros((len(lists), n_best))
    first = rank < n_best
    best[query[first], rank[first]] = grade[order][first]
    return ListedGrades(listed, best)


def look_up_labels(
    lists: Ints, pair_query: Ints, pair_candidate: Ints, pair_label: NDArray[np.integer], n_gallery: int
) -> Ints:
    """The label (0, 1, or UNJUDGED) of every entry of the lists (queries x k), PADDING where a list is short (-1)."""
    keys = pair_query * n_gallery + pair_candidate
    order = np.argsort(keys)
    keys, values = keys[order], pair_label[order].astype(np.int64)
    missing = np.where(lists >= 0, UNJUDGED, PADDING)
    if not len(keys):
        return missing
    wanted = np.arange(len(lists))[:, None] * n_gallery + lists
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where((keys[at] == wanted) & (lists >= 0), values[at], missing)
