"""Learning from people: a known metric is found, nothing leaks, probabilities hold, the same seed gives the same."""

import dataclasses

import numpy as np
import polars as pl
import pytest

from likewise.encoders.families.run_files import apply_layers
from likewise.evaluation.auc import Floats
from likewise.training.perceptual import adapter, metric
from likewise.training.perceptual.adapter import AdapterParams, answer_scores, fit_adapter, select_adapter
from likewise.training.perceptual.adapter_learner import AdapterLearner
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.calibration import calibration_curve, fit_calibration
from likewise.training.perceptual.comparison import (
    COMPARISON_SCHEMA,
    HeldOutScores,
    comparison_table,
    learning_verdict,
)
from likewise.training.perceptual.cross_validation import CrossValidatedScores, learn_and_cross_validate
from likewise.training.perceptual.features import ImageVectors, fit_feature_map
from likewise.training.perceptual.folds import UNSEEN_KINDS, AnswerFold, LeakageError, Unseen, check_fold, make_folds
from likewise.training.perceptual.metric import PenalisedLikelihood, fit_metric

from .toy_answers import toy_pairs, toy_stimuli, toy_triplets


def cross_validated(image_vectors: ImageVectors, answers: Answers, unseen: Unseen) -> CrossValidatedScores:
    learner = AdapterLearner(image_vectors, (0,))
    return learn_and_cross_validate(learner, image_vectors, answers, [unseen], 3, seed=0).held_out[0]


def test_the_gradient_is_that_of_the_loss() -> None:
    """Fitting from a far-off start must reach the same metric: only an exact gradient gets there."""
    image_vectors, seen = toy_stimuli(30)
    answers = toy_triplets(seen, 400)
    features = fit_feature_map(image_vectors, answers.named_stimuli)
    coordinates = image_vectors.stimulus_means(features(image_vectors.concatenated), 30)
    likelihood = PenalisedLikelihood(coordinates, answers)
    found = fit_metric(likelihood, 1e-3)
    away = found.change + 0.3 * np.random.default_rng(0).normal(size=found.change.shape)
    again = fit_metric(likelihood, 1e-3, start=dataclasses.replace(found, change=away))
    for reached_metric in (found, again):
        assert reached_metric.negative_log_likelihood < 0.95 * fit_metric(likelihood, 1e3).negative_log_likelihood
    wanted, reached = (each.negative_log_likelihood + 1e-3 * float((each.change**2).sum()) for each in (found, again))
    assert reached == pytest.approx(wanted, rel=1e-6)
    for reached_metric in (found, again):  # the minimum, not where the solver had enough
        assert np.abs(likelihood(likelihood.parameters(reached_metric), 1e-3)[1]).max() < 5e-6


@pytest.mark.parametrize("unseen", UNSEEN_KINDS)
def test_an_adapter_beats_its_encoder_where_people_look_at_part_of_it(unseen: Unseen) -> None:
    image_vectors, seen = toy_stimuli(60)
    answers = toy_triplets(seen, 1500)
    held_out = cross_validated(image_vectors, answers, unseen)
    plain = answer_scores(image_vectors.vectors[0], image_vectors, answers)[held_out.rows]
    scores = {"learned": held_out.scores, "toy": plain}
    table = comparison_table(unseen, HeldOutScores(answers.subset(held_out.rows), held_out.fold, scores), "learned")
    learned, base = table.filter(table["measure"] == "majority").to_dicts()
    assert (learned["encoder"], base["encoder"]) == ("learned", "toy")
    assert base["gain"] == pytest.approx(learned["value"] - base["value"])
    assert base["gain_low"] > 0.05 and base["p_holm"] < 0.01
    truth = scores_of_truth(seen, answers)[held_out.rows]
    best = np.mean((truth > 0) == (answers.label[held_out.rows] == 1))
    assert learned["value"] > best - 0.04  # what is left is people's own noise


