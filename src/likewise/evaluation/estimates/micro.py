"""Micro ROC-AUC over the whole catalog: all pairs of all queries in one list, from histograms of their scores.

    A = P(a similar pair scores above another), ties one half, estimated from counts of pairs and expected positives
    in N_BINS classes of scores that hold about equally many pairs.

Both samples come from the same queries, so the influence of a query has two parts: where its positives stand among all
negatives, and where its negatives stand among all positives.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.estimates.catalog_measures import ExpectedMeasure
from likewise.evaluation.estimates.chances import Bools, Expectation, Floats, Ints
from likewise.evaluation.estimates.linearised import Corrections

N_BINS = 1024
SAMPLE_ENTRIES = 1_000_000  # scores the classes are made from


@dataclass(frozen=True)
class ScoreHistogram:
    """Of one encoder and each query: pairs and expected positives per class of scores; the class of each drawn pair."""

    pairs: Floats  # (queries, bins)
    positives: Floats
    drawn_bin: Ints


def score_edges(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """The inner edges of classes that hold about equally many of these scores."""
    ordered = np.sort(scores)  # faster than the selection of so many quantiles
    places = np.arange(1, N_BINS) / N_BINS * (len(scores) - 1)
    return np.unique(np.interp(places, np.arange(len(scores)), ordered).astype(np.float32))


def weighted_score_histogram(
    scores: NDArray[np.float32],
    admissible: Bools,
    chance: Floats,
    edges: NDArray[np.float32],
    drawn_row: Ints,
    drawn_unit: Ints,
) -> ScoreHistogram:
    """Count a block of queries (queries x units)."""
    n_queries, n_bins = len(scores), len(edges) + 1
    place = np.searchsorted(edges, scores, "right")
    cell = (np.arange(n_queries)[:, None] * n_bins + place)[admissible]
    shape = (n_queries, n_bins)
    pairs = np.bincount(cell, minlength=n_queries * n_bins).astype(np.float64).reshape(shape)
    positives = np.bincount(cell, chance[admissible], n_queries * n_bins).astype(np.float64).reshape(shape)
    return ScoreHistogram(pairs, positives, place[drawn_row, drawn_unit].astype(np.int64))


def expected_micro_auc(found: ScoreHistogram, corrections: Corrections) -> ExpectedMeasure:
    """Micro ROC-AUC as a ratio of sums over queries, with the influence of queries on both samples."""
    by_bin = found.positives.sum(axis=0)
    by_bin = by_bin + np.bincount(found.drawn_bin, corrections.missed, len(by_bin))
    negative = found.pairs.sum(axis=0) - by_bin
    n_positive, n_negative = by_bin.sum(), negative.sum()
    negatives_below = (np.cumsum(negative) - negative / 2.0) / n_negative
    positives_above = 1.0 - (np.cumsum(by_bin) - by_bin / 2.0) / n_positive
    area = float(by_bin @ negatives_below / n_positive)
    as_negative = n_positive / n_negative * (positives_above - area)
    gain = negatives_below - as_negative
    numerator = Expectation(found.pairs @ as_negative + found.positives @ gain, gain[found.drawn_bin])
    return ExpectedMeasure(numerator, Expectation(found.positives.sum(axis=1), np.ones(len(found.drawn_bin))))
