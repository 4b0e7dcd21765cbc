"""Expected measures under chances: against the sum over all labellings, and at known labels the measures themselves."""

from itertools import product

import numpy as np
import pytest

from likewise.evaluation.estimates.blocks import best_per_unit, rank_block
from likewise.evaluation.estimates.catalog_measures import expected_measures
from likewise.evaluation.estimates.chances import any_positive, pair_chances

KS = (1, 3, 5)
N_UNITS = 9


def measured(label: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Every measure of one query by its textbook definition; 0 without a positive."""
    ranked = label[np.argsort(-scores, kind="stable")].astype(float)
    n, n_positive = len(ranked), int(ranked.sum())
    found = {}
    for k in KS:
        gain = 1 / np.log2(np.arange(2, k + 2))
        found[f"P@{k}"] = ranked[:k].sum() / k
        found[f"Recall@{k}"] = ranked[:k].sum() / n_positive if n_positive else 0.0
        found[f"nDCG@{k}"] = (ranked[:k] * gain).sum() / gain[:n_positive].sum() if n_positive else 0.0
    found["AP"] = (ranked * np.cumsum(ranked) / np.arange(1, n + 1)).sum() / n_positive if n_positive else 0.0
    return found


def area(label: np.ndarray, scores: np.ndarray) -> float:
    """ROC-AUC as a share of ordered pairs, a tie one half."""
    above = scores[label == 1][:, None] - scores[label == 0][None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean())


def expected(chance: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Every labelling by its probability."""
    total: dict[str, float] = {}
    for bits in product([0, 1], repeat=len(chance)):
        label = np.array(bits)
        weight = float(np.where(label == 1, chance, 1 - chance).prod())
        for name, value in measured(label, scores).items() if weight else ():
            total[name] = total.get(name, 0.0) + weight * value
    return total


def chances_of(rng: np.random.Generator, admissible: np.ndarray) -> np.ndarray:
    """Unknown pairs, hardly possible ones (light), and labelled ones."""
    chance = np.where(rng.random(admissible.shape) < 0.3, 8e-4, rng.random(admissible.shape) ** 2)
    chance[0, 1], chance[1, 3], chance[1, 4], chance[2, 0] = 1.0, 1.0, 1.0, 0.0
    return np.where(admissible, chance, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_expectation_and_derivative_equal_the_sum_over_all_labellings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((2, 3, N_UNITS)).astype(np.float32)
    admissible = np.ones((3, N_UNITS), dtype=bool)
    admissible[0, 2] = False
    chance = chances_of(rng, admissible)
    row, unit = np.array([0, 1, 1, 2]), np.array([1, 3, 4, 0])
    chances = pair_chances(chance.copy(), row, unit)
    positives, found = expected_measures(rank_block(scores, admissible), chances, KS)
    np.testing.assert_allclose(positives.value, chance.sum(axis=1))
    for encoder, query in product(range(2), range(3)):
        kept = admissible[query]
        truth = expected(chance[query][kept], scores[encoder, query][kept])
        for name, value in truth.items():
            assert found[encoder][name].numerator.value[query] == pytest.approx(value, abs=2e-6), name
        for place in np.flatnonzero(row == query):
            ends = []
            for label in (0.0, 1.0):
                moved = chance[query].copy()
                moved[unit[place]] = label
                ends.append(expected(moved[kept], scores[encoder, query][kept]))
            for name in truth:
                slope = found[encoder][name].numerator.derivative[place]
                assert slope == pytest.approx(ends[1][name] - ends[0][name], abs=1e-5), name


def test_the_chance_of_any_positive() -> None:
    chance = np.array([[0.2, 0.5, 0.0, 5e-4], [1.0, 0.3, 0.1, 0.0]])
    found = any_positive(pair_chances(chance, np.array([0, 1, 1]), np.array([1, 0, 1])))
    np.testing.assert_allclose(found.value, [1 - 0.8 * 0.5 * (1 - 5e-4), 1.0])
    np.testing.assert_allclose(found.derivative, [0.8 * (1 - 5e-4), 0.7 * 0.9, 0.0])


def test_at_known_labels_it_is_the_measure_itself(rng: np.random.Generator) -> None:
    """600 candidates, also with tied scores: P, Recall, nDCG and AP by definition, ROC-AUC by pairs."""
    scores = np.round(rng.standard_normal((1, 5, 600)), 1).astype(np.float32)
    label = (rng.random((5, 600)) < 0.02 + 0.1 * (scores[0] > 1)).astype(float)
    label[4] = 0.0
    none = np.empty(0, dtype=np.int64)
    admissible = np.ones(label.shape, dtype=bool)
    found = expected_measures(rank_block(scores, admissible), pair_chances(label.copy(), none, none), KS)[1][0]
    for query in range(5):
        for name, value in measured(label[query], scores[0, query]).items():
            assert found[name].numerator.value[query] == pytest.approx(value, abs=1e-6), name
    areas = [area(label[query], scores[0, query]) for query in range(4)]
    np.testing.assert_allclose(found["ROC_AUC"].numerator.value[:4], areas, atol=1e-6)
    assert found["ROC_AUC"].denominator.value.tolist() == [1.0, 1.0, 1.0, 1.0, 0.0]


def test_expected_roc_auc_equals_the_mean_over_drawn_labellings(rng: np.random.Generator) -> None:
    scores = rng.standard_normal((1, 1, 60)).astype(np.float32)
    chance = 0.3 / (1 + np.exp(-2 * scores[0]))
    none = np.empty(0, dtype=np.int64)
    found = expected_measures(rank_block(scores, np.ones((1, 60), dtype=bool)), pair_chances(chance, none, none), KS)
    simulated = [area(label, scores[0, 0]) for label in rng.random((4_000, 60)) < chance[0] if label.any()]
    expectation = found[1][0]["ROC_AUC"]
    value = expectation.numerator.value[0] / expectation.denominator.value[0]
    assert value == pytest.approx(np.mean(simulated), abs=4 * np.std(simulated) / np.sqrt(len(simulated)))


def test_an_item_scores_as_its_best_image() -> None:
    scores = np.array([[0.1, 0.9, 0.4, 0.3]], dtype=np.float32)
    assert best_per_unit(scores, np.array([1, 0, 1, 0]), 2).tolist() == [[np.float32(0.9), np.float32(0.4)]]
