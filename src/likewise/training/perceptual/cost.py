"""How long learning an adapter will take here, said before it starts.

Nearly all the time goes into evaluating the likelihood, so one evaluation on these answers is timed; how many there
will be is known up to the number of steps each setting takes.
"""

import time

from likewise.training.perceptual.adapter import INNER_FOLDS, SHRINKAGES
from likewise.training.perceptual.adapter_learner import AdapterLearner
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.features import fit_feature_map
from likewise.training.perceptual.metric import PenalisedLikelihood

EVALUATIONS_PER_SETTING = 40
"""Of one shrinkage in one fold: 40 on 25,801 crowd answers on materials, 24 on 30,000 simulated ones."""
TIMED_ROUNDS = 3


def expected_seconds(learner: AdapterLearner, answers: Answers, n_models: int) -> float:
    """Seconds until `n_models` adapters are chosen and learned on all cores."""
    image_vectors = learner.image_vectors
    features = fit_feature_map(image_vectors, answers.named_stimuli)
    coordinates = image_vectors.stimulus_means(features(image_vectors.concatenated), len(answers.stimuli))
    likelihood = PenalisedLikelihood(coordinates, answers)
    at = likelihood.parameters(None)
    rounds = []
    for _ in range(TIMED_ROUNDS):
        started = time.perf_counter()
        likelihood(at, SHRINKAGES[0])
        rounds.append(time.perf_counter() - started)
    share_of_answers = (INNER_FOLDS - 1) / INNER_FOLDS
    n_evaluations = len(SHRINKAGES) * (len(learner.hidden) * INNER_FOLDS + 1) * EVALUATIONS_PER_SETTING
    return n_models * n_evaluations * share_of_answers * min(rounds) / min(learner.n_threads, n_models)
