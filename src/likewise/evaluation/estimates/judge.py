"""What a machine judge adds to the estimates: a second phase of the sample, never a label.

People label the drawn pairs D. A judge answers those and the pairs J of a larger draw of its own, with inclusion
probabilities of its own. A regression q on people's labels has the judge's answer as a further feature, for the pairs
that it has answered: so the judge is calibrated on people. p is the regression without it, and neither has seen the
label of a pair that it corrects. What the labels correct without a judge, (1 / pi_D - 1) (y - p) over D, stands for
y - p of all other pairs. With a judge that is taken apart into

    y - q, for which (1 / pi_D - 1) (y - q) over D stands, and q - p, for which (q - p) / pi_J over J without D stands.

Both are unbiased, whatever the judge is worth: a biased one is corrected by the labels, and a good one narrows the
interval, because y - q is small and J is large. The expectation F of a curved measure and its derivative are taken
where they are without a judge, so what it is off by does not depend on the judge: taken at q, F of a query with false
alarms far down its list is worse than at p. A judge that tells nothing is left aside, and all is as without it: labels
that a regression has not seen must be likelier with the judge's answers than without (LEAST_GAIN).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from likewise.evaluation.estimates.chances import Bools, Floats, Ints
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.linearised import Corrections, label_corrections
from likewise.evaluation.estimates.prediction import SHIFTS, PairModel, Predictions, fit_predictions
from likewise.evaluation.micro_auc import micro_auc

LEAST_GAIN = 2.0  # standard errors by which held-out labels must be likelier with a judge
CUTS = 101  # of a judge's answers, tried between similar and not similar


@dataclass(frozen=True)
class JudgeAnswers:
    """A judge's answers about drawn pairs and pairs of its own draw: sorted by query and unit, each pair once.

    `probability` is that of its own draw, 0 for pairs that were only drawn for people; `answer` is any number that is
    higher for pairs that look more alike, NaN where the judge gave none.
    """

    query: Ints
    unit: Ints
    probability: Floats
    answer: Floats


@dataclass(frozen=True)
class AnsweredPairs:
    """Pairs about which more is known than the encoders predict: the chances each has (at each of SHIFTS, as the model
    gives them), what they correct, and the model that predicts all others."""

    query: Ints
    unit: Ints
    chances: Sequence[Floats]
    corrections: Corrections
    model: PairModel
    without_judge: Corrections | None = None
    agreement: "JudgeAgreement | None" = None


@dataclass(frozen=True)
class JudgeAgreement:
    """How far a judge and people agree on labelled pairs: ROC-AUC of its answers; and where they are cut into similar
    and not similar (the cut from other pairs), the share that equals the labels and Cohen's kappa."""

    n_pairs: int
    n_asked: int
    roc_auc: float
    share: float
    kappa: float
    tells_more: bool = True
    """Whether it is used: labels are likelier with its answers."""


def labelled_pairs(drawn: LabelledDraw, predictions: Predictions) -> AnsweredPairs:
    """People's labels alone."""
    return AnsweredPairs(
        drawn.query,
        drawn.unit,
        [drawn.label] * len(SHIFTS),
        label_corrections(drawn, predictions.unseen),
        predictions.model,
    )


def judged_and_labelled(
    judge: JudgeAnswers, features: Floats, drawn: LabelledDraw, predictions: Predictions, seed: int
) -> AnsweredPairs:
    """Labels and a judge's answers; `features` are those of the judge's pairs, labelled ones among them."""
    place = find_pairs(judge, drawn)
    agreement = _agreement(judge.answer[place], drawn.label, len(judge.query), seed)
    answer = np.where(np.isnan(judge.answer), np.nanmean(judge.answer), judge.answer)
    told = np.column_stack([features, answer])
    calibrated = fit_predictions(told[place], drawn.query, drawn.label, drawn.weight, drawn.n_queries, seed)
    if not tells_more(drawn, calibrated.unseen, predictions.unseen):
        alone = labelled_pairs(drawn, predictions)
        return replace(alone, without_judge=alone.corrections, agreement=replace(agreement, tells_more=False))
    outside = np.ones(len(judge.query), dtype=np.bool_)
    outside[place] = False
    inverse = np.divide(1.0, judge.probability, out=np.zeros(len(outside)), where=outside & (judge.probability > 0.0))
    chances = predictions.model.chances_of_pairs(features, judge.query)
    learned = np.mean(calibrated.model.chances_of_pairs(told, judge.query), axis=0) - np.mean(chances, axis=0)
    missed, seen = inverse * learned, inverse * np.maximum(inverse - 1.0, 0.0) * learned**2
    predicted, noise = seen.copy(), np.zeros(len(outside))
    labels = label_corrections(drawn, calibrated.unseen)
    missed[place], seen[place], noise[place] = labels.missed, labels.seen_variance, labels.seen_noise
    predicted[place] = _dispersion(drawn, calibrated.unseen) * labels.predicted_variance
    for chance in chances:
        chance[place] = drawn.label
    return AnsweredPairs(
        judge.query,
        judge.unit,
        chances,
        Corrections(judge.query, missed, seen, predicted, noise, drawn.n_queries),
        predictions.model,
        _scattered(label_corrections(drawn, predictions.unseen), place, len(outside)),
        agreement,
    )


