"""Expected measures of every encoder, collected a block of queries at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.estimates.blocks import RankedBlock
from likewise.evaluation.estimates.catalog_measures import ExpectedMeasure, expected_measures
from likewise.evaluation.estimates.chances import Expectation, Floats, Ints, mean_expectation, pair_chances
from likewise.evaluation.estimates.linearised import Corrections
from likewise.evaluation.estimates.micro import ScoreHistogram, expected_micro_auc, weighted_score_histogram
from likewise.evaluation.measures import ROC_AUC

MICRO_AUC = str(ROC_AUC(average="micro"))


@dataclass(frozen=True)
class CollectedMeasures:
    """What the blocks so far expect: the number of positives, and by encoder every measure."""

    ks: tuple[int, ...]
    edges: Sequence[NDArray[np.float32]]
    """Each encoder's classes of scores."""
    positives: list[Expectation] = field(default_factory=list)
    measures: list[list[dict[str, ExpectedMeasure]]] = field(default_factory=list)
    histograms: list[list[ScoreHistogram]] = field(default_factory=list)

    def add(self, block: RankedBlock, chances: Sequence[Floats], row: Ints, unit: Ints) -> None:
        """The mean over several chances that all pairs may have; with the derivatives by some pairs."""
        found = [expected_measures(block, pair_chances(one, row, unit), self.ks) for one in chances]
        self.positives.append(mean_expectation([total for total, _ in found]))
        self.measures.append([_mean_measures(same) for same in zip(*(by_model for _, by_model in found), strict=True)])
        mean = np.mean(chances, axis=0)
        self.histograms.append(
            [
                weighted_score_histogram(scores, block.admissible, mean, of_encoder, row, unit)
                for scores, of_encoder in zip(block.scores, self.edges, strict=True)
            ]
        )

    def count(self) -> Expectation:
        """Of positives."""
        return _concatenate(self.positives)

    def joined(self, corrections: Corrections) -> list[dict[str, ExpectedMeasure]]:
        """By encoder every measure over all blocks."""
        found = []
        for place in range(len(self.edges)):
            joined = {name: _join([block[place][name] for block in self.measures]) for name in self.measures[0][place]}
            counted = _join_histograms([block[place] for block in self.histograms])
            found.append(joined | {MICRO_AUC: expected_micro_auc(counted, corrections)})
        return found


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
