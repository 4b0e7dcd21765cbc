"""What the adaptive design's model sees of a pair: never the pair's own label, and what vectors say by brute force."""

import numpy as np
import pytest

from likewise.discovery.designs.adaptive import RoundsSoFar, draw_round
from likewise.discovery.designs.drawing import Floats, Ints
from likewise.discovery.designs.pair_features import LabelledPairs, PairFeatures, VectorView
from likewise.discovery.designs.units import CatalogUnits
from likewise.discovery.positive_model import fit_logistic

N_ITEMS, N_QUERIES, N_IMAGES = 30, 12, 60


def made(seed: int) -> tuple[VectorView, CatalogUnits, list[Ints], Ints, Ints, Floats]:
    """Two images an item, the first items as queries, and ten labels for each of them."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(N_IMAGES, 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    unit_of_image = rng.permutation(np.repeat(np.arange(N_ITEMS), 2))
    units = CatalogUnits(unit_of_image, np.arange(N_ITEMS), np.arange(N_QUERIES))
    view = VectorView.of(vectors[:N_QUERIES], vectors, units)
    lists = [np.stack([rng.permutation(np.delete(np.arange(N_ITEMS), row))[:8] for row in range(N_QUERIES)])]
    pairs = [np.sort(rng.permutation(np.delete(np.arange(N_ITEMS), row))[:10]) for row in range(N_QUERIES)]
    query, unit = np.repeat(np.arange(N_QUERIES), 10), np.concatenate(pairs)
    return view, units, lists, query, unit, (rng.random(len(query)) < 0.4).astype(np.float64)


def test_a_view_of_vectors_is_what_brute_force_says() -> None:
    view, units, _, _, _, _ = made(0)
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(N_IMAGES, 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for query in range(3):
        expected = [max(vectors[units.unit_of_image == unit] @ vectors[query]) for unit in (4, 9, 4)]
        assert view.scores(query, np.array([4, 9, 4])) == pytest.approx(expected, abs=1e-6)
    means = np.stack([vectors[units.unit_of_image == unit].mean(axis=0) for unit in range(N_ITEMS)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    found = view.between(np.array([1, 2]), np.array([5, 6, 7]))
    assert found == pytest.approx(means[[1, 2]] @ means[[5, 6, 7]].T, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_label_of_a_pair_never_enters_its_own_features(seed: int) -> None:
    view, units, lists, query, unit, label = made(seed)
    before = PairFeatures.of([view], units, lists, LabelledPairs(query, unit, label)).table(query, unit)
    for place in range(0, len(query), 7):
        other = label.copy()
        other[place] = 1.0 - other[place]
        features = PairFeatures.of([view], units, lists, LabelledPairs(query, unit, other))
        after = features.table(query, unit)
        np.testing.assert_array_equal(after[place], before[place])
        assert (after != before).any()  # it does enter those of others


def test_what_related_queries_said_is_counted() -> None:
    """Query 0 is like query 1, and unlike query 2; both were asked about unit 20."""
    view, units, lists, _, _, _ = made(1)
    query, unit, label = np.array([0, 0, 1, 2]), np.array([1, 2, 20, 20]), np.array([1.0, 0.0, 1.0, 1.0])
    features = PairFeatures.of([view], units, lists, LabelledPairs(query, unit, label))
    assert [float(one[0]) for one in features._related(0, np.array([20]))] == pytest.approx(
        [np.log(2.0), 0.0, np.log(2.0)]
    )
    assert [float(one[0]) for one in features._related(5, np.array([20]))] == [0.0, 0.0, 0.0]


def test_a_round_gives_every_pair_at_least_its_share_of_the_sampled_design() -> None:
    """However sure the model is: no pair that is left has less than a tenth of what the weights by rank alone give."""
    from likewise.discovery.designs.adaptive import SAMPLED_SHARES
    from likewise.discovery.designs.sampled import combine_lists, ranked_weights

    view, units, lists, query, unit, label = made(2)
    so_far = RoundsSoFar(query, unit, LabelledPairs(query, unit, label))
    n_left = N_QUERIES * (N_ITEMS - 1) - len(query)
    ranked = combine_lists(lists, N_ITEMS)
    tail = np.array(
        [N_ITEMS - 1 - 8 - np.isin(unit[query == row], lists[0][row], invert=True).sum() for row in range(12)]
    )
    base, base_tail = ranked_weights(ranked, lists, tail, N_ITEMS)
    fresh = ~np.isin(ranked.query * N_ITEMS + ranked.candidate, query * N_ITEMS + unit)
    total = base[fresh].sum() + base_tail @ tail
    least = min(base[fresh].min(), base_tail.min()) / total
    for purpose in ("finding", "comparing"):
        drawn = draw_round([view], units, lists, so_far, 60, purpose, np.random.default_rng(0))
        assert len(drawn) == 60 < n_left
        assert drawn.probability.min() >= 0.9 * SAMPLED_SHARES[purpose] * 60 * least
        assert not set(zip(drawn.query, drawn.candidate, strict=True)) & set(zip(query, unit, strict=True))


def test_the_joint_ranks_are_where_the_table_has_them() -> None:
    view, units, lists, query, unit, label = made(3)
    features = PairFeatures.of([view, view], units, [lists[0], lists[0][:, ::-1]], LabelledPairs(query, unit, label))
    smallest, mean, fused = features.table(query, unit)[:, features.joint_rank_columns].T
    rank = np.array([[*np.flatnonzero(lists[0][q] == u), 8][0] for q, u in zip(query, unit, strict=True)])
    other = np.where(rank < 8, 7 - rank, 8)
    assert smallest == pytest.approx(np.log1p(np.minimum(rank, other)), abs=1e-6)
    assert mean == pytest.approx((np.log1p(rank) + np.log1p(other)) / 2.0, abs=1e-6)
    assert fused == pytest.approx(np.log(1.0 / (rank + 10.0) + 1.0 / (other + 10.0)), abs=1e-6)


def test_a_ridge_shrinks_towards_what_was_known_before() -> None:
    rng = np.random.default_rng(4)
    table = np.column_stack([np.ones(300), rng.normal(size=(300, 2))])
    label = (rng.random(300) < 1.0 / (1.0 + np.exp(-table @ [0.2, 1.0, -1.0]))).astype(np.float64)
    known = np.array([0.0, 3.0, 2.0])
    assert fit_logistic(table, label, 1e7, known)[0][1:] == pytest.approx(known[1:], abs=1e-3)
    free, held = fit_logistic(table, label, 1e-9)[0], fit_logistic(table, label, 1e-9, known)[0]
    assert held == pytest.approx(free, abs=1e-6)
    between = fit_logistic(table, label, 30.0, known)[0]
    assert free[1] < between[1] < known[1]
