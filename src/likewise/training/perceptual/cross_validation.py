"""Hold out every fold once: choose and learn without it, then score it. Nothing of a fold is known to its model.

Every fold of everything that is held out, and the model of all answers that is kept in the end, is learned on its own,
so they are learned side by side on as many cores as there are.
"""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np

from likewise.errors import LikewiseError
from likewise.evaluation.auc import Floats, Ints
from likewise.machine import one_blas_thread
from likewise.progress import ProgressCallback
from likewise.training.perceptual.adapter import answer_scores
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.calibration import Calibration, fit_calibration
from likewise.training.perceptual.features import ImageVectors
from likewise.training.perceptual.folds import AnswerFold, Unseen, check_fold, make_folds
from likewise.training.perceptual.learner import AnswerLearner, LearnedModel
from likewise.training.seeds import derive_seed

PARTS_PER_MODEL = 100  # of one model, for the display


@dataclass(frozen=True)
class CrossValidatedScores:
    """Held-out answers, one entry for every fold that held an answer out."""

    rows: Ints
    fold: Ints
    scores: Floats
    probability: Floats
    """By a calibration that did not see the fold either."""


@dataclass(frozen=True)
class LearnedModels:
    """What cross-validation says for everything that was held out, and the model of all answers."""

    held_out: list[CrossValidatedScores]
    model: LearnedModel


@dataclass(frozen=True)
class _Fold:
    unseen: Unseen
    number: int
    fold: AnswerFold


def learn_and_cross_validate(
    learner: AnswerLearner,
    image_vectors: ImageVectors,
    answers: Answers,
    kinds: Sequence[Unseen],
    n_folds: int,
    seed: int,
    on_progress: ProgressCallback | None = None,
) -> LearnedModels:
    """Scores of all answers by models that have not seen them, for each kind, and a model that has seen all.

    The first kind decides how that last model is chosen.
    """
    folds = [
        _Fold(kind, number, fold)
        for kind in kinds
        for number, fold in enumerate(make_folds(answers, kind, n_folds, seed))
    ]
    progress = _SharedProgress(on_progress, len(folds) + 1)
    with _learning_threads(learner.n_threads, progress) as pool:
        last = pool.submit(
            learner.fit, answers, kinds[0], seed=seed, folds_seed=seed, on_progress=partial(progress.report, 0)
        )

        def score(task: tuple[int, _Fold]) -> CrossValidatedScores:
            place, fold = task
            return _score_fold(learner, image_vectors, answers, fold, seed, partial(progress.report, place))

        scored = list(pool.map(score, enumerate(folds, start=1)))
        model = last.result()
    return LearnedModels(
        [_joined([each for fold, each in zip(folds, scored, strict=True) if fold.unseen == kind]) for kind in kinds],
        model,
    )


def _score_fold(
    learner: AnswerLearner,
    image_vectors: ImageVectors,
    answers: Answers,
    task: _Fold,
    seed: int,
    on_progress: ProgressCallback,
) -> CrossValidatedScores:
    check_fold(answers, task.fold, task.unseen)
    train, test = answers.subset(task.fold.train), answers.subset(task.fold.test)
    folds_seed = derive_seed(seed, task.unseen, task.number)
    model = learner.fit(train, task.unseen, seed=seed, folds_seed=folds_seed, on_progress=on_progress)
    found = answer_scores(model.vectors, image_vectors, test)
    probability = calibrate_model(model, train).probability(found)
    return CrossValidatedScores(task.fold.test, np.full(len(test), task.number), found, probability)


def _joined(folds: Sequence[CrossValidatedScores]) -> CrossValidatedScores:
    return CrossValidatedScores(
        np.concatenate([each.rows for each in folds]),
        np.concatenate([each.fold for each in folds]),
        np.concatenate([each.scores for each in folds]),
        np.concatenate([each.probability for each in folds]),
    )


def calibrate_model(model: LearnedModel, answers: Answers) -> Calibration:
    """From the scores that its training answers got when they were held out."""
    known = ~np.isnan(model.held_out)
    return fit_calibration(
        model.held_out[known], answers.yes[known], answers.no[known], through_zero=answers.are_triplets
    )


@contextmanager
def _learning_threads(n_threads: int, progress: "_SharedProgress") -> Iterator[ThreadPoolExecutor]:
    """Threads with one BLAS thread each; whoever is interrupted ends the others, too."""
    import scipy.linalg  # noqa: F401  # brings a BLAS of its own, which the limit knows only once it is here

    with (
        one_blas_thread() if n_threads > 1 else nullcontext(),
        ThreadPoolExecutor(n_threads) as pool,
    ):
        try:
            yield pool
        except BaseException:
            progress.stopped = True
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _SharedProgress:
    """One display of several models that are learned at the same time."""

    def __init__(self, on_progress: ProgressCallback | None, n_models: int) -> None:
        self.on_progress = on_progress
        self.done = [0] * n_models
        self.stopped = False
        self._lock = threading.Lock()

    def report(self, model: int, _: str, done: int, total: int) -> None:
        if self.stopped:
            raise LikewiseError("learning was interrupted.")
        with self._lock:
            self.done[model] = done * PARTS_PER_MODEL // max(1, total)
            if self.on_progress:
                self.on_progress("learning", sum(self.done), len(self.done) * PARTS_PER_MODEL)
