"""What can be said of a pair before it is labelled: how every encoder sees it, and what was labelled so far.

Per encoder the logarithm of the candidate's rank, its cosine with the query, and how near it is to the query's labelled
positives and negatives; over encoders three summaries; over queries what the same candidate was called beside other
queries like this one (by their vectors, and by labels between queries), and what the pair was called the other way
round. The label of a pair never enters its own features, so a model can learn from labelled pairs and predict others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.discovery.designs.drawing import Floats, Ints
from likewise.discovery.designs.units import CatalogUnits
from likewise.neighbours import NO_INDEX

Vectors = NDArray[np.float32]
RRF_OFFSET = 10.0  # of reciprocal rank fusion
QUERY_SHARPNESS = 2.0  # how fast another query's labels lose weight, per standard deviation of similarity
COLUMNS_PER_VIEW = 3  # the cosine, and how near labelled positives and negatives are
OTHER_QUERIES = 1.0  # labels of average queries that a candidate's mean is shrunk by


class EncoderView(Protocol):
    """How one encoder sees queries and units."""

    def scores(self, query: int, unit: Ints) -> Vectors:
        """The cosine of a query with some units, of each its best image."""

    def between(self, unit: Ints, others: Ints) -> Vectors:
        """The cosines of units with others, by the means of their images."""

    def between_queries(self) -> Vectors:
        """The cosines of all queries with each other."""


@dataclass(frozen=True)
class VectorView:
    """From unit vectors of every query and of every image of the gallery, those of one unit side by side."""

    queries: Vectors
    gallery: Vectors
    first_image: Ints
    units: Vectors

    @staticmethod
    def of(queries: Vectors, gallery: Vectors, units: CatalogUnits) -> "VectorView":
        images = np.argsort(units.unit_of_image, kind="stable")
        first_image = np.searchsorted(units.unit_of_image[images], np.arange(units.n_units + 1))
        if not np.array_equal(images, np.arange(len(images))):
            gallery = gallery[images]
        if units.n_units == len(images):
            return VectorView(queries, gallery, first_image, gallery)
        means = np.add.reduceat(gallery, first_image[:-1], axis=0)
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), np.float32(1e-12))
        return VectorView(queries, gallery, first_image, means)

    def scores(self, query: int, unit: Ints) -> Vectors:
        counts = self.first_image[unit + 1] - self.first_image[unit]
        start = np.cumsum(counts) - counts
        image = np.repeat(self.first_image[unit] - start, counts) + np.arange(int(counts.sum()))
        return np.asarray(np.maximum.reduceat(self.gallery[image] @ self.queries[query], start))

    def between(self, unit: Ints, others: Ints) -> Vectors:
        return np.asarray(self.units[unit] @ self.units[others].T)

    def between_queries(self) -> Vectors:
        return np.asarray(self.queries @ self.queries.T)


@dataclass(frozen=True)
class LabelledPairs:
    """Rows of queries, units, and labels (0 or 1)."""

    query: Ints
    unit: Ints
    label: Floats

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True)
class PairFeatures:
    """Features of any pair: vectors, each encoder's list of units for every query (best first), labels so far."""

    views: Sequence[EncoderView]
    units: CatalogUnits
    lists: Sequence[Ints]
    labelled: LabelledPairs
    query_units: Ints  # the unit that shows the query's own item, -1 for none
    query_weights: Floats
    relations: NDArray[np.int8]  # of queries: 1 labelled similar, -1 labelled otherwise, 0 unknown

    @staticmethod
    def of(
        views: Sequence[EncoderView], units: CatalogUnits, lists: Sequence[Ints], labelled: LabelledPairs
    ) -> "PairFeatures":
        place = np.minimum(np.searchsorted(units.unit_items, units.query_items), units.n_units - 1)
        query_units = np.where(units.unit_items[place] == units.query_items, place, NO_INDEX)
        relations = _relations(query_units, units.n_units, labelled)
        return PairFeatures(views, units, lists, labelled, query_units, _query_weights(views), relations)

    @property
    def joint_rank_columns(self) -> Ints:
        """Where the table has the smallest and the mean logarithm of the ranks, and their fusion."""
        first = (COLUMNS_PER_VIEW + 1) * len(self.views)
        return np.arange(first, first + 3)

    def table(self, query: Ints, unit: Ints) -> Vectors:
        """One row of features per pair; pairs are sorted by query."""
        parts = [self._of_query(row, unit[some]) for row, some in slices_by_row(query)]
        return np.concatenate(parts) if parts else np.empty((0, 0), dtype=np.float32)

    def _of_query(self, row: int, unit: Ints) -> Vectors:
        first, last = np.searchsorted(self.labelled.query, [row, row + 1])
        known, label = self.labelled.unit[first:last], self.labelled.label[first:last]
        own = known[:, None] == unit[None, :]
        score = np.stack([view.scores(row, unit) for view in self.views])
        mean, spread = score.mean(axis=1, keepdims=True), np.maximum(score.std(axis=1, keepdims=True), np.float32(1e-6))
        between = np.stack([view.between(known, unit) for view in self.views])
        like = _nearest(between, own, label == 1, score)
        unlike = _nearest(between, own, label == 0, np.broadcast_to(mean, score.shape))
        nearness = np.stack([score, like, unlike], axis=1)  # COLUMNS_PER_VIEW of each
        ranks = np.stack([self._ranks(listed[row], unit) for listed in self.lists])
        every, reciprocal = np.log1p(ranks), (1.0 / (ranks + RRF_OFFSET)).sum(axis=0)
        columns: list[Vectors | Floats] = [*((nearness - mean[:, None]) / spread[:, None]).reshape(-1, len(unit))]
        columns += [*every, every.min(axis=0), every.mean(axis=0), np.log(reciprocal)]
        columns += [*self._other_queries(row, unit), self._other_way_round(row, unit), *self._related(row, unit)]
        similar = label.sum() - label @ own
        asked = len(label) - own.sum(axis=0)
        columns.append(np.log((similar + 0.5) / (asked - similar + 2.0)))
        return np.stack(columns, axis=1).astype(np.float32)

    def _ranks(self, listed: Ints, unit: Ints) -> Ints:
        """In a list of units, best first; behind it, its length."""
        rank = np.full(self.units.n_units, len(listed))
        here = listed[listed != NO_INDEX]
        rank[here] = np.arange(len(here))
        return rank[unit]

    def _other_queries(self, row: int, unit: Ints) -> list[Floats]:
        """The mean label of the candidate beside other queries, the more like this one the heavier."""
        some = self.labelled
        weight = np.where(some.query == row, 0.0, self.query_weights[row][some.query])
        total = np.bincount(some.unit, weight, self.units.n_units)[unit]
        similar = np.bincount(some.unit, weight * some.label, self.units.n_units)[unit]
        others = some.label[some.query != row]
        prior = float(others.mean()) if len(others) else 0.0
        mean = (similar + OTHER_QUERIES * prior) / (total + OTHER_QUERIES)
        return [np.log(mean + 0.02), np.log1p(similar)]

    def _related(self, row: int, unit: Ints) -> list[Floats]:
        """What the candidate was called beside queries that were themselves called similar to this one, or not."""
        some = self.labelled
        relation = self.relations[row][some.query]
        columns = []
        for kind, label in ((1, 1.0), (1, 0.0), (-1, 1.0)):
            count = np.bincount(some.unit, (relation == kind) & (some.label == label), self.units.n_units)
            columns.append(np.log1p(count[unit]))
        return columns

    def _other_way_round(self, row: int, unit: Ints) -> Floats:
        """The label of the pair with query and candidate exchanged: 1, -1, or 0 where there is none."""
        found = np.zeros(self.units.n_units)
        mine = self.query_units[row]
        if mine != NO_INDEX:
            same = self.labelled.unit == mine
            other = self.query_units[self.labelled.query[same]]
            found[other[other != NO_INDEX]] = 2.0 * self.labelled.label[same][other != NO_INDEX] - 1.0
        return found[unit]


