"""The gate's arithmetic: the test of a mean, what missing labels can turn, and the verdict."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from likewise.evaluation.gate.bounded_mean import lower_confidence_bound, p_at_least, p_at_most, upper_confidence_bound
from likewise.evaluation.gate.decision import (
    ALPHA_FAIL,
    ALPHA_PASS,
    BoundedDifferences,
    EstimatedDifference,
    decide_gate,
)
from likewise.evaluation.gate.labels_needed import (
    DifferenceMoments,
    labelling_order,
    labels_needed,
    queries_needed,
)
from likewise.evaluation.gate.list_differences import compare_lists
from likewise.evaluation.measures import MRR, CutoffMeasure, P, Recall, Recall_cap, Success, nDCG
from likewise.evaluation.measures.ranked import UNJUDGED, RankedResults, look_up_labels
from likewise.evaluation.pairs import JudgedPairs

N_GALLERY = 9


def judged(n_queries: int, rows: list[tuple[int, int, int]]) -> JudgedPairs:
    query, candidate, label = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    gallery = [f"g{row}" for row in range(N_GALLERY)]
    items = np.arange(100, 100 + n_queries), np.arange(N_GALLERY)
    return JudgedPairs(
        [f"q{row}" for row in range(n_queries)], gallery, *items, query, candidate, label.astype(np.int8)
    )


def exact(values: list[float]) -> BoundedDifferences:
    array = np.array(values)
    return BoundedDifferences(array, array, array)


def test_queries_of_one_item_are_one_observation() -> None:
    values = np.append(np.random.default_rng(0).normal(-0.02, 0.1, 30), np.nan)
    once, items = exact(values.tolist()), np.repeat(np.arange(31), 4)
    often, counted_apart = (replace(exact(np.repeat(values, 4).tolist()), items=each) for each in (items, None))
    for margin in (0.0, 0.02):
        assert often.p_worse(margin) == pytest.approx(once.p_worse(margin))
        assert often.p_not_worse(margin) == pytest.approx(once.p_not_worse(margin))
    assert often.interval() == pytest.approx(once.interval())
    assert counted_apart.p_worse(0.0) < once.p_worse(0.0)
    part = often.of(items < 10)
    assert part.p_worse(0.0) == pytest.approx(exact(values[:10].tolist()).p_worse(0.0))


def test_for_many_queries_it_is_the_t_test() -> None:
    values = np.random.default_rng(0).normal(0.004, 0.08, 4000)
    ours = p_at_most(values, 0.0)
    theirs = stats.ttest_1samp(values, 0.0, alternative="greater").pvalue
    assert ours == pytest.approx(theirs, rel=0.15)


def test_rare_large_losses_of_exactly_the_margin_pass_at_the_level_where_the_t_test_does_not() -> None:
    """One query in sixty loses six tenths; Student's t calls that harmless three times too often."""
    rng, passed, by_t = np.random.default_rng(0), 0, 0
    for _ in range(800):
        values = np.where(rng.random(200) < 1 / 60, -rng.uniform(0.2, 1.0, 200), 0.0)
        passed += p_at_most(values, -0.01) <= 0.05
        with np.errstate(invalid="ignore"):
            t = stats.ttest_1samp(values, -0.01, alternative="greater").pvalue if values.any() else 0.0
        by_t += t <= 0.05
    assert passed / 800 <= 0.06 and by_t / 800 > 0.12


def test_without_a_loss_so_many_queries_exclude_a_rare_one() -> None:
    """Nothing lost in 100 queries leaves room for a loss of a point; in 300 it does not."""
    assert lower_confidence_bound(np.zeros(100), 0.05) < -0.01 < lower_confidence_bound(np.zeros(300), 0.05)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.sampled_from([0.05, 0.025]))
def test_bounds_hold_what_the_test_does_not_reject(numbers: list[float], alpha: float) -> None:
    values = np.array(numbers)
    low, high = lower_confidence_bound(values, alpha), upper_confidence_bound(values, alpha)
    assert -1.0 <= low <= values.mean() + 1e-9 and values.mean() - 1e-9 <= high <= 1.0
    if low > -1.0 + 1e-4:
        assert p_at_most(values, low + 1e-5) >= alpha * 0.999 and p_at_most(values, low - 1e-5) <= alpha * 1.001
    assert high == -lower_confidence_bound(-values, alpha)
    assert p_at_least(values, 0.1) == p_at_most(-values, -0.1)


lists = st.permutations(range(N_GALLERY)).map(lambda order: order[:3])