def scores_of_truth(seen: Floats, answers: Answers) -> Floats:
    far, close = (((seen[answers.query] - seen[other]) ** 2).sum(1) for other in (answers.far, answers.close))
    return np.asarray(far - close)


def test_pairs_teach_too_and_a_hidden_layer_is_the_same_function_in_its_layers() -> None:
    image_vectors, seen = toy_stimuli(80, views=1)
    answers = toy_pairs(seen, 40, 20)
    held_out = cross_validated(image_vectors, answers, "queries")
    test = answers.subset(held_out.rows)
    scores = {"learned": held_out.scores, "toy": answer_scores(image_vectors.vectors[0], image_vectors, test)}
    table = comparison_table("queries", HeldOutScores(test, held_out.fold, scores), "learned")
    learned, base = table.filter(table["measure"] == "ROC_AUC").to_dicts()
    assert base["gain_low"] > 0.03
    assert learned["n_queries"] <= 40 and learned["n_answers"] == 800
    holds = calibration_curve(held_out.probability, test.yes, test.no)
    assert holds.n_votes == 2400 and holds.expected_error < 0.06
    model = fit_adapter(image_vectors, answers, AdapterParams(1e-2, 32), seed=0)
    by_layers = apply_layers(image_vectors.vectors, model.layers())
    assert np.abs(by_layers - model.vectors(image_vectors.concatenated)).max() < 1e-4


def test_of_very_many_answers_a_sample_chooses_and_all_are_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    image_vectors, seen = toy_stimuli(60)
    answers = toy_triplets(seen, 3000)
    whole = select_adapter(image_vectors, answers, "queries", seed=0, hidden=(0,))
    monkeypatch.setattr(adapter, "MAX_CHOOSING_ANSWERS", 1000)
    sampled = select_adapter(image_vectors, answers, "queries", seed=0, hidden=(0,))
    assert not np.isnan(whole.scores).any()
    assert 0 < (~np.isnan(sampled.scores)).sum() < 1000  # two of four folds of the sample were held out
    tried = sampled.search_table.sort("negative_log_likelihood")["shrinkage"][0]
    assert sampled.choice.shrinkage == pytest.approx(tried / 3)  # the same prior for three times as many votes
    fits = [fit_adapter(image_vectors, answers, each.choice, seed=0) for each in (whole, sampled)]
    losses = [fitted.metric.negative_log_likelihood for fitted in fits]
    assert losses[1] == pytest.approx(losses[0], abs=0.01)


def test_few_answers_about_many_stimuli_give_the_loss_and_gradient_of_all_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image_vectors, seen = toy_stimuli(50)
    answers = toy_triplets(seen, 60)
    coordinates = image_vectors.stimulus_means(image_vectors.concatenated, 50)
    found = []
    for ratio in (0, 10**6):  # pair by pair, and all at once
        monkeypatch.setattr(metric, "MAX_DENSE_RATIO", ratio)
        likelihood = PenalisedLikelihood(coordinates, answers)
        at = likelihood.parameters(None) + 0.1 * np.random.default_rng(0).normal(size=len(likelihood.parameters(None)))
        found.append(likelihood(at, 1e-3))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-7)  # pair by pair in float32
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-7)


