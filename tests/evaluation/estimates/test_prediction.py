"""The model behind the estimates: weights that undo a selection by more than the features, and only such a one."""

import numpy as np

from likewise.evaluation.estimates.chances import Floats, Ints
from likewise.evaluation.estimates.prediction import fit_predictions, fit_weights

N_QUERIES, N_PAIRS = 30, 12_000


def population(seed: int) -> tuple[Floats, Floats, Ints, Floats]:
    """One feature that is seen, one that is not, the query, and the label."""
    rng = np.random.default_rng(seed)
    seen, hidden = rng.standard_normal((2, N_PAIRS))
    chance = 1.0 / (1.0 + np.exp(2.0 - seen - 1.5 * hidden))
    return seen, hidden, np.arange(N_PAIRS) % N_QUERIES, (rng.random(N_PAIRS) < chance).astype(np.float64)


def drawn_and_fitted(by: str, seed: int) -> tuple[float, float, float]:
    """Draw about 1,500 pairs by one of the features; the truth, and what is predicted with and without weights."""
    seen, hidden, query, label = population(seed)
    rng = np.random.default_rng(seed + 1)
    probability = np.clip(0.08 * np.exp(0.8 * (seen if by == "seen" else hidden)), 0.01, 1.0)
    chosen = rng.random(N_PAIRS) < probability
    means = []
    for weight in (1.0 / probability[chosen], np.ones(int(chosen.sum()))):
        fitted = fit_predictions(seen[chosen, None], query[chosen], label[chosen], weight, N_QUERIES, seed)
        means.append(float(np.mean(fitted.model.chances_of_pairs(seen[~chosen, None], query[~chosen]))))
    return float(label[~chosen].mean()), means[0], means[1]


def test_a_selection_by_what_the_model_does_not_see_is_undone() -> None:
    truth, weighted, plain = np.mean([drawn_and_fitted("hidden", seed) for seed in range(5)], axis=0)
    assert abs(weighted - truth) < 0.03
    assert plain - truth > 0.1  # without weights the pairs left are taken for those that were drawn


def test_a_selection_by_the_features_needs_no_weights() -> None:
    truth, weighted, plain = np.mean([drawn_and_fitted("seen", seed) for seed in range(5)], axis=0)
    assert abs(weighted - truth) < 0.02
    assert abs(plain - truth) < 0.02
    seen = population(0)[0][:1000]
    features = np.column_stack([np.ones(len(seen)), seen])
    np.testing.assert_allclose(fit_weights(np.exp(0.8 * seen + 2.0), features), 1.0, atol=0.02)


def test_weights_sum_to_the_labels_they_are_worth() -> None:
    features = np.ones((4, 1))
    found = fit_weights(np.array([1.0, 1.0, 1.0, 8.0]), features)
    assert found.sum() == np.float64(found.sum() ** 2 / (found**2).sum())  # Kish
    assert 1.0 < found.sum() < 4.0