@settings(deadline=None)
@given(
    old=lists,
    new=lists,
    labels=st.dictionaries(st.integers(0, N_GALLERY - 1), st.integers(0, 1), max_size=5),
    measure=st.sampled_from([P @ 3, nDCG @ 3, Recall @ 3, Recall_cap @ 3, Success @ 3, MRR @ 3]),
)
def test_missing_labels_are_filled_both_ways(
    old: list[int], new: list[int], labels: dict[int, int], measure: CutoffMeasure
) -> None:
    """Every way to label what stands at different places, one by one, finds the same lowest and highest difference.

    So does every way to label what stands at the same place as well.
    """
    pairs = judged(1, [(0, 8, 1), *((0, candidate, label) for candidate, label in labels.items() if candidate != 8)])
    compared = compare_lists(measure, np.array([old]), np.array([new]), pairs)
    known = dict(zip(pairs.candidate.tolist(), pairs.label.tolist(), strict=True))
    apart = set(old) ^ set(new)
    if measure.NAME in ("nDCG", "MRR"):  # the others do not look at ranks
        apart |= {each for each in {*old} & {*new} if old.index(each) != new.index(each)}
    for found, asked in (
        (compared.bounds(), apart),
        (compared.bounds_if_shared_were_similar(), {*old, *new}),
    ):
        differences = _every_difference(old, new, known, sorted(asked - set(known)), measure)
        assert found.lowest[0] == pytest.approx(min(differences)) and found.highest[0] == pytest.approx(
            max(differences)
        )


def _every_difference(
    old: list[int], new: list[int], known: dict[int, int], missing: list[int], measure: CutoffMeasure
) -> list[float]:
    differences = []
    for said in product((0, 1), repeat=len(missing)):
        all_labels = known | dict(zip(missing, said, strict=True))
        query, label = np.zeros(len(all_labels), int), np.array(list(all_labels.values()))
        values = []
        for each in (new, old):
            listed = look_up_labels(np.array([each]), query, np.array(list(all_labels)), label, N_GALLERY)
            sums = measure.estimate(RankedResults(listed, np.array([label.sum()])))
            values.append(float(sums.numerator[0] / sums.denominator[0]))
        differences.append(values[0] - values[1])
    return differences


def test_a_query_without_a_positive_counts_where_a_label_could_give_it_one() -> None:
    pairs = judged(2, [(0, 0, 0), (1, 0, 1)])
    found = compare_lists(P @ 1, np.array([[1], [0]]), np.array([[0], [0]]), pairs).bounds()
    assert np.isnan(found.labelled[0]) and found.lowest.tolist() == [-1.0, 0.0] and np.isnan(found.highest[0])


def test_exchanged_sides_are_mirror_images_but_for_the_two_levels() -> None:
    change = np.random.default_rng(4).normal(0.02, 0.2, 40).clip(-1.0, 1.0)
    there, back = (BoundedDifferences(sign * change, sign * change, sign * change) for sign in (1.0, -1.0))
    assert there.p_worse(0.0) == back.p_not_worse(0.0)
    assert there.p_not_worse(0.0) == back.p_worse(0.0)
    assert back.interval() == (lower_confidence_bound(-change, ALPHA_PASS), upper_confidence_bound(-change, ALPHA_FAIL))
    assert lower_confidence_bound(-change, ALPHA_PASS) == -upper_confidence_bound(change, ALPHA_PASS)
    assert -there.interval()[1] < back.interval()[0]  # the pass level is the wider one


def test_pass_fail_and_undecided() -> None:
    rng = np.random.default_rng(1)
    for shift, verdict in ((0.05, "pass"), (-0.08, "fail"), (-0.01, "undecided")):
        assert decide_gate(exact(list(rng.normal(shift, 0.1, 200))), {}, 0.01).verdict == verdict
    spread = rng.normal(0.0, 1.0, 400)
    assert decide_gate(EstimatedDifference.of(0.0, 0.003, spread), {}, 0.01).verdict == "pass"
    assert decide_gate(EstimatedDifference.of(-0.05, 0.004, spread), {}, 0.01).verdict == "fail"
    assert decide_gate(EstimatedDifference.of(0.0, 0.02, spread), {}, 0.01).verdict == "undecided"


def test_estimated_differences_have_the_mean_and_the_standard_error_that_were_estimated() -> None:
    found = EstimatedDifference.of(0.02, 0.01, np.random.default_rng(4).normal(3.0, 5.0, 9000))
    assert found.values.mean() == pytest.approx(0.02)
    assert found.values.std(ddof=1) / np.sqrt(9000) == pytest.approx(0.01)
    low, high = found.interval()
    assert low == pytest.approx(0.02 - 1.645 * 0.01, abs=0.001)
    assert high == pytest.approx(0.02 + 1.96 * 0.01, abs=0.001)
    nothing = EstimatedDifference.of(0.0, 0.0, np.zeros(50))
    assert (nothing.p_worse(0.01), nothing.interval()) == (0.5, (-1.0, 1.0))


