"""Intervals over queries: against SciPy, by their definition, and by what they must never do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, t, ttest_1samp

from likewise.evaluation.query_sums import QuerySums
from likewise.intervals import (
    clopper_pearson,
    difference_interval,
    few_queries_note,
    interval_of,
    share_interval,
    standard_error,
    t_interval,
    t_test,
    wilson_interval,
)


def test_the_error_of_a_mean_is_the_usual_one(rng: np.random.Generator) -> None:
    values = rng.random(12)
    values[3] = np.nan  # a query that does not count
    sums, known = QuerySums.mean_of(values), values[~np.isnan(values)]
    error = standard_error(sums.value(), sums.jackknife(), sums.n_defined)
    assert error == pytest.approx(known.std(ddof=1) / np.sqrt(11))
    assert np.isnan(standard_error(0.5, np.full(1, np.nan), 1))


def test_leaving_a_query_out_of_a_ratio_is_computing_it_again(rng: np.random.Generator) -> None:
    """As triplets and class-based retrieval need it: queries of unequal weight, some of no weight at all."""
    denominator = rng.integers(0, 9, 80).astype(np.float64)
    sums = QuerySums(denominator * rng.random(80) ** 4, denominator)
    np.testing.assert_allclose(sums.jackknife(), sums.resampled(1.0 - np.eye(80)))
    assert np.isnan(QuerySums(np.array([0.5, 0.0]), np.array([1.0, 0.0])).jackknife()[0])


def test_hits_and_misses_get_wilsons_interval_and_equal_values_the_exact_one() -> None:
    for hits, n in ((3, 8), (1, 20), (45, 60)):
        expected = binomtest(hits, n).proportion_ci(method="wilson")
        values = np.repeat([1.0, 0.0], [hits, n - hits])
        assert interval_of(QuerySums.mean_of(values)) == pytest.approx((expected.low, expected.high))
        assert wilson_interval(hits / n, n) == pytest.approx((expected.low, expected.high))
    for hits, n in ((8, 8), (0, 20)):
        exact = binomtest(hits, n).proportion_ci(method="exact")
        assert interval_of(QuerySums.mean_of(np.full(n, hits / n))) == pytest.approx((exact.low, exact.high))
    assert clopper_pearson(2, 2000) == pytest.approx(
        (binomtest(2, 2000).proportion_ci().low, binomtest(2, 2000).proportion_ci().high)
    )
    low, high = interval_of(QuerySums.mean_of(np.array([0.7])))  # one query says next to nothing
    assert low < 0.05 and high > 0.95


@pytest.mark.parametrize(("n", "weight", "tilt"), [(10, 10 / 60, 1.2), (20, 20 / 60, 0.6), (40, 0.4, 0.0)])
def test_the_ends_are_as_far_from_the_value_as_their_own_error_allows(
    rng: np.random.Generator, n: int, weight: float, tilt: float
) -> None:
    """The definition: |v - p| = t s(p) at both ends, with the query of small weight among the others."""
    values = rng.beta(5, 2, n)
    value = (values.sum() + weight / 2) / (n + weight)
    squares = ((values - value) ** 2).sum() + weight * (0.5 - value) ** 2
    error = np.sqrt(squares / ((n - 1) * (n + weight)))
    nearer = 0.025 * (1 + tilt * abs(2 * value - 1))
    for end, tail in zip(interval_of(QuerySums.mean_of(values)), (0.025, nearer), strict=True):
        at_end = error * np.sqrt(end * (1 - end) / (value * (1 - value)))
        assert abs(end - value) == pytest.approx(t.ppf(1 - tail, n - 1) * at_end)
    sums = QuerySums.mean_of(values)
    plain = share_interval(sums.value(), standard_error(sums.value(), sums.jackknife(), n), n)
    assert (interval_of(sums) == plain) == (n >= 30)  # a value over trainings or folds, or over many queries


@given(st.lists(st.integers(0, 60).map(lambda n: n / 60), min_size=1, max_size=30))
@settings(max_examples=200)
def test_an_interval_of_shares_lies_between_0_and_1_holds_its_value_and_mirrors(shares: list[float]) -> None:
    sums, mirrored = QuerySums.mean_of(np.array(shares)), QuerySums.mean_of(1.0 - np.array(shares))
    low, high = interval_of(sums)
    assert 0.0 <= low <= sums.value() + 1e-12 and sums.value() - 1e-12 <= high <= 1.0
    assert interval_of(mirrored) == pytest.approx((1 - high, 1 - low), abs=1e-6)


def test_a_measure_without_bounds_and_a_difference_get_students_t(rng: np.random.Generator) -> None:
    values = rng.normal(3.0, 2.0, 25)
    theirs = ttest_1samp(values, 0.0)
    sums = QuerySums.mean_of(values)
    assert not sums.is_share
    assert interval_of(sums) == pytest.approx(tuple(theirs.confidence_interval()))
    error = standard_error(sums.value(), sums.jackknife(), 25)
    assert t_test(sums.value(), error, 25) == pytest.approx(theirs.pvalue)


def test_without_spread_p_is_that_of_the_sign_test_and_nothing_is_certain() -> None:
    assert t_test(0.0, 0.0, 9) == 1.0
    assert t_test(0.1, 0.0, 9) == binomtest(9, 9).pvalue
    assert t_test(0.1, float("nan"), 1) == 1.0
    low, high = t_interval(0.0, 0.0, 9)
    assert low == -high == pytest.approx(-clopper_pearson(0, 9)[1])
    assert np.isnan(t_test(float("nan"), 0.1, 9)) and np.isnan(share_interval(float("nan"), 0.1, 9)).all()


def test_few_queries_are_said_to_be_few() -> None:
    assert few_queries_note(15) is None and few_queries_note(0) is None and few_queries_note(None) is None
    assert "fewer than 15 anchors (14)" in str(few_queries_note(14, "anchors"))


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [8, 15, 30])
def test_intervals_cover_the_truth_as_often_as_they_say(rng: np.random.Generator, n_queries: int) -> None:
    """Where the percentile bootstrap holds 80 to 93 % at 8 queries; docs/inference.md has more shapes."""
    areas = 1 - np.abs(rng.normal(0, 0.25, (2000, n_queries))).clip(0, 1)
    skewed = rng.beta(3.8, 0.2, (2000, n_queries))
    drawn = {
        "ROC_AUC": (areas, 1 - 0.25 * np.sqrt(2 / np.pi)),
        "P@5": (rng.binomial(5, rng.beta(1.5, 3.5, (2000, n_queries))) / 5, 0.3),
        "AP": (rng.beta(0.5, 2.8, (2000, n_queries)), 0.5 / 3.3),
        "near 1": (skewed, 0.95),  # with the same tail at both ends 98 % at 8 queries
    }
    covered = {}
    for name, (values, truth) in drawn.items():
        ends = [interval_of(QuerySums.mean_of(queries)) for queries in values]
        covered[name] = np.mean([low <= truth <= high for low, high in ends])
    assert all(0.93 < share < 0.975 for share in covered.values()), covered
    assert 0.935 < np.mean(list(covered.values())) < 0.965


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [15, 20, 30, 50])
def test_intervals_near_1_hold_although_failures_are_rare(rng: np.random.Generator, n_queries: int) -> None:
    """Three of four queries perfect, the others anywhere: with weight 0.05 at every size 91 to 93 %."""
    shape = (4000, n_queries)
    values = np.where(rng.random(shape) < 0.75, 1.0, rng.beta(5, 1.2, shape))
    values = np.where(rng.random(shape) < 0.03, 0.3 * rng.random(shape), values)
    truth = 0.97 * (0.75 + 0.25 * 5 / 6.2) + 0.03 * 0.15
    ends = [interval_of(QuerySums.mean_of(queries)) for queries in values]
    assert np.mean([low <= truth <= high for low, high in ends]) >= 0.935


def test_the_interval_of_a_difference_looks_at_the_sides_that_face_each_other(rng: np.random.Generator) -> None:
    """The example is of Newcombe (1998), 56 of 70 against 48 of 80 by his method 10: 0.0524 to 0.3339."""
    first, second = ((hits / n, *wilson_interval(hits / n, n)) for hits, n in ((48, 80), (56, 70)))
    assert difference_interval(first, second) == pytest.approx((0.0524, 0.3339), abs=1e-4)
    back = difference_interval(second, first)
    assert back == pytest.approx((-0.3339, -0.0524), abs=1e-4)
    fell, to = (0.90, 0.70, 0.92), (0.76, 0.74, 0.88)  # lies within the interval of before
    assert difference_interval(fell, to)[1] > 0.0

    def drawn(n: int) -> tuple[float, float, float]:
        values = rng.beta(0.9, 0.1, n)
        return float(values.mean()), *interval_of(QuerySums.mean_of(values))

    ends = np.array([difference_interval(drawn(15), drawn(100)) for _ in range(600)])
    called = ((ends[:, 0] > 0) | (ends[:, 1] < 0)).mean()  # by half widths alone 9 % of them
    assert called < 0.08
