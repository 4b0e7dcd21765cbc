"""Hold out every fold once: choose and learn without it, then score it. Nothing of a fold is known to its model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from likewise.evaluation.auc import Floats, Ints
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.calibration import calibrate
from likewise.training.perceptual.features import Pictures
from likewise.training.perceptual.folds import Unseen, check_fold, folds
from likewise.training.perceptual.learn import Tell, choose, learn, scores_of
from likewise.training.seeds import seed_for


@dataclass(frozen=True)
class Rotated:
    """Held-out answers, one entry for every fold that held an answer out."""

    rows: Ints
    fold: Ints
    scores: Floats
    probability: Floats
    """By a calibration that did not see the fold either."""


def rotate(
    pictures: Pictures,
    answers: Answers,
    unseen: Unseen,
    n_folds: int,
    hidden: Sequence[int],
    seed: int,
    tell: Tell | None = None,
) -> Rotated:
    """Scores of all answers by models that have not seen them."""
    rows, numbers, scores, probabilities = [], [], [], []
    for number, fold in enumerate(folds(answers, unseen, n_folds, seed)):
        if tell:
            tell(f"unseen {unseen}", number, n_folds)
        check_fold(answers, fold, unseen)
        train, test = answers.only(fold.train), answers.only(fold.test)
        chosen = choose(pictures, train, unseen, seed=seed_for(seed, unseen, number), hidden=hidden)
        learned = learn(pictures, train, chosen.choice, seed)
        known = ~np.isnan(chosen.scores)
        through_zero = answers.are_triplets
        curve = calibrate(chosen.scores[known], train.yes[known], train.no[known], through_zero=through_zero)
        found = scores_of(learned.vectors(pictures.vectors), pictures, test)
        rows.append(fold.test)
        numbers.append(np.full(len(fold.test), number))
        scores.append(found)
        probabilities.append(curve.probability(found))
    if tell:
        tell(f"unseen {unseen}", n_folds, n_folds)
    return Rotated(*(np.concatenate(each) for each in (rows, numbers, scores, probabilities)))