def slices_by_row(rows: Ints) -> Iterator[tuple[int, slice]]:
    """Each row of a sorted column with its slice."""
    start = np.flatnonzero(np.append(True, rows[1:] != rows[:-1])) if len(rows) else np.empty(0, dtype=np.int64)
    for first, last in zip(start, np.append(start[1:], len(rows)), strict=True):
        yield int(rows[first]), slice(int(first), int(last))


def _nearest(between: Vectors, own: NDArray[np.bool_], kind: NDArray[np.bool_], default: Vectors) -> Vectors:
    """The largest similarity to a labelled candidate of this kind other than the pair's own, at least `default`.

    `between` are similarities in every view (views, labelled, candidates).
    """
    if not kind.any():
        return default
    others = between[:, kind]
    if own[kind].any():
        others = np.where(own[kind], np.float32(-np.inf), others)
    return np.asarray(np.maximum(others.max(axis=1), default), dtype=np.float32)


def _relations(query_units: Ints, n_units: int, labelled: LabelledPairs) -> NDArray[np.int8]:
    """What was said of pairs of queries, in either direction; the later of two contrary answers by order of queries."""
    n = len(query_units)
    query_of_unit = np.full(n_units, NO_INDEX)
    has_unit = query_units != NO_INDEX
    query_of_unit[query_units[has_unit]] = np.flatnonzero(has_unit)
    other = query_of_unit[labelled.unit]
    both = other != NO_INDEX
    said = np.where(labelled.label[both] == 1.0, 1, -1).astype(np.int8)
    relations = np.zeros((n, n), dtype=np.int8)
    relations[labelled.query[both], other[both]] = said
    relations[other[both], labelled.query[both]] = said
    return relations


def _query_weights(views: Sequence[EncoderView]) -> Floats:
    """How much the labels of one query say about another: falls with their similarity, standardised and averaged."""
    standard = []
    for view in views:
        between = view.between_queries().astype(np.float64)
        standard.append((between - between.mean()) / max(float(between.std()), 1e-6))
    return np.asarray(np.exp(QUERY_SHARPNESS * np.minimum(np.mean(standard, axis=0), 3.0)))
