"""Estimates for the whole catalog: labels drawn with known probabilities and vectors in, values with intervals out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.estimates.apart import n_apart
from likewise.evaluation.estimates.blocks import RankedBlock
from likewise.evaluation.estimates.chances import Floats, Ints
from likewise.evaluation.estimates.collected import CollectedMeasures
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.judge import (
    AnsweredPairs,
    JudgeAgreement,
    JudgeAnswers,
    judged_and_labelled,
    labelled_pairs,
)
from likewise.evaluation.estimates.linearised import (
    CatalogEstimate,
    estimate_count,
    estimate_measure,
    no_corrections,
)
from likewise.evaluation.estimates.listed_pairs import ListedChances, ListedPairs
from likewise.evaluation.estimates.micro import SAMPLE_ENTRIES, score_edges
from likewise.evaluation.estimates.ordering import order_values
from likewise.evaluation.estimates.prediction import fit_predictions, pair_features, with_labels
from likewise.evaluation.estimates.shown import EstimateFacts

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
    foretold: Sequence[Mapping[str, float]] = ()
    """Every measure of every encoder by the closer chances of `listed_pairs`, uncorrected; none without these."""
    apart: Floats = field(default_factory=lambda: np.empty(0))
    """Of every encoder, the share of its first candidates that no generator has among its first: see `shown.py`."""
    count_error: float = np.inf
    """The foreseen standard error of the number of similar pairs, by labels alone, over that number."""

    def facts(self, place: int, measure: str) -> EstimateFacts:
        """What decides whether an encoder's estimate is shown."""
        return EstimateFacts(float(self.apart[place]), self.count_error, self.by_encoder[place][measure].foreseen_error)

    def of_measure(self, measure: str) -> list[CatalogEstimate]:
        """The estimates of every encoder."""
        return [by_measure[measure] for by_measure in self.by_encoder]

    def order_values(self, measure: str) -> Floats:
        """What the encoders are ordered by."""
        return order_values(self.of_measure(measure), [by_measure[measure] for by_measure in self.foretold] or None)


def estimate_catalog(
    blocks: Blocks,
    encoders: Sequence[str],
    drawn: LabelledDraw,
    ks: tuple[int, ...],
    seed: int = 0,
    judge: JudgeAnswers | None = None,
    listed: ListedPairs | None = None,
    generators: Sequence[int] | None = None,
) -> CatalogEstimates:
    """Two passes over the blocks: learn to predict from the drawn pairs, then predict and sum over all pairs.

    With `listed` the encoders are ordered by closer predictions. `generators` are the places of the encoders whose
    ranks the design follows; without them the drawn pairs' own ranks must do.
    """
    answered, edges, closer = _learn(blocks, len(encoders), drawn, seed, judge, listed)
    corrections, none = answered.corrections, np.empty(0, dtype=np.int64)
    expected, foretold = CollectedMeasures(ks, edges), CollectedMeasures(ks, edges)
    apart = np.zeros(len(encoders))
    for rows, block in blocks():
        apart += n_apart(block, drawn, rows, generators, max(ks))
        mine = _of_rows(answered.query, rows)
        row, unit = answered.query[mine] - rows[0], answered.unit[mine]
        chances = answered.model.chances(pair_features(block), rows)
        pairs = zip(chances, answered.chances, strict=True)
        known = [with_labels(chance, block.admissible, row, unit, told[mine]) for chance, told in pairs]
        expected.add(block, known, row, unit)
        if closer is not None:
            told, answers = closer.chances(np.mean(chances, axis=0), rows), np.mean(answered.chances, axis=0)
            foretold.add(block, [with_labels(told, block.admissible, row, unit, answers[mine])], none, none)
    found = [
        {name: estimate_measure(corrections, one) for name, one in by_measure.items()}
        for by_measure in expected.joined(corrections)
    ]
    count = estimate_count(corrections, expected.count())
    uncorrected = [] if closer is None else foretold.joined(no_corrections(drawn.n_queries))
    return CatalogEstimates(
        list(encoders),
        found,
        count,
        len(drawn.query),
        int(drawn.label.sum()),
        answered.agreement,
        _label_equivalent(answered, [by_measure[f"P@{max(ks)}"] for by_measure in found]),
        [{name: one.uncorrected for name, one in by_measure.items()} for by_measure in uncorrected],
        np.maximum(apart / (max(ks) * drawn.n_queries), 0.0),
        _count_error(count, answered),
    )


def _count_error(count: CatalogEstimate, answered: AnsweredPairs) -> float:
    """A judge does not decide what is shown: where it finds few surprises, few have happened yet."""
    by_labels = replace(count, corrections=answered.without_judge or count.corrections)
    return by_labels.foreseen_error / count.value if count.value > 0.0 else np.inf


def _label_equivalent(answered: AnsweredPairs, estimates: Sequence[CatalogEstimate]) -> float | None:
    if answered.without_judge is None:
        return None
    pairs = [(replace(one, corrections=answered.without_judge).drawing_error, one.drawing_error) for one in estimates]
    return float(np.median([(alone / together) ** 2 for alone, together in pairs if together > 0.0] or [1.0]))


def _learn(
    blocks: Blocks,
    n_encoders: int,
    drawn: LabelledDraw,
    seed: int,
    judge: JudgeAnswers | None,
    listed: ListedPairs | None,
) -> tuple[AnsweredPairs, list[NDArray[np.float32]], ListedChances | None]:
    """What is known of answered pairs, the model that predicts the others, each encoder's classes of scores, and the
    closer model of listed pairs if it is asked for."""
    features, judged, lists = [], [], []
    sample: list[list[NDArray[np.float32]]] = [[] for _ in range(n_encoders)]
    for rows, block in blocks():
        of_block = pair_features(block)
        mine = _of_rows(drawn.query, rows)
        features.append(of_block[:, drawn.query[mine] - rows[0], drawn.unit[mine]].T)
        if judge is not None:
            asked = _of_rows(judge.query, rows)
            judged.append(of_block[:, judge.query[asked] - rows[0], judge.unit[asked]].T)
        if listed is not None:
            lists.append(listed.lists(block))
        every = max(1, block.admissible.size * drawn.n_queries // max(1, len(rows)) // SAMPLE_ENTRIES)
        for scores, kept in zip(block.scores, sample, strict=True):
            kept.append(scores[block.admissible][::every])
    table = np.concatenate(features).astype(np.float64)
    predictions = fit_predictions(table, drawn.query, drawn.label, drawn.weight, drawn.n_queries, seed)
    edges = [score_edges(np.concatenate(kept)) for kept in sample]
    closer = None if listed is None else listed.fit(np.concatenate(lists, axis=1), drawn, predictions.unseen, seed)
    if judge is None:
        return labelled_pairs(drawn, predictions), edges, closer
    told = np.concatenate(judged).astype(np.float64)
    return judged_and_labelled(judge, told, drawn, predictions, seed), edges, closer


def _of_rows(query: Ints, rows: Ints) -> slice:
    first, last = np.searchsorted(query, [rows[0], rows[-1] + 1])
    return slice(int(first), int(last))