def test_the_same_seed_gives_the_same_weights() -> None:
    image_vectors, seen = toy_stimuli(25)
    answers = toy_triplets(seen, 200)
    runs = []
    for _ in range(2):
        chosen = select_adapter(image_vectors, answers, "queries", seed=3, hidden=(0, 16), n_folds=2)
        runs.append(fit_adapter(image_vectors, answers, chosen.choice, seed=3).layers())
    for one, other in zip(*runs, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("unseen", UNSEEN_KINDS)
def test_folds_hold_out_what_they_say_and_a_leak_is_caught(unseen: Unseen) -> None:
    _, seen = toy_stimuli(40)
    answers = toy_triplets(seen, 300)
    made_folds = make_folds(answers, unseen, 4, seed=0)
    held_out = np.concatenate([fold.test for fold in made_folds])
    assert set(held_out) == set(range(300))
    for fold in made_folds:
        if unseen == "queries":
            assert not set(answers.query[fold.train]) & set(answers.query[fold.test])
        if unseen == "items":
            known = set(answers.named_items[fold.train].ravel())
            assert all(set(named) - known for named in answers.named_items[fold.test])
    fold = made_folds[0]
    leaky = AnswerFold(np.append(fold.train, fold.test[0]), fold.test)
    with pytest.raises(LeakageError, match=f"of the {unseen} that should be unseen"):
        check_fold(answers, leaky, unseen)


def test_calibration_finds_a_known_probability_and_reliability_sees_a_wrong_one() -> None:
    rng = np.random.default_rng(0)
    scores = rng.uniform(-1.0, 1.0, 40_000)
    truth = 1.0 / (1.0 + np.exp(-(3.0 * scores - 0.5)))
    yes = rng.binomial(1, truth).astype(np.float64)
    curve = fit_calibration(scores, yes, 1.0 - yes, through_zero=False)
    assert [curve.slope, curve.offset] == pytest.approx([3.0, -0.5], abs=0.1)
    assert np.abs(curve.probability(scores) - truth).max() < 0.02
    right = calibration_curve(curve.probability(scores), yes, 1.0 - yes)
    assert right.expected_error < 0.02 and right.n_votes == 40_000 and len(right.bins) == 10
    assert right.brier == pytest.approx(float(np.mean(truth * (1 - truth))), abs=0.005)
    wrong = calibration_curve(np.clip(curve.probability(scores) + 0.2, 0.0, 1.0), yes, 1.0 - yes)
    assert wrong.expected_error == pytest.approx(0.2, abs=0.06)
    # named by its majority a triplet seems certain; both ways round it is as it is
    turned = np.where(yes == 1.0, truth, 1.0 - truth)
    one_way, both = (
        calibration_curve(turned, np.ones(40_000), np.zeros(40_000), symmetric=symmetric) for symmetric in (False, True)
    )
    assert one_way.expected_error > 0.1 and both.expected_error < 0.02


def test_features_are_fitted_on_training_things_alone() -> None:
    image_vectors, _ = toy_stimuli(30)
    train = np.arange(20)
    features = fit_feature_map(image_vectors, train, hidden=8)
    changed = image_vectors.vectors[0].copy()
    changed[image_vectors.stimulus >= 20] = np.random.default_rng(5).normal(size=(20, 13)).astype(np.float32)
    other = fit_feature_map(dataclasses.replace(image_vectors, vectors=(changed,)), train, hidden=8)
    assert np.array_equal(features.first.matrix, other.first.matrix)
    assert features.last is not None and other.last is not None
    assert np.array_equal(features.last.matrix, other.last.matrix)


def test_whether_learning_helped_is_said_against_the_best_other_encoder() -> None:
    def results(gain: float, low: float, high: float, p: float) -> pl.DataFrame:
        own = ("queries", "learned", "ROC_AUC", 0.9, 0.8, 0.95, 20, 300, 0.0, 0.0, 0.0, None)
        best = ("queries", "deep", "ROC_AUC", 0.9 - gain, 0.8, 0.95, 20, 300, gain, low, high, p)
        weak = ("queries", "colour", "ROC_AUC", 0.5, 0.4, 0.6, 20, 300, 0.4, 0.3, 0.5, 0.001)
        return pl.DataFrame([own, weak, best], schema=COMPARISON_SCHEMA, orient="row")

    better, unclear = (
        learning_verdict(results(0.05, 0.02, 0.08, 0.01)),
        learning_verdict(results(-0.02, -0.05, 0.01, 0.2)),
    )
    assert better and unclear
    assert (better.best_other, better.helped) == ("deep", True)
    assert (unclear.best_other, unclear.helped) == ("deep", False)
    assert learning_verdict(results(0.05, 0.02, 0.08, 0.01)[:1]) is None
