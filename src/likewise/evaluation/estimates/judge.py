"""What a machine judge adds to the estimates: a second phase of the sample, never a label.

People label the drawn pairs D. A judge answers those and the pairs J of a larger draw of its own, with inclusion
probabilities of its own. Two regressions predict: p from the encoders alone, for every pair; q with the judge's answer
as a further feature, for the pairs that it has answered. So the judge is calibrated on people's labels, and

    sum over all pairs of p + sum over J of (q - p) / pi_J + sum over D of (y - q) / pi_D

is unbiased whatever the judge is worth: a biased one is corrected by the labels, a random one leaves the interval as it
was, and a good one narrows it, because y - q is small and J is large. The expectation F is taken at the labels and at
p; taken at q, measures that are ratios inside a query came out up to two points too low. So the derivative counts

    [in J] (q - p) / pi_J + [in D] ((1 / pi_D - 1) (y - q) - (q - p)).
"""

from dataclasses import dataclass

import numpy as np

from likewise.evaluation.estimates.chances import Bools, Floats, Ints
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.linearised import Corrections, label_corrections
from likewise.evaluation.estimates.prediction import Predictions, fit_predictions
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
    """Pairs about which more is known than the encoders predict: the chance each has, and what they correct."""

    query: Ints
    unit: Ints
    chance: Floats
    corrections: Corrections
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
    return AnsweredPairs(drawn.query, drawn.unit, drawn.label, label_corrections(drawn, predictions.unseen))


def judged_and_labelled(
    judge: JudgeAnswers, features: Floats, drawn: LabelledDraw, predictions: Predictions, seed: int
) -> AnsweredPairs:
    """Labels and a judge's answers; `features` are those of the judge's pairs, labelled ones among them."""
    place = find_pairs(judge, drawn)
    answer = np.where(np.isnan(judge.answer), np.nanmean(judge.answer), judge.answer)
    told = np.column_stack([features, answer])
    calibrated = fit_predictions(told[place], drawn.query, drawn.label, drawn.n_queries, seed)
    alone = predictions.model.chance_of_pairs(features, judge.query)
    with_judge = calibrated.model.chance_of_pairs(told, judge.query)
    alone[place], with_judge[place] = predictions.unseen, calibrated.unseen
    own = judge.probability > 0.0
    inverse = np.divide(1.0, judge.probability, out=np.zeros(len(own)), where=own)
    learned = with_judge - alone
    missed, spread = inverse * learned, inverse * (inverse - 1.0) * own * learned**2
    seen, predicted = spread.copy(), spread.copy()
    labels = label_corrections(drawn, calibrated.unseen)
    missed[place] += labels.missed - learned[place]
    seen[place] += labels.seen_variance
    predicted[place] += labels.predicted_variance
    chance = alone.copy()
    chance[place] = drawn.label
    return AnsweredPairs(
        judge.query,
        judge.unit,
        chance,
        Corrections(judge.query, missed, seen, predicted, drawn.n_queries),
        _scattered(label_corrections(drawn, predictions.unseen), place, len(own)),
        _agreement(judge.answer[place], drawn.label, len(own), seed),
    )


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