def test_labels_needed_trusts_no_rate_that_nobody_saw() -> None:
    """What only the new model lists has no label yet: it is not taken to be as good as the rest of the list."""
    n = 200
    pairs = judged(n, [row for query in range(n) for row in ((query, 0, 1), (query, 1, 1), (query, 2, 1))])
    old, new = np.tile([0, 1, 2], (n, 1)), np.tile([0, 1, 3], (n, 1))
    lists = compare_lists(P @ 3, old, new, pairs)
    needed = labels_needed(lists, 0.01, 0)
    assert needed.n_labels is not None
    assert needed.n_labels >= 0.1 * n
    told = np.full(n, UNJUDGED)
    told[labelling_order(lists)[: needed.n_labels]] = 0
    assert decide_gate(lists.labelled_as(told).bounds(), {}, 0.01).verdict == "fail"


def test_a_category_that_falls_while_the_average_rises_fails_the_gate_and_is_named() -> None:
    rng = np.random.default_rng(2)
    bags, shoes = rng.normal(-0.3, 0.1, 30), rng.normal(0.2, 0.1, 200)
    found = decide_gate(exact([*bags, *shoes]), {"bags": exact(list(bags)), "shoes": exact(list(shoes))}, 0.01)
    assert found.overall.evidence.difference > 0 and found.overall.verdict == "pass"
    assert found.verdict == "fail" and found.failing == found.falling == ["bags"]


def test_categories_are_corrected_for_their_number() -> None:
    rng = np.random.default_rng(3)
    bad = list(rng.normal(-0.05, 0.08, 20))
    alone = decide_gate(exact(bad * 10), {"bags": exact(bad)}, 0.01).categories[0]
    among = decide_gate(
        exact(bad * 10), {"bags": exact(bad)} | {f"c{n}": exact([0.0] * 20) for n in range(30)}, 0.01
    ).categories[0]
    assert among.p_worse == pytest.approx(min(1.0, 31 * alone.p_worse))


def test_unlabelled_results_that_could_turn_it_leave_it_undecided_and_are_asked() -> None:
    """The new list is better by every label there is; the results that only the old one has are not labelled."""
    n = 60
    pairs = judged(n, [row for query in range(n) for row in ((query, 0, 1), (query, 1, 0))])
    old, new = np.tile([1, 2], (n, 1)), np.tile([1, 0], (n, 1))
    found = compare_lists(P @ 2, old, new, pairs)
    assert found.bounds().difference == pytest.approx(0.5)
    assert decide_gate(found.bounds(), {}, 0.01).verdict == "undecided"
    asked = {(int(query), int(candidate)) for query, candidate in zip(found.query, found.candidate, strict=True)}
    assert asked == {(query, 2) for query in range(n)}
    needed = labels_needed(found, 0.01, 0)
    assert needed.n_unlabelled == n and (needed.n_labels or needed.n_queries)
    told = found.labelled_as(np.zeros(n, np.int64))
    assert not len(told.query) and decide_gate(told.bounds(), {}, 0.01).verdict == "pass"


def test_a_verdict_that_results_at_the_same_place_could_turn_is_seen() -> None:
    """Every query loses its one labelled hit; what both list before it has no label and could make that smaller."""
    n = 60
    pairs = judged(n, [(query, 0, 1) for query in range(n)] + [(query, 1, 0) for query in range(n)])
    old, new = np.tile([2, 3, 0], (n, 1)), np.tile([2, 3, 1], (n, 1))
    found = compare_lists(nDCG @ 3, old, new, pairs)
    wide = found.bounds_if_shared_were_similar()
    assert not len(found.query) and len(found.shared[0]) == 2 * n
    assert (wide.lowest == found.bounds().lowest).all() and (wide.highest > found.bounds().highest).all()
    assert wide.highest[0] == pytest.approx(-0.5 / (1 + 1 / np.log2(3) + 0.5))  # of three positives the third is lost
    assert [decide_gate(each, {}, 0.4).verdict for each in (found.bounds(), wide)] == ["fail", "undecided"]


def test_the_queries_that_are_said_to_decide_do_so_in_four_of_five_cases() -> None:
    rng = np.random.default_rng(3)
    n, margin, deviation, quantile = 100, 0.01, 0.2, 1.645
    decided = []
    for truth in rng.uniform(-0.15, 0.13, 3000):
        mean = rng.normal(truth, deviation / np.sqrt(n))
        if abs(mean + margin) * np.sqrt(n) / deviation > quantile:
            continue  # the queries of now decide
        needed = queries_needed([DifferenceMoments(mean, deviation, n)], margin)
        if needed is not None:
            later = rng.normal(truth, deviation / np.sqrt(needed))
            decided.append(abs(later + margin) * np.sqrt(needed) / deviation > quantile)
    assert len(decided) > 400
    assert 0.75 < np.mean(decided) < 0.86  # with the measured difference as the true one: 0.74
