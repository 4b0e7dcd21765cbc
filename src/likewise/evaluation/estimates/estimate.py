"""Estimates for the whole catalog: labels drawn with known probabilities and vectors in, values with intervals out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.estimates.blocks import RankedBlock
from likewise.evaluation.estimates.catalog_measures import ExpectedMeasure, expected_measures
from likewise.evaluation.estimates.chances import Expectation, Ints, mean_expectation, pair_chances
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.judge import (
    AnsweredPairs,
    JudgeAgreement,
    JudgeAnswers,
    judged_and_labelled,
    labelled_pairs,
)
from likewise.evaluation.estimates.linearised import CatalogEstimate, estimate_measure
from likewise.evaluation.estimates.micro import (
    SAMPLE_ENTRIES,
    ScoreHistogram,
    expected_micro_auc,
    score_edges,
    weighted_score_histogram,
)
from likewise.evaluation.estimates.prediction import fit_predictions, pair_features, with_labels
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
    judge: JudgeAgreement | None = None
    label_equivalent: float | None = None
    """How many labels without the judge would tell P@k as closely, per label with it: median over encoders."""


def estimate_catalog(
    blocks: Blocks,
    encoders: Sequence[str],
    drawn: LabelledDraw,
    ks: tuple[int, ...],
    seed: int = 0,
    judge: JudgeAnswers | None = None,
) -> CatalogEstimates:
    """Two passes over the blocks: learn to predict from the drawn pairs, then predict and sum over all pairs."""
    answered, edges = _learn(blocks, len(encoders), drawn, seed, judge)
    corrections = answered.corrections
    positives: list[Expectation] = []
    measures: list[list[dict[str, ExpectedMeasure]]] = []
    histograms: list[list[ScoreHistogram]] = []
    for rows, block in blocks():
        mine = _of_rows(answered.query, rows)
        row, unit = answered.query[mine] - rows[0], answered.unit[mine]
        shifted = [
            with_labels(chance, block.admissible, row, unit, answered.chance[mine])
            for chance in answered.model.chances(pair_features(block), rows)
        ]
        found_here = [expected_measures(block, pair_chances(known, row, unit), ks) for known in shifted]
        positives.append(mean_expectation([total for total, _ in found_here]))
        measures.append([_mean_measures(same) for same in zip(*(by_model for _, by_model in found_here), strict=True)])
        mean = np.mean(shifted, axis=0)
        histograms.append(
            [
                weighted_score_histogram(scores, block.admissible, mean, of_encoder, row, unit)
                for scores, of_encoder in zip(block.scores, edges, strict=True)
            ]
        )
    found = []
    for place in range(len(encoders)):
        joined = {name: _join([block[place][name] for block in measures]) for name in measures[0][place]}
        counted = _join_histograms([block[place] for block in histograms])
        joined[MICRO_AUC] = expected_micro_auc(counted, corrections)
        found.append({name: estimate_measure(corrections, expected) for name, expected in joined.items()})
    every_query = Expectation(np.ones(drawn.n_queries), np.zeros(len(answered.query)))
    count = estimate_measure(corrections, ExpectedMeasure(_concatenate(positives), every_query))
    return CatalogEstimates(
        list(encoders),
        found,
        count,
        len(drawn.query),
        int(drawn.label.sum()),
        answered.agreement,
        _label_equivalent(answered, [by_measure[f"P@{max(ks)}"] for by_measure in found]),
    )


def _mean_measures(shifted: Sequence[dict[str, ExpectedMeasure]]) -> dict[str, ExpectedMeasure]:
    return {
        name: ExpectedMeasure(
            mean_expectation([one[name].numerator for one in shifted]),
            mean_expectation([one[name].denominator for one in shifted]),
            shifted[0][name].counts_queries,
            shifted[0][name].prior_ratio,
        )
        for name in shifted[0]
    }


def _label_equivalent(answered: AnsweredPairs, estimates: Sequence[CatalogEstimate]) -> float | None:
    if answered.without_judge is None:
        return None
    pairs = [(replace(one, corrections=answered.without_judge).drawing_error, one.drawing_error) for one in estimates]
    return float(np.median([(alone / together) ** 2 for alone, together in pairs if together > 0.0] or [1.0]))


def _learn(
    blocks: Blocks, n_encoders: int, drawn: LabelledDraw, seed: int, judge: JudgeAnswers | None
) -> tuple[AnsweredPairs, list[NDArray[np.float32]]]:
    """What is known of answered pairs, the model that predicts the others, and each encoder's classes of scores."""
    features, judged = [], []
    sample: list[list[NDArray[np.float32]]] = [[] for _ in range(n_encoders)]
    for rows, block in blocks():
        of_block = pair_features(block)
        mine = _of_rows(drawn.query, rows)
        features.append(of_block[:, drawn.query[mine] - rows[0], drawn.unit[mine]].T)
        if judge is not None:
            asked = _of_rows(judge.query, rows)
            judged.append(of_block[:, judge.query[asked] - rows[0], judge.unit[asked]].T)
        every = max(1, block.admissible.size * drawn.n_queries // max(1, len(rows)) // SAMPLE_ENTRIES)
        for scores, kept in zip(block.scores, sample, strict=True):
            kept.append(scores[block.admissible][::every])
    table = np.concatenate(features).astype(np.float64)
    predictions = fit_predictions(table, drawn.query, drawn.label, drawn.weight, drawn.n_queries, seed)
    edges = [score_edges(np.concatenate(kept)) for kept in sample]
    if judge is None:
        return labelled_pairs(drawn, predictions), edges
    told = np.concatenate(judged).astype(np.float64)
    return judged_and_labelled(judge, told, drawn, predictions, seed), edges


def _of_rows(query: Ints, rows: Ints) -> slice:
    first, last = np.searchsorted(query, [rows[0], rows[-1] + 1])
    return slice(int(first), int(last))


def _concatenate(parts: Sequence[Expectation]) -> Expectation:
    return Expectation(np.concatenate([part.value for part in parts]), np.concatenate([p.derivative for p in parts]))


def _join(parts: Sequence[ExpectedMeasure]) -> ExpectedMeasure:
    return ExpectedMeasure(
        _concatenate([part.numerator for part in parts]),
        _concatenate([part.denominator for part in parts]),
        parts[0].counts_queries,
        parts[0].prior_ratio,
    )


def _join_histograms(parts: Sequence[ScoreHistogram]) -> ScoreHistogram:
    return ScoreHistogram(
        np.concatenate([part.pairs for part in parts]),
        np.concatenate([part.positives for part in parts]),
        np.concatenate([part.drawn_bin for part in parts]),
    )
