"""Dawid–Skene on votes drawn from its own model: it finds the experts' rates, and climbs all the way."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from likewise.errors import LikewiseError
from likewise.labeling import consensus, dawid_skene

from .factories import planted, some_votes, votes_of

RATES = [(0.95, 0.90), (0.80, 0.97), (0.70, 0.65), (0.88, 0.75), (0.92, 0.95)]


def test_it_recovers_planted_rates_and_prevalence() -> None:
    votes, truth = planted(5000, 0.4, RATES, seed=1)
    fitted = dawid_skene(votes)
    assert fitted.converged
    found = fitted.experts.select("sensitivity", "specificity").to_numpy()
    np.testing.assert_allclose(found, np.array(RATES), atol=0.03)
    assert fitted.prevalence == pytest.approx(truth.mean(), abs=0.02)


def test_probabilities_are_calibrated() -> None:
    votes, truth = planted(5000, 0.4, RATES, seed=2)
    assert dawid_skene(votes).pairs["probability"].mean() == pytest.approx(truth.mean(), abs=0.02)


@settings(max_examples=50)
@given(some_votes(least=3))
def test_the_objective_never_decreases(votes: pl.DataFrame) -> None:
    climb = np.array(dawid_skene(votes).log_posterior)
    assert np.all(np.diff(climb) >= -1e-9 * np.maximum(1, np.abs(climb[1:])))


def test_the_objective_never_decreases_on_many_votes() -> None:
    climb = np.diff(dawid_skene(planted(2000, 0.8, RATES, seed=3)[0]).log_posterior)
    assert climb[0] > 1
    assert climb.min() >= -1e-7


def test_it_beats_majority_when_experts_differ_a_lot() -> None:
    votes, truth = planted(3000, 0.5, [(0.97, 0.97), (0.95, 0.95), *[(0.55, 0.55)] * 5], seed=4)
    right = {
        rule: float((consensus(votes, rule).labels["label"].to_numpy() == truth).mean())
        for rule in ("majority", "dawid-skene")
    }
    assert right["dawid-skene"] > 0.95
    assert right["dawid-skene"] > right["majority"] + 0.1


def test_a_run_cut_short_says_that_it_did_not_converge() -> None:
    fitted = dawid_skene(planted(200, 0.5, RATES, seed=5)[0], max_iterations=2)
    assert (fitted.converged, fitted.iterations) == (False, 2)


def test_a_small_and_mostly_similar_pool_is_not_called_similar_throughout() -> None:
    """With tiny symmetric pseudo-counts these labels are right for 0.78 of the pairs, and for 0.23 at worst."""
    right = []
    for seed in range(20):
        votes, truth = planted(30, 0.97, [(0.95, 0.95), (0.9, 0.6), (0.7, 0.9)], seed)
        right.append(float((consensus(votes, "dawid-skene").labels["label"].to_numpy() == truth).mean()))
    assert np.mean(right) > 0.95
    assert min(right) > 0.8


def test_two_experts_do_not_determine_the_model() -> None:
    with pytest.raises(LikewiseError, match=r"needs the answers of 3 experts .* have 2: use the rule majority"):
        dawid_skene(planted(50, 0.5, RATES[:2], seed=6)[0])


def test_one_em_step_by_hand() -> None:
    """Three experts, pairs sss, ssn, nnn: shares 1, 2/3, 0; hardly any smoothing."""
    fitted = dawid_skene(votes_of(x="ssn", y="ssn", z="snn"), smoothing=1e-12, max_iterations=1)
    # From the shares: p = 5/9. x and y: sensitivity 1, specificity 3/4; z: sensitivity 3/5, specificity 1.
    rates = [[1, 3 / 4], [1, 3 / 4], [3 / 5, 1]]
    np.testing.assert_allclose(fitted.experts.select("sensitivity", "specificity"), rates)
    # ssn: similar 5/9 * 2/5 = 2/9, not similar 4/9 * 1/16 = 1/36.
    np.testing.assert_allclose(fitted.pairs["probability"], [1, 8 / 9, 0], atol=1e-9)
    # Evidence: sss 5/9 * 3/5, ssn 1/4, nnn 4/9 * 9/16.
    assert fitted.log_posterior[0] == pytest.approx(np.log(1 / 3) + 2 * np.log(1 / 4), abs=1e-6)
