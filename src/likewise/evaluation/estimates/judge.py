"""What a machine judge adds to the estimates: a second phase of the sample, never a label.

People label the drawn pairs D. A judge answers those and the pairs J of a larger draw of its own, with inclusion
probabilities of its own. A regression q on people's labels has the judge's answer as a further feature, for the pairs
that it has answered: so the judge is calibrated on people. A second one, p, carries what q says to the pairs that the
judge has not seen, from the encoders alone; each is told only answers other than the pair's own. Then

    sum over all pairs of p + sum over J of (q - p) / pi_J + sum over D of (y - q) / pi_D

is unbiased whatever the judge is worth: a biased one is corrected by the labels, a random one leaves the interval as it
was, and a good one narrows it, because y - q is small and J is large. The expectation F of a curved measure is taken at
the labels, at q where the judge has answered, and at p elsewhere, so that its derivative counts

    (1 / pi_D - 1) (y - q) [in D] + ([in J] / pi_J - 1) (q - p)

for every pair that was answered.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from likewise.evaluation.estimates.chances import Bools, Floats, Ints
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.linearised import Corrections, label_corrections
from likewise.evaluation.estimates.prediction import PairModel, Predictions, fit_predictions
from likewise.evaluation.micro_auc import micro_auc

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
    """Pairs about which more is known than the encoders predict: the chance each has, what they correct, and the model
    that predicts all others."""

    query: Ints
    unit: Ints
    chance: Floats
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


def labelled_pairs(drawn: LabelledDraw, predictions: Predictions) -> AnsweredPairs:
    """People's labels alone."""
    return AnsweredPairs(
        drawn.query, drawn.unit, drawn.label, label_corrections(drawn, predictions.unseen), predictions.model
    )


def judged_and_labelled(
    judge: JudgeAnswers, features: Floats, drawn: LabelledDraw, predictions: Predictions, seed: int
) -> AnsweredPairs:
    """Labels and a judge's answers; `features` are those of the judge's pairs, labelled ones among them."""
    place = find_pairs(judge, drawn)
    answer = np.where(np.isnan(judge.answer), np.nanmean(judge.answer), judge.answer)
    told = np.column_stack([features, answer])
    calibrated = fit_predictions(told[place], drawn.query, drawn.label, drawn.weight, drawn.n_queries, seed)
    with_judge = calibrated.model.chance_of_pairs(told, judge.query)
    with_judge[place] = calibrated.unseen
    own = judge.probability > 0.0
    inverse = np.divide(1.0, judge.probability, out=np.zeros(len(own)), where=own)
    carried = fit_predictions(features, judge.query, with_judge, np.maximum(inverse, 1.0), drawn.n_queries, seed)
    alone = predictions.model.chance_of_pairs(features, judge.query)
    known = 1.0 - float((with_judge * (1.0 - with_judge)).sum() / (alone * (1.0 - alone)).sum())
    model = carried.model.with_errors_of(predictions.model, 1.0 - min(max(known, 0.0), 1.0))
    learned = with_judge - carried.unseen
    missed, spread = (inverse - 1.0) * learned, inverse * (inverse - 1.0) * own * learned**2
    seen, predicted = spread.copy(), spread.copy()
    labels = label_corrections(drawn, calibrated.unseen)
    missed[place] += labels.missed
    seen[place] += labels.seen_variance
    noise = np.zeros(len(own))
    noise[place] = labels.seen_noise
    predicted[place] += _dispersion(drawn, calibrated.unseen) * labels.predicted_variance
    chance = with_judge.copy()
    chance[place] = drawn.label
    return AnsweredPairs(
        judge.query,
        judge.unit,
        chance,
        Corrections(judge.query, missed, seen, predicted, noise, drawn.n_queries),
        model,
        _scattered(label_corrections(drawn, predictions.unseen), place, len(own)),
        _agreement(judge.answer[place], drawn.label, len(own), seed),
    )


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
