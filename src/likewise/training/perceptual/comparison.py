"""The learned encoder beside every other one, on answers it has not seen, with paired intervals.

Triplets: agreement with the majority and with all votes. Pairs: ROC_AUC and AP per query, then the mean over
queries (macro), as the discovery protocol has them. Intervals and t-tests are over queries, paired where
the learned encoder meets another one; p is corrected by Holm over the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.evaluation.auc import Floats, Ints, average_precision, roc_auc, sort_pairs
from likewise.evaluation.differences import ALPHA, holm_correction, paired_difference
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.triplets import MAJORITY, VOTES, TripletAgreement
from likewise.intervals import interval_of
from likewise.training.perceptual.answers import Answers

COMPARISON_SCHEMA = pl.Schema(
    {
        "unseen": pl.String,
        "encoder": pl.String,
        "measure": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "n_queries": pl.Int64,
        "n_answers": pl.Int64,
        "gain": pl.Float64,
        "gain_low": pl.Float64,
        "gain_high": pl.Float64,
        "p_holm": pl.Float64,
    }
)


@dataclass(frozen=True)
class HeldOutScores:
    """Answers that were held out, the fold each was held out in, and what each encoder scored."""

    answers: Answers
    fold: Ints
    scores: Mapping[str, Floats]

    def sums(self, encoder: str) -> dict[str, QuerySums]:
        return (_triplet_sums if self.answers.are_triplets else _pair_sums)(
            self.answers, self.fold, self.scores[encoder]
        )

    @property
    def n_answers(self) -> int:
        """Answers that count; evenly divided triplets do not."""
        return int((self.answers.label >= 0).sum())


def _triplet_sums(answers: Answers, fold: Ints, scores: Floats) -> dict[str, QuerySums]:
    anchors, place = np.unique(answers.query, return_inverse=True)
    choice = (np.sign(scores) + 1.0) / 2.0
    names = [answers.stimuli[anchor] for anchor in anchors]
    found = TripletAgreement(names, place, choice, answers.yes, answers.no, len(answers))
    return {measure: found.sums(measure) for measure in (MAJORITY, VOTES)}


def _pair_sums(answers: Answers, fold: Ints, scores: Floats) -> dict[str, QuerySums]:
    """Scores of two folds come from two models, so an area is taken within a fold and averaged over a query's folds."""
    n_folds = int(fold.max(initial=0)) + 1
    queries, place = np.unique(answers.query, return_inverse=True)
    by_query = sort_pairs(place * n_folds + fold, scores, answers.label, len(queries) * n_folds)
    areas = {"ROC_AUC": roc_auc(by_query), "AP": average_precision(by_query)}
    return {
        measure: QuerySums(
            *(part.reshape(len(queries), n_folds).sum(axis=1) for part in (each.numerator, each.denominator))
        )
        for measure, each in ((measure, QuerySums.mean_of(area)) for measure, area in areas.items())
    }


def comparison_table(unseen: str, held_out: HeldOutScores, learned: str) -> pl.DataFrame:
    """One row per encoder and measure; `gain` is the learned encoder minus this one."""
    sums = {encoder: held_out.sums(encoder) for encoder in held_out.scores}
    others = [encoder for encoder in sums if encoder != learned]
    rows = []
    for measure, own in sums[learned].items():
        gains = {encoder: paired_difference(own, sums[encoder][measure]) for encoder in (learned, *others)}
        corrected = holm_correction(np.array([gains[encoder].p for encoder in others]))
        p_of = dict(zip(others, corrected, strict=True))
        for encoder, gain in gains.items():
            this = sums[encoder][measure]
            ends = (gain.low, gain.high) if encoder != learned else (0.0, 0.0)
            rows.append(
                (
                    unseen,
                    encoder,
                    measure,
                    this.value(),
                    *interval_of(this),
                    this.n_defined,
                    held_out.n_answers,
                    gain.value,
                    *ends,
                    p_of.get(encoder, float("nan")),
                )
            )
    return pl.DataFrame(rows, schema=COMPARISON_SCHEMA, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))


def encoders_better_than_learned(results: pl.DataFrame) -> list[str]:
    """Encoders that agree with people more than what was learned, beyond chance, on something unseen."""
    ahead = results.filter((pl.col("gain_high") < 0) & (pl.col("p_holm") < ALPHA))
    return ahead["encoder"].unique(maintain_order=True).to_list()


@dataclass(frozen=True)
class Verdict:
    """Whether learning helped: against the best other encoder, on the first kind of unseen answers."""

    best_other: str
    gain: float
    low: float
    high: float
    helped: bool
    """Beyond chance, after correction; False is no proof of the opposite."""


def learning_verdict(results: pl.DataFrame) -> Verdict | None:
    """None where there is no other encoder to compare with."""
    first = results.row(0, named=True)
    others = results.filter(
        (pl.col("unseen") == first["unseen"]) & (pl.col("measure") == first["measure"]) & pl.col("p_holm").is_not_null()
    )
    if others.is_empty():
        return None
    best = others.sort("value", descending=True).row(0, named=True)
    helped = best["gain_low"] > 0 and best["p_holm"] < ALPHA
    return Verdict(best["encoder"], best["gain"], best["gain_low"], best["gain_high"], helped)
