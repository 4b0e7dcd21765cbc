"""Intervals and tests of differences: against SciPy, by hand, and by how often they are right."""

import numpy as np
import pytest
from scipy.stats import bootstrap, kendalltau, permutation_test, spearmanr

from likewise.evaluation.bootstrap import bca_interval, interval_of, query_weights
from likewise.evaluation.differences import bootstrap_p, difference_table, holm_correction, randomisation_p, swap_signs
from likewise.evaluation.discovery import DEFAULT_MEASURES, estimate_measures, ranked_results
from likewise.evaluation.micro_auc import micro_auc
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.rank_correlation import kendall, spearman, spearman_p

from .judging import model, random_pairs


def test_bca_equals_scipys(rng: np.random.Generator) -> None:
    """On skewed data, with many resamples, the two agree to the noise of resampling."""
    values = rng.exponential(size=60)
    sums = QuerySums.mean_of(values)
    weights = query_weights(60, 20_000, seed=1)
    ours = bca_interval(sums.value(), sums.resampled(weights), sums.resampled(1 - np.eye(60)))
    theirs = bootstrap((values,), np.mean, n_resamples=20_000, method="BCa", rng=2).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.015)
    percentile = np.quantile(sums.resampled(weights), [0.025, 0.975])
    assert ours[0] > percentile[0]  # skewed to the right: the interval moves up
    assert ours[1] > percentile[1]


def test_bca_of_a_ratio_of_sums_equals_scipys(rng: np.random.Generator) -> None:
    """As triplets and class-based retrieval need it: queries of unequal weight, some of no weight at all."""
    denominator = rng.integers(0, 9, 80).astype(np.float64)
    sums = QuerySums(denominator * rng.random(80) ** 4, denominator)
    np.testing.assert_allclose(sums.jackknife(), sums.resampled(1.0 - np.eye(80)))
    weights = query_weights(80, 20_000, seed=1)
    theirs = bootstrap(
        (sums.numerator, sums.denominator),
        lambda numerator, denominator, axis: numerator.sum(axis=axis) / denominator.sum(axis=axis),
        paired=True,
        n_resamples=20_000,
        method="BCa",
        rng=2,
    ).confidence_interval
    assert interval_of(sums, weights, "bca") == pytest.approx((theirs.low, theirs.high), abs=0.005)
    assert interval_of(sums, weights, "percentile") == pytest.approx(
        np.quantile(sums.resampled(weights), [0.025, 0.975])
    )
    alone = QuerySums(np.array([0.5, 0.0]), np.array([1.0, 0.0]))
    assert np.isnan(alone.jackknife()[0])


def test_bca_falls_back_where_it_is_undefined() -> None:
    assert bca_interval(1.0, np.ones(50), np.ones(10)) == (1.0, 1.0)


def test_randomisation_equals_scipys_permutation_test(rng: np.random.Generator) -> None:
    a, b = rng.random(30), rng.random(30) + 0.12
    ours = randomisation_p(QuerySums.mean_of(a), QuerySums.mean_of(b), swap_signs(30, 0, 50_000))
    theirs = permutation_test(
        (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", n_resamples=50_000, rng=1
    ).pvalue
    assert ours == pytest.approx(theirs, abs=0.01)


def test_equal_models_never_differ_significantly_and_holm_is_by_hand() -> None:
    same = QuerySums.mean_of(np.array([0.2, 0.9, 0.4]))
    assert randomisation_p(same, same, swap_signs(3, 0)) == 1.0
    assert bootstrap_p(np.zeros(100)) == 1.0
    assert np.isnan(bootstrap_p(np.full(3, np.nan)))
    corrected = holm_correction(np.array([0.01, 0.04, np.nan, 0.03]))
    assert corrected[[0, 1, 3]].tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert np.isnan(corrected[2])


def test_false_alarms_are_as_rare_as_promised(rng: np.random.Generator) -> None:
    """Two models drawn alike: p below 0.05 in about one of twenty cases."""
    signs = swap_signs(40, 3, 999)
    alarms = sum(
        randomisation_p(QuerySums.mean_of(rng.random(40)), QuerySums.mean_of(rng.random(40)), signs) < 0.05
        for _ in range(400)
    )
    assert 5 <= alarms <= 38


def test_the_table_tells_a_good_model_from_a_bad_one(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=60)
    weights = query_weights(60, 300, 0)
    models = [model(name, pairs, rng, skill) for name, skill in (("good", 1.5), ("bad", 0.0), ("bad too", 0.0))]
    table = difference_table(
        [estimate_measures(one.encoder, ranked_results(one, pairs), DEFAULT_MEASURES, weights) for one in models]
    )
    macro = {
        (row["encoder_a"], row["encoder_b"]): row for row in table.iter_rows(named=True) if row["measure"] == "ROC_AUC"
    }
    assert macro["good", "bad"]["significant"]
    assert macro["good", "bad"]["low"] > 0
    assert macro["bad", "bad too"]["significant"] is False
    assert macro["bad", "bad too"]["low"] < 0 < macro["bad", "bad too"]["high"]
    assert set(table["test"]) == {"randomisation", "bootstrap"}


def test_joined_classes_move_a_micro_area_by_less_than_promised(rng: np.random.Generator) -> None:
    query, scores = rng.integers(0, 50, 20_000), rng.random(20_000)
    label = (rng.random(20_000) < scores).astype(np.int8)
    weights = query_weights(50, 20, 0)
    exact, rough = micro_auc(query, scores, label, weights), micro_auc(query, scores, label, weights, max_bins=512)
    assert np.abs(exact[0] - rough[0]).max() < 1 / 512
    assert np.abs(exact[1] - rough[1]).max() < 1 / 512


def test_rank_correlations_equal_scipys(rng: np.random.Generator) -> None:
    for n in (3, 5, 14):
        a, b = rng.integers(0, 6, n).astype(float), rng.random(n)
        expected = spearmanr(a, b)
        assert spearman(a, b) == pytest.approx(expected.statistic)
        assert spearman_p(spearman(a, b), n) == pytest.approx(expected.pvalue)
        assert kendall(a, b) == pytest.approx(kendalltau(a, b).statistic)
    assert np.isnan(spearman(np.ones(4), rng.random(4)))
    assert spearman_p(1.0, 6) == 0.0
    assert spearman_p(0.9428571, 6) == pytest.approx(0.0048, abs=1e-4)  # 0.94 and 0.004 in the paper's Table 3
