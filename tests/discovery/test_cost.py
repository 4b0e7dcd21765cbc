"""Prevalence, overlap and budget: the published numbers, and counts by hand."""

import numpy as np
import polars as pl
import pytest
from scipy.special import expit
from scipy.stats import binomtest

from likewise.discovery import RANDOM, budget_table, duplicate_share, generator_table, overlap_table, prevalence
from likewise.discovery.budget import counted_proposals, proposals_of, target_labels
from likewise.discovery.pool import POOL_SCHEMA
from likewise.discovery.positive_model import fit_logistic, fit_positives, rank_features
from likewise.discovery.prevalence import (
    bounded_error,
    chebyshev_error,
    lower_bound,
    map_estimate,
    random_pairs_needed,
)
from likewise.discovery.unit import PairCounter
from likewise.errors import LikewiseError
from likewise.intervals import clopper_pearson

ROWS = [
    ("q1", "c1", "a", 0, 0.9),
    ("q1", "c2", "a", 1, 0.8),
    ("q1", "c1", "b", 1, 0.7),
    ("q1", "c3", "b", 0, 0.9),
    ("q2", "c1", "a", 0, 0.9),
    ("q2", "c4", "a", 1, 0.8),
    ("q2", "c4", "b", 0, 0.6),
    ("q2", "c5", "b", 1, 0.5),
    ("q1", "c9", RANDOM, None, None),
    ("q2", "c9", RANDOM, None, None),
    ("q2", "c4", RANDOM, None, None),
]
POOL = pl.DataFrame([(*row, 1.0, 1) for row in ROWS], schema=POOL_SCHEMA, orient="row")
LABELS = pl.DataFrame(
    [
        ("q1", "c1", 1),
        ("q1", "c2", 0),
        ("q1", "c3", 1),
        ("q2", "c1", 0),
        ("q2", "c4", 1),
        ("q1", "c9", 0),
        ("q2", "c9", 0),
    ],
    schema=["query", "candidate", "label"],
    orient="row",
)


def test_published_run() -> None:
    """VSD sec. 3.3.1: 45,920 positives of 54,170 pairs, 2 of 2,000 random ones."""
    all_pairs = 2000 * 52_712
    assert lower_bound(45_920, all_pairs) == pytest.approx(0.00045, abs=2e-5)
    assert map_estimate(lower_bound(45_920, all_pairs), 2, 2000) == pytest.approx(0.001)
    assert map_estimate(0.01, 2, 2000) == 0.01  # what was found cannot be more than there is
    assert all_pairs / 54_170 == pytest.approx(1946, abs=1)


def test_chebyshev() -> None:
    def bound(p: float, n_random: int, error: float) -> float:
        """VSD's Eq. 3: how probable an error is, at most."""
        return p * (1.0 - p) / (n_random * error**2)

    assert bound(0.001, 2000, chebyshev_error(0.001, 2000, 0.05)) == pytest.approx(0.05)
    assert random_pairs_needed(0.01, 0.05) == 2000
    assert bound(0.0099, random_pairs_needed(0.01, 0.05), 0.01) < 0.05
    assert bounded_error(2000) == pytest.approx(0.01) and bounded_error(10) is None
    with pytest.raises(LikewiseError, match="between 0 and 1"):
        random_pairs_needed(0, 0.5)


@pytest.mark.slow
def test_the_exact_interval_holds_where_chebyshevs_with_an_estimate_does_not(rng: np.random.Generator) -> None:
    p, n_random = 0.002, 500
    outside_paper, outside_exact = [], []
    for hits in rng.binomial(n_random, p, 4000):
        estimate = map_estimate(0.0, int(hits), n_random)
        outside_paper.append(abs(estimate - p) >= chebyshev_error(estimate, n_random, 0.05))
        low, high = clopper_pearson(int(hits), n_random)
        outside_exact.append(not low <= p <= high)
    assert np.mean(outside_paper) > 0.3  # the paper's number is kept, and this is why another stands beside it
    assert np.mean(outside_exact) < 0.05


def test_prevalence_by_hand() -> None:
    """Six candidates, five labelled, three similar; two random pairs asked besides, one of them a candidate too."""
    found = prevalence(POOL, LABELS, counter=PairCounter("images", 100), seconds_per_pair=36)
    assert (found.n_pool_pairs, found.n_labelled, found.n_positive) == (6, 5, 3)
    assert (found.n_random, found.n_random_positive) == (3, 1)
    assert found.p_pool == pytest.approx(3 / 5)
    assert found.p_lower_bound == pytest.approx(0.03)
    assert found.p_estimate == pytest.approx(1 / 3)
    assert found.gain_over_random == pytest.approx(0.6 * 3)
    exact = binomtest(1, 3).proportion_ci(method="exact")
    assert (found.p_low, found.p_high) == pytest.approx((max(exact.low, 0.03), exact.high))
    assert (found.gain_low, found.gain_high) == pytest.approx((0.6 / exact.high, 0.6 / 0.03))  # p is not below p_LB
    assert found.chebyshev_95 == pytest.approx(chebyshev_error(1 / 3, 3, 0.05))
    assert found.hours_pool == pytest.approx(8 * 36 / 3600)
    assert found.hours_brute_force == pytest.approx(1.0)
    before = prevalence(POOL, None, counter=PairCounter("images", 100))
    assert before.p_pool is before.p_estimate is before.gain_over_random is None
    assert before.speed_up == pytest.approx(100 / 8)
    some = prevalence(POOL, LABELS.filter(pl.col("candidate") != "c9"), counter=PairCounter("images", 100))
    assert some.p_estimate is None  # the one random pair left is labelled because it is a candidate: no random sample


