"""Estimates for the whole catalog: labels drawn with known probabilities and vectors in, values with intervals out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.estimates.blocks import RankedBlock
from likewise.evaluation.estimates.catalog_measures import ExpectedMeasure, expected_measures
from likewise.evaluation.estimates.chances import Expectation, Ints, pair_chances
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.linearised import CatalogEstimate, DrawnLabels, estimate_measure
from likewise.evaluation.estimates.micro import (
    SAMPLE_ENTRIES,
    ScoreHistogram,
    expected_micro_auc,
    histogram,
    score_edges,
)
from likewise.evaluation.estimates.prediction import Predictions, fit_predictions, pair_features, with_labels
from likewise.evaluation.measures import ROC_AUC

MICRO_AUC = str(ROC_AUC(average="micro"))
Blocks = Callable[[], Iterable[tuple[Ints, RankedBlock]]]


@dataclass(frozen=True)
class CatalogEstimates:
    """Every measure of every encoder, and the number of similar pairs per query."""

    encoders: list[str]
    by_encoder: list[dict[str, CatalogEstimate]]
    positives: CatalogEstimate
    n_labelled: int
    n_found: int


def estimate_catalog(
    blocks: Blocks, encoders: Sequence[str], drawn: LabelledDraw, ks: tuple[int, ...], seed: int = 0
) -> CatalogEstimates:
    """Two passes over the blocks: learn to predict from the drawn pairs, then predict and sum over all pairs."""
    predictions, edges = _learn(blocks, len(encoders), drawn, seed)
    labels = DrawnLabels(drawn.query, drawn.label, drawn.probability, predictions.unseen, drawn.n_queries)
    positives: list[Expectation] = []
    measures: list[list[dict[str, ExpectedMeasure]]] = []
    histograms: list[list[ScoreHistogram]] = []
    for rows, block in blocks():
        mine = _of_rows(drawn, rows)
        row, unit = drawn.query[mine] - rows[0], drawn.unit[mine]
        chance = predictions.model.chance(pair_features(block), rows)
        known = with_labels(chance, block.admissible, row, unit, drawn.label[mine])
        total, by_encoder = expected_measures(block, pair_chances(known, row, unit), ks)
        positives.append(total)
        measures.append(by_encoder)
        histograms.append(
            [
                histogram(scores, block.admissible, known, of_encoder, row, unit)
                for scores, of_encoder in zip(block.scores, edges, strict=True)
            ]
        )
    found = []
    for place in range(len(encoders)):
        joined = {name: _join([block[place][name] for block in measures]) for name in measures[0][place]}
        counted = _join_histograms([block[place] for block in histograms])
        joined[MICRO_AUC] = expected_micro_auc(counted, labels)
        found.append({name: estimate_measure(labels, expected) for name, expected in joined.items()})
    every_query = Expectation(np.ones(drawn.n_queries), np.zeros(len(drawn.query)))
    count = estimate_measure(labels, ExpectedMeasure(_concatenate(positives), every_query))
    return CatalogEstimates(list(encoders), found, count, len(drawn.query), int(drawn.label.sum()))


def _learn(
    blocks: Blocks, n_encoders: int, drawn: LabelledDraw, seed: int
) -> tuple[Predictions, list[NDArray[np.float32]]]:
    """The predicting model, and for each encoder the classes of its scores."""
    features = []
    sample: list[list[NDArray[np.float32]]] = [[] for _ in range(n_encoders)]
    for rows, block in blocks():
        mine = _of_rows(drawn, rows)
        features.append(pair_features(block)[:, drawn.query[mine] - rows[0], drawn.unit[mine]].T)
        every = max(1, block.admissible.size * drawn.n_queries // max(1, len(rows)) // SAMPLE_ENTRIES)
        for scores, kept in zip(block.scores, sample, strict=True):
            kept.append(scores[block.admissible][::every])
    table = np.concatenate(features).astype(np.float64)
    predictions = fit_predictions(table, drawn.query, drawn.label, drawn.n_queries, seed)
    return predictions, [score_edges(np.concatenate(kept)) for kept in sample]


def _of_rows(drawn: LabelledDraw, rows: Ints) -> slice:
    first, last = np.searchsorted(drawn.query, [rows[0], rows[-1] + 1])
    return slice(int(first), int(last))


def _concatenate(parts: Sequence[Expectation]) -> Expectation:
    return Expectation(np.concatenate([part.value for part in parts]), np.concatenate([p.derivative for p in parts]))


def _join(parts: Sequence[ExpectedMeasure]) -> ExpectedMeasure:
    return ExpectedMeasure(
        _concatenate([part.numerator for part in parts]), _concatenate([part.denominator for part in parts])
    )


def _join_histograms(parts: Sequence[ScoreHistogram]) -> ScoreHistogram:
    return ScoreHistogram(
        np.concatenate([part.pairs for part in parts]),
        np.concatenate([part.positives for part in parts]),
        np.concatenate([part.drawn_bin for part in parts]),
    )
