"""Differences between models and rank correlations: against SciPy and by hand."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr, ttest_rel

from likewise.evaluation.differences import difference_table, holm_correction, paired_difference
from likewise.evaluation.discovery import DEFAULT_MEASURES, estimate_measures, ranked_results
from likewise.evaluation.measures import ROC_AUC
from likewise.evaluation.micro_auc import micro_jackknife
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.rank_correlation import kendall, spearman, spearman_p

from .judging import gallery_of, model, random_pairs


def test_a_difference_of_means_is_the_paired_t_test(rng: np.random.Generator) -> None:
    a, b = rng.random(30), rng.random(30) + 0.12
    theirs = ttest_rel(a, b)
    found = paired_difference(QuerySums.mean_of(a), QuerySums.mean_of(b))
    assert found.value == pytest.approx(a.mean() - b.mean())
    assert (found.low, found.high) == pytest.approx(tuple(theirs.confidence_interval()))
    assert found.p == pytest.approx(theirs.pvalue)


def test_holm_is_by_hand() -> None:
    corrected = holm_correction(np.array([0.01, 0.04, np.nan, 0.03]))
    assert corrected[[0, 1, 3]].tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert np.isnan(corrected[2])


def test_the_table_tells_a_good_model_from_a_bad_one(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=60)
    models = [model(name, pairs, rng, skill) for name, skill in (("good", 1.5), ("bad", 0.0), ("bad too", 0.0))]
    table = difference_table(
        [estimate_measures(one.encoder, ranked_results(one, pairs), DEFAULT_MEASURES) for one in models]
    )
    for measure in (ROC_AUC, ROC_AUC(average="micro")):
        rows = {(row["encoder_a"], row["encoder_b"]): row for row in table.filter(measure=str(measure)).to_dicts()}
        assert rows["good", "bad"]["significant"] and rows["good", "bad"]["low"] > 0
        assert rows["bad", "bad too"]["significant"] is False
        assert rows["bad", "bad too"]["low"] < 0 < rows["bad", "bad too"]["high"]


def test_a_generator_meets_a_new_model_only_on_measures_that_treat_both_alike(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng)
    models = [model(name, pairs, rng, 0.5) for name in ("fed one", "fed two", "new one", "new two")]
    estimates = [
        estimate_measures(one.encoder, ranked_results(one, pairs, gallery=gallery_of(pairs)), DEFAULT_MEASURES)
        for one in models
    ]
    table = difference_table(estimates, ["fed one", "fed two"])
    for measure in table["measure"].unique():
        compared = set(table.filter(measure=measure).select("encoder_a", "encoder_b").iter_rows())
        within = {("fed one", "fed two"), ("new one", "new two")}
        assert compared >= within and (compared == within) != ('negatives="gallery"' in measure)


def test_a_clear_micro_difference_is_significant_among_thirty_models(rng: np.random.Generator) -> None:
    """435 comparisons: what is far apart stays below .001 after correction, and alike models stay alike."""
    pairs = random_pairs(rng, n_queries=30)
    models = [model(f"m{number}", pairs, rng, 1.5 if number == 0 else 0.0) for number in range(30)]
    micro = ROC_AUC(average="micro")
    table = difference_table([estimate_measures(one.encoder, ranked_results(one, pairs), [micro]) for one in models])
    assert len(table) == 435
    best = table.filter(encoder_a="m0")
    assert len(best) == 29 and (best["p_holm"] < 0.001).all()
    assert table.filter(table["encoder_a"] != "m0")["significant"].sum() <= 1


def test_joined_classes_hardly_move_a_jackknife(rng: np.random.Generator) -> None:
    query, scores = rng.integers(0, 50, 20_000), rng.random(20_000)
    label = (rng.random(20_000) < scores).astype(np.int8)
    exact, rough = (micro_jackknife(query, scores, label, 50, max_bins=bins) for bins in (None, 512))
    for one, other in zip(exact, rough, strict=True):
        assert one.std() == pytest.approx(other.std(), rel=0.02)
        assert np.abs(one - other).max() < 0.05 * one.std()


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