def test_overlap_by_hand() -> None:
    table = overlap_table(POOL, n_queries=2, k=2)
    assert table.rows() == [("a", "b", 2, 0.5), ("b", "a", 2, 0.5)]
    assert duplicate_share(POOL) == pytest.approx(1 - 6 / 8)


def test_what_each_generator_adds() -> None:
    table = generator_table(POOL, LABELS)
    assert table["generator"].to_list() == ["a", "b"]
    assert table["n_pairs"].to_list() == [4, 4]
    assert table["n_unique"].to_list() == [2, 2]
    assert table["n_labelled"].to_list() == [4, 3]
    assert table["n_positive"].to_list() == [2, 3]
    assert table["n_positive_unique"].to_list() == [0, 1]
    assert table["positive_share"].to_list() == [0.5, 1.0]
    assert generator_table(POOL, None)["positive_share"].to_list() == [None, None]


def test_budget_counts_every_choice() -> None:
    table = budget_table(POOL, LABELS, seconds_per_pair=3600)
    pairs = {(row["generators"], row["k"]): row["n_pairs"] for row in table.iter_rows(named=True)}
    assert pairs == {("a", 1): 2, ("a", 2): 4, ("b", 1): 2, ("b", 2): 4, ("a+b", 1): 4, ("a+b", 2): 6}
    every = table.filter(pl.col("generators") == "a+b").sort("k")
    assert every["hours"].to_list() == [4.0, 6.0]
    known_at_1 = 1 + 1 + 0 + 1  # q1c1, q1c3, q2c1, q2c4
    assert every["expected_positives"][0] == pytest.approx(known_at_1)
    assert known_at_1 < every["expected_positives"][1] < known_at_1 + 1  # q1c2 is negative, q2c5 unlabelled
    gained = every["expected_positives"][1] - every["expected_positives"][0]
    assert every["marginal_positives_per_hour"][1] == pytest.approx(gained / 2)
    assert (every["positives_low"][0], every["positives_high"][0]) == (known_at_1, known_at_1)  # nothing to guess
    assert known_at_1 <= every["positives_low"][1] < every["positives_high"][1] <= known_at_1 + 1
    assert budget_table(POOL, None)["expected_positives"].null_count() == 6


def drawn_pool(rng: np.random.Generator, n_queries: int = 60, k: int = 8) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One generator whose candidates are similar by a logistic curve of their rank; labels of all of them."""
    rank = np.tile(np.arange(k), n_queries)
    query = np.repeat(np.arange(n_queries), k)
    similar = rng.random(len(rank)) < expit(
        1.0 - 0.6 * np.log1p(rank) - 0.2 * rank + rng.normal(0, 0.7, n_queries)[query]
    )
    keys = {"query": [f"q{q}" for q in query], "candidate": [f"c{q}-{r}" for q, r in zip(query, rank, strict=True)]}
    pool = pl.DataFrame({**keys, "generator": "a", "rank": rank, "score": 1.0 - rank / k})
    return pool, pl.DataFrame({**keys, "label": similar.astype(np.int8), "rank": rank})


def test_expected_positives_have_an_interval_that_holds_them(rng: np.random.Generator) -> None:
    """Labelled to rank 4, predicted to rank 8, in forty drawn pools."""
    inside, expected, found = 0, 0.0, 0
    for _ in range(40):
        pool, labels = drawn_pool(rng)
        row = budget_table(pool, labels.filter(pl.col("rank") < 4).drop("rank")).row(-1, named=True)
        inside += row["positives_low"] <= labels["label"].sum() <= row["positives_high"]
        expected, found = expected + row["expected_positives"], found + int(labels["label"].sum())
    assert inside >= 36
    assert expected == pytest.approx(found, rel=0.03)


def test_the_covariance_of_the_fit_is_what_leaving_queries_out_shows(rng: np.random.Generator) -> None:
    pool, labels = drawn_pool(rng, 80)
    query, ranks = counted_proposals(proposals_of(pool))
    features, target = rank_features(ranks, 8), target_labels(proposals_of(pool), labels)
    model = fit_positives(query, ranks, 8, target)
    assert model is not None and not model.noise.any() and not model.is_unlabelled.any()
    whole, _ = fit_logistic(features, target)
    without = np.array([fit_logistic(features[kept], target[kept])[0] for kept in (query != one for one in range(80))])
    jackknife = 79 / 80 * (without - whole).T @ (without - whole)
    np.testing.assert_allclose(np.sqrt(np.diag(model.covariance)), np.sqrt(np.diag(jackknife)), rtol=0.15)
