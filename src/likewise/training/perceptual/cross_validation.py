"""Hold out every fold once: choose and learn without it, then score it. Nothing of a fold is known to its model."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from likewise.evaluation.auc import Floats, Ints
from likewise.progress import ProgressCallback
from likewise.training.perceptual.adapter import answer_scores
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.calibration import Calibration, fit_calibration
from likewise.training.perceptual.features import ImageVectors
from likewise.training.perceptual.folds import Unseen, check_fold, make_folds
from likewise.training.perceptual.learner import AnswerLearner, LearnedModel
from likewise.training.seeds import derive_seed


@dataclass(frozen=True)
class CrossValidatedScores:
    """Held-out answers, one entry for every fold that held an answer out."""

    rows: Ints
    fold: Ints
    scores: Floats
    probability: Floats
    """By a calibration that did not see the fold either."""


def cross_validate(
    learner: AnswerLearner,
    image_vectors: ImageVectors,
    answers: Answers,
    unseen: Unseen,
    n_folds: int,
    seed: int,
    on_progress: ProgressCallback | None = None,
) -> CrossValidatedScores:
    """Scores of all answers by models that have not seen them."""
    rows, numbers, scores, probabilities = [], [], [], []
    for number, fold in enumerate(make_folds(answers, unseen, n_folds, seed)):
        check_fold(answers, fold, unseen)
        train, test = answers.subset(fold.train), answers.subset(fold.test)
        inside = partial(_report_progress, on_progress, f"unseen {unseen}", number, n_folds) if on_progress else None
        model = learner.fit(train, unseen, seed=seed, folds_seed=derive_seed(seed, unseen, number), on_progress=inside)
        found = answer_scores(model.vectors, image_vectors, test)
        rows.append(fold.test)
        numbers.append(np.full(len(fold.test), number))
        scores.append(found)
        probabilities.append(calibrate_model(model, train).probability(found))
    if on_progress:
        on_progress(f"unseen {unseen}", n_folds * PARTS_PER_FOLD, n_folds * PARTS_PER_FOLD)
    return CrossValidatedScores(*(np.concatenate(each) for each in (rows, numbers, scores, probabilities)))


def calibrate_model(model: LearnedModel, answers: Answers) -> Calibration:
    """From the scores that its training answers got when they were held out."""
    known = ~np.isnan(model.held_out)
    return fit_calibration(
        model.held_out[known], answers.yes[known], answers.no[known], through_zero=answers.are_triplets
    )


PARTS_PER_FOLD = 100  # of a fold, for the display


def _report_progress(
    on_progress: ProgressCallback, what: str, number: int, n_folds: int, _: str, done: int, total: int
) -> None:
    on_progress(what, number * PARTS_PER_FOLD + done * PARTS_PER_FOLD // max(1, total), n_folds * PARTS_PER_FOLD)
