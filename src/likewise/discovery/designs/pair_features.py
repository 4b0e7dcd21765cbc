"""What can be said of a pair before it is labelled: how every encoder sees it, and what was labelled so far.

Per encoder the logarithm of the candidate's rank, its cosine with the query, and how near it is to the query's labelled
positives and negatives; over encoders three summaries; over queries what the same candidate was called beside other
queries like this one, and what the pair was called the other way round. The label of a pair never enters its own
features, so a model can learn from labelled pairs and predict the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.discovery.designs.drawing import Floats, Ints
from likewise.discovery.designs.units import CatalogUnits
from likewise.neighbours import NO_INDEX

Vectors = NDArray[np.float32]
RRF_OFFSET = 10.0  # of reciprocal rank fusion
QUERY_SHARPNESS = 2.0  # how fast another query's labels lose weight, per standard deviation of similarity
OTHER_QUERIES = 1.0  # labels of average queries that a candidate's mean is shrunk by


@dataclass(frozen=True)
class EncoderView:
    """Unit vectors of one encoder: of every query, and of every image of the gallery."""

    queries: Vectors
    gallery: Vectors


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
    images: Ints  # gallery rows, those of one unit side by side
    first_image: Ints
    unit_vectors: Sequence[Vectors]
    query_weights: Floats

    @staticmethod
    def of(
        views: Sequence[EncoderView], units: CatalogUnits, lists: Sequence[Ints], labelled: LabelledPairs
    ) -> "PairFeatures":
        images = np.argsort(units.unit_of_image, kind="stable")
        first_image = np.searchsorted(units.unit_of_image[images], np.arange(units.n_units + 1))
        means = [np.add.reduceat(view.gallery[images], first_image[:-1], axis=0) for view in views]
        lengths = [np.linalg.norm(mean, axis=1, keepdims=True) for mean in means]
        vectors = [mean / np.maximum(length, 1e-12) for mean, length in zip(means, lengths, strict=True)]
        place = np.minimum(np.searchsorted(units.unit_items, units.query_items), units.n_units - 1)
        query_units = np.where(units.unit_items[place] == units.query_items, place, NO_INDEX)
        return PairFeatures(
            views, units, lists, labelled, query_units, images, first_image, vectors, _query_weights(views)
        )

    def table(self, query: Ints, unit: Ints) -> Vectors:
        """One row of features per pair; pairs are sorted by query."""
        parts = [self._of_query(row, unit[some]) for row, some in runs(query)]
        return np.concatenate(parts) if parts else np.empty((0, 0), dtype=np.float32)

    def _of_query(self, row: int, unit: Ints) -> Vectors:
        first, last = np.searchsorted(self.labelled.query, [row, row + 1])
        known, label = self.labelled.unit[first:last], self.labelled.label[first:last]
        own = unit[:, None] == known[None, :]
        counts = self.first_image[unit + 1] - self.first_image[unit]
        start = np.cumsum(counts) - counts
        image = self.images[np.repeat(self.first_image[unit] - start, counts) + np.arange(int(counts.sum()))]
        columns: list[Vectors | Floats] = []
        log_ranks, reciprocal = [], np.zeros(len(unit))
        for view, vectors, listed in zip(self.views, self.unit_vectors, self.lists, strict=True):
            rank = np.full(self.units.n_units, listed.shape[1])
            here = listed[row][listed[row] != NO_INDEX]
            rank[here] = np.arange(len(here))
            log_ranks.append(np.log1p(rank[unit]))
            reciprocal += 1.0 / (rank[unit] + RRF_OFFSET)
            score = np.maximum.reduceat(view.gallery[image] @ view.queries[row], start)
            mean, spread = score.mean(), max(float(score.std()), 1e-6)
            between = vectors[unit] @ vectors[known].T
            like = _nearest(between, own, label == 1, score)
            unlike = _nearest(between, own, label == 0, np.full(len(unit), mean))
            columns += [(score - mean) / spread, (like - mean) / spread, (unlike - mean) / spread]
        every = np.stack(log_ranks)
        columns += [*every, every.min(axis=0), every.mean(axis=0), np.log(reciprocal)]
        columns += [*self._other_queries(row, unit), self._other_way_round(row, unit)]
        similar = np.where(own & (label == 1), -1.0, 0.0).sum(axis=1) + label.sum()
        asked = len(label) - own.sum(axis=1)
        columns.append(np.log((similar + 0.5) / (asked - similar + 2.0)))
        return np.stack(columns, axis=1).astype(np.float32)

    def _other_queries(self, row: int, unit: Ints) -> list[Floats]:
        """The mean label of the candidate beside other queries, the more like this one the heavier."""
        some = self.labelled
        weight = np.where(some.query == row, 0.0, self.query_weights[row][some.query])
        total = np.bincount(some.unit, weight, self.units.n_units)[unit]
        similar = np.bincount(some.unit, weight * some.label, self.units.n_units)[unit]
        prior = float(some.label.mean()) if len(some) else 0.0
        mean = (similar + OTHER_QUERIES * prior) / (total + OTHER_QUERIES)
        return [np.log(mean + 0.02), np.log1p(similar)]

    def _other_way_round(self, row: int, unit: Ints) -> Floats:
        """The label of the pair with query and candidate exchanged: 1, -1, or 0 where there is none."""
        found = np.zeros(self.units.n_units)
        mine = self.query_units[row]
        if mine != NO_INDEX:
            same = self.labelled.unit == mine
            other = self.query_units[self.labelled.query[same]]
            found[other[other != NO_INDEX]] = 2.0 * self.labelled.label[same][other != NO_INDEX] - 1.0
        return found[unit]


def runs(rows: Ints) -> Iterator[tuple[int, slice]]:
    """Each row of a sorted column with its slice."""
    start = np.flatnonzero(np.append(True, rows[1:] != rows[:-1])) if len(rows) else np.empty(0, dtype=np.int64)
    for first, last in zip(start, np.append(start[1:], len(rows)), strict=True):
        yield int(rows[first]), slice(int(first), int(last))


def _nearest(between: Vectors, own: NDArray[np.bool_], kind: NDArray[np.bool_], default: Vectors) -> Vectors:
    """The largest similarity to a labelled candidate of this kind other than the pair's own, at least `default`."""
    if not kind.any():
        return default
    others = np.where(own[:, kind], np.float32(-np.inf), between[:, kind])
    return np.asarray(np.maximum(others.max(axis=1), default), dtype=np.float32)


def _query_weights(views: Sequence[EncoderView]) -> Floats:
    """How much the labels of one query say about another: falls with their similarity, standardised and averaged."""
    total = np.zeros((len(views[0].queries),) * 2)
    for view in views:
        between = (view.queries @ view.queries.T).astype(np.float64)
        total += (between - between.mean()) / max(float(between.std()), 1e-6)
    return np.asarray(np.exp(QUERY_SHARPNESS * np.minimum(total / len(views), 3.0)))
