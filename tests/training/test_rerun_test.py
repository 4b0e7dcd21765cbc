"""The test behind a check: oracles where it is a known one, its level where nothing differs, its power."""

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from likewise.evaluation.differences import holm_correction
from likewise.synthetic.reruns import draw_reruns
from likewise.training.rerun_test import ErrorSource, RerunDifference, RerunValues, compare_reruns


def draw_methods(
    rng: np.random.Generator, n_reruns: int, n_classes: int, sd_reruns: Sequence[float], interaction: float
) -> list[RerunValues]:
    """Methods with the same true mean."""
    return [RerunValues(each) for each in draw_reruns(rng, n_reruns, n_classes, sd_reruns, interaction)]


def test_two_encoders_that_never_vary_are_compared_by_the_paired_t_test(rng: np.random.Generator) -> None:
    a, b = rng.random((2, 30))
    found = compare_reruns(RerunValues(a[None], True), RerunValues(b[None], True), np.full(30, 4.0))
    expected = stats.ttest_rel(a, b)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval()))


def test_reruns_alone_are_compared_by_a_t_test_over_reruns(rng: np.random.Generator) -> None:
    """Every class moves by the same amount in a rerun, so that only reruns vary."""
    reruns, classes = rng.standard_normal((5, 1)), rng.random(20)
    found = compare_reruns(RerunValues(classes + reruns), RerunValues(classes[None], True), np.full(20, 3.0))
    expected = stats.ttest_1samp(reruns[:, 0], 0.0)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-4)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval()), rel=1e-4)


def test_several_sources_are_a_sum_of_students_t(rng: np.random.Generator) -> None:
    sources = ((0.25, 2), (0.1, 4), (0.05, 30))
    found = RerunDifference(2.0, tuple(ErrorSource(*source) for source in sources))
    drawn = sum(np.sqrt(variance) * rng.standard_t(df, 400_000) for variance, df in sources)
    assert found.p == pytest.approx(float((np.abs(drawn) >= 2.0).mean()), rel=0.03)
    assert found.margin(found.p) == pytest.approx(2.0, rel=1e-6)


def test_the_sources_add_up_to_the_variance_of_the_difference(rng: np.random.Generator) -> None:
    """Also with classes of unequal size."""
    n_queries = rng.integers(1, 30, 12).astype(np.float64)
    found = []
    for _ in range(1500):
        a, b = draw_methods(rng, 3, 12, sd_reruns=(0.2, 0.4), interaction=0.3)
        found.append(compare_reruns(a, b, n_queries))
    estimated = np.mean([sum(source.variance for source in each.sources) for each in found])
    assert estimated == pytest.approx(np.var([each.difference for each in found]), rel=0.12)


def test_one_rerun_cannot_be_tested() -> None:
    found = compare_reruns(RerunValues(np.ones((1, 4))), RerunValues(np.zeros((3, 4))), np.ones(4))
    assert found.difference == 1.0 and np.isnan([found.p, *found.interval, found.detectable(0.05)]).all()
    same = RerunValues(np.ones((3, 4)))
    assert compare_reruns(same, same, np.ones(4)).p == 1.0


@pytest.mark.slow
def test_false_alarms_stay_below_six_in_a_hundred(rng: np.random.Generator) -> None:
    """A loss against itself: other seeds, and (where classes interact) a loss that is as good on other classes."""
    alarms = {}
    for n_reruns, n_classes, interaction, spread in product((3, 5, 10), (8, 60), (0.0, 0.5), (0.0, 0.1, 0.5)):
        found = []
        for n_queries in rng.integers(1, 40, (300, n_classes)).astype(np.float64):
            a, b = draw_methods(rng, n_reruns, n_classes, sd_reruns=(spread, spread), interaction=interaction)
            found.append(compare_reruns(a, b, n_queries).p < 0.05)
        alarms[n_reruns, n_classes, interaction, spread] = np.mean(found)
    assert np.mean(list(alarms.values())) < 0.05
    for n_reruns in (3, 5, 10):
        assert np.mean([rate for key, rate in alarms.items() if key[0] == n_reruns]) <= 0.06
    assert max(alarms.values()) <= 0.06 + 3 * (0.06 * 0.94 / 300) ** 0.5  # three standard errors of one rate


@pytest.mark.slow
def test_any_false_alarm_among_all_pairs_of_many_methods_stays_rare(rng: np.random.Generator) -> None:
    """Holm's correction looks far into the tail, where few reruns with unequal spread mislead a single t."""
    spread = (0.03, 0.05, 0.1, 0.1, 0.2, 0.5)
    n_queries = np.full(60, 4.0)
    any_alarm = []
    for _ in range(200):
        methods = draw_methods(rng, 3, 60, sd_reruns=spread, interaction=0.3)
        p = np.array([compare_reruns(a, b, n_queries).p for a, b in combinations(methods, 2)])
        any_alarm.append(holm_correction(p).min() < 0.05)
    assert np.mean(any_alarm) <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 78])
@pytest.mark.parametrize(("n_reruns", "n_classes", "interaction"), [(5, 60, 0.0), (10, 60, 0.0), (10, 20, 0.5)])
def test_the_power_is_what_is_stated(
    rng: np.random.Generator, n_reruns: int, n_classes: int, interaction: float, alpha: float
) -> None:
    n_queries = np.full(n_classes, 4.0)
    pairs = [draw_methods(rng, n_reruns, n_classes, sd_reruns=(0.2, 0.2), interaction=interaction) for _ in range(400)]
    stated = float(np.median([compare_reruns(a, b, n_queries).detectable(alpha) for a, b in pairs]))
    found = [compare_reruns(RerunValues(a.means + stated), b, n_queries).p < alpha for a, b in pairs]
    assert 0.7 < np.mean(found) < 0.9
