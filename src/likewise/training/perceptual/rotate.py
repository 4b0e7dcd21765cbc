"""Hold out every fold once: choose and learn without it, then score it. Nothing of a fold is known to its model."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from likewise.evaluation.auc import Floats, Ints
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.calibration import Calibration, calibrate
from likewise.training.perceptual.features import Pictures
from likewise.training.perceptual.folds import Unseen, check_fold, folds
from likewise.training.perceptual.learn import scores_of
from likewise.training.perceptual.ways import Taught, Tell, Way
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
    way: Way,
    pictures: Pictures,
    answers: Answers,
    unseen: Unseen,
    n_folds: int,
    seed: int,
    tell: Tell | None = None,
) -> Rotated:
    """Scores of all answers by models that have not seen them."""
    rows, numbers, scores, probabilities = [], [], [], []
    for number, fold in enumerate(folds(answers, unseen, n_folds, seed)):
        check_fold(answers, fold, unseen)
        train, test = answers.only(fold.train), answers.only(fold.test)
        inside = partial(_tell, tell, f"unseen {unseen}", number, n_folds) if tell else None
        taught = way.teach(train, unseen, seed=seed, folds_seed=seed_for(seed, unseen, number), tell=inside)
        found = scores_of(taught.vectors, pictures, test)
        rows.append(fold.test)
        numbers.append(np.full(len(fold.test), number))
        scores.append(found)
        probabilities.append(calibration_of(taught, train).probability(found))
    if tell:
        tell(f"unseen {unseen}", n_folds * PARTS, n_folds * PARTS)
    return Rotated(*(np.concatenate(each) for each in (rows, numbers, scores, probabilities)))


def calibration_of(taught: Taught, answers: Answers) -> Calibration:
    """From the scores that its training answers got when they were held out."""
    known = ~np.isnan(taught.held_out)
    return calibrate(taught.held_out[known], answers.yes[known], answers.no[known], through_zero=answers.are_triplets)


PARTS = 100  # of a fold, for the display


def _tell(tell: Tell, what: str, number: int, n_folds: int, _: str, done: int, total: int) -> None:
    tell(what, number * PARTS + done * PARTS // max(1, total), n_folds * PARTS)