def tells_more(drawn: LabelledDraw, with_judge: Floats, without: Floats) -> bool:
    """Whether labels that a model has not seen are likelier with the judge's answers, by more than chance may do.

    A judge that tells nothing would still let the fit follow its noise; without this, and by queries, as all errors.
    """
    gain = _log_likelihood(drawn.label, with_judge) - _log_likelihood(drawn.label, without)
    of_query = np.bincount(drawn.query, gain, drawn.n_queries)
    return float(of_query.sum()) > LEAST_GAIN * sqrt(float((of_query**2).sum()))


def _log_likelihood(label: Floats, chance: Floats) -> Floats:
    return np.asarray(np.log(np.where(label == 1.0, chance, 1.0 - chance)))


def _dispersion(drawn: LabelledDraw, predicted: Floats) -> float:
    """How far labels are from predictions, over what coins of those chances would be; at most 1.

    A regression that is told nearly everything by a good judge still gives every pair some chance of both answers.
    """
    expected = float((drawn.weight * predicted * (1.0 - predicted)).sum())
    seen = float((drawn.weight * (drawn.label - predicted) ** 2).sum())
    return min(1.0, sqrt(seen / max(expected, 1e-12)))  # its root: what was seen is uncertain itself


def find_pairs(judge: JudgeAnswers, drawn: LabelledDraw) -> Ints:
    """Where each drawn pair stands among the judge's."""
    width = int(max(judge.unit.max(), drawn.unit.max())) + 1
    cells, wanted = judge.query * width + judge.unit, drawn.query * width + drawn.unit
    return np.searchsorted(cells, wanted).astype(np.int64)


def _scattered(corrections: Corrections, place: Ints, n_rows: int) -> Corrections:
    def spread(values: Floats) -> Floats:
        return np.bincount(place, values, n_rows).astype(np.float64)

    query = np.zeros(n_rows, dtype=np.int64)
    query[place] = corrections.query
    return Corrections(
        query,
        spread(corrections.missed),
        spread(corrections.seen_variance),
        spread(corrections.predicted_variance),
        spread(corrections.seen_noise),
        corrections.n_queries,
        corrections.heavy_ratio,
    )


def _agreement(answer: Floats, label: Floats, n_asked: int, seed: int) -> JudgeAgreement:
    given = ~np.isnan(answer)
    answer, similar = answer[given], label[given] == 1.0
    said = _calls(answer, similar, seed)
    share = float((said == similar).mean())
    by_chance = float(said.mean() * similar.mean() + (1.0 - said.mean()) * (1.0 - similar.mean()))
    kappa = (share - by_chance) / (1.0 - by_chance) if by_chance < 1.0 else 0.0
    return JudgeAgreement(len(similar), n_asked, micro_auc(answer, similar.astype(np.int64))[0], share, kappa)


def _calls(answer: Floats, similar: Bools, seed: int) -> Bools:
    """Which pairs the judge calls similar: from the answer on that agrees most often in the other half of the pairs.

    Its own answers alone: the encoders' features, which q has too, would agree for it.
    """
    half = np.random.default_rng(seed).permutation(len(answer)) % 2 == 0
    cuts = np.append(np.unique(np.quantile(answer, np.linspace(0.0, 1.0, CUTS), method="nearest")), np.inf)
    said = np.zeros(len(answer), dtype=np.bool_)
    for mine in (half, ~half):
        right = ((answer[~mine][:, None] >= cuts) == similar[~mine][:, None]).sum(axis=0)
        said[mine] = answer[mine] >= cuts[int(np.argmax(right))]
    return said
