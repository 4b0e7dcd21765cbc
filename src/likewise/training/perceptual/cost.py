"""How long learning an adapter will take here, said before it starts.

Nearly all the time goes into evaluating the likelihood, so one evaluation on these answers is timed; how many there
will be is known up to the number of steps each setting takes.
"""

import time
from collections.abc import Callable
from functools import partial

from likewise.machine import one_blas_thread
from likewise.training.perceptual.adapter import INNER_FOLDS, SHRINKAGES, choosing_rows, n_choosing_folds
from likewise.training.perceptual.adapter_learner import AdapterLearner
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.features import FeatureMap, fit_feature_map
from likewise.training.perceptual.metric import PenalisedLikelihood

EVALUATIONS_PER_SETTING = 46
"""Of one shrinkage in one fold: 46 on 30,000 simulated answers about 85 items, 40 on 4,000 about 60."""
SETTINGS_TRIED = 10
"""Of the strengths of shrinkage: the weakest are not reached where it only gets worse before."""
TIMED_ROUNDS = 3


def expected_seconds(learner: AdapterLearner, answers: Answers, n_models: int) -> float:
    """Seconds until `n_models` adapters are chosen and learned on all cores."""
    image_vectors, stimuli, hidden = learner.image_vectors, answers.named_stimuli, max(learner.hidden)
    found: list[FeatureMap] = []
    mapping = _seconds(lambda: found.append(fit_feature_map(image_vectors, stimuli, hidden=hidden)), rounds=1)
    coordinates = image_vectors.stimulus_means(found[0](image_vectors.concatenated), len(answers.stimuli))
    rows = choosing_rows(answers, seed=0)
    sample, whole = (PenalisedLikelihood(coordinates, each) for each in (answers.subset(rows), answers))
    with one_blas_thread():  # as it will be learned
        choosing, learning = (
            _seconds(partial(each, each.parameters(None), SHRINKAGES[0]), TIMED_ROUNDS) for each in (sample, whole)
        )
    n_fits = len(learner.hidden) * n_choosing_folds(answers)
    share_of_answers = (INNER_FOLDS - 1) / INNER_FOLDS
    one_path = SETTINGS_TRIED * EVALUATIONS_PER_SETTING
    one_model = n_fits * (mapping + one_path * choosing * share_of_answers) + one_path * choosing
    if len(rows) < len(answers):
        one_model += EVALUATIONS_PER_SETTING * learning
    return n_models * one_model / min(learner.n_threads, n_models)


def _seconds(work: Callable[[], object], rounds: int) -> float:
    """Of the fastest of some rounds."""
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)
