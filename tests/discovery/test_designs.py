"""Drawing pairs: sizes and inclusion probabilities are what they are said to be."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.discovery.designs.drawing import (
    PairWeights,
    UnlistedPairs,
    draw_pairs,
    inclusion_probabilities,
    split_evenly,
)
from likewise.discovery.designs.sampled import (
    CERTAIN_RANKS,
    LEADING_FLOOR,
    band_weight,
    combine_lists,
    first_round_pair_weights,
    ranked_weights,
    sampled_weights,
)
from likewise.errors import LikewiseError

N_QUERIES, N_GALLERY = 3, 40


def unequal_weights(seed: int) -> tuple[PairWeights, UnlistedPairs]:
    """Each query lists 12 candidates of unequal weight; item 0 is the first query's own, and so on."""
    rng = np.random.default_rng(seed)
    candidates = [np.sort(rng.choice(np.arange(5, N_GALLERY), 12, replace=False)) for _ in range(N_QUERIES)]
    query, candidate = np.repeat(np.arange(N_QUERIES), 12), np.concatenate(candidates)
    unlisted = UnlistedPairs(query, candidate, np.arange(N_QUERIES), np.arange(N_GALLERY))
    weight = rng.exponential(size=len(query)) ** 2 + 0.01
    return PairWeights(query, candidate, weight, unlisted.sizes(), np.full(N_QUERIES, 0.1)), unlisted


@given(seed=st.integers(0, 1000), n_pairs=st.integers(3, 110))
@settings(max_examples=60)
def test_probabilities_sum_to_the_size_and_follow_the_weights(seed: int, n_pairs: int) -> None:
    pairs, unlisted = unequal_weights(seed)
    sizes = split_evenly(n_pairs, unlisted.sizes() + 12, np.random.default_rng(seed))
    assert sizes.sum() == n_pairs
    assert sizes.max() - sizes.min() <= 1
    found = inclusion_probabilities(pairs, sizes)
    assert (found.listed > 0).all()
    assert (found.listed <= 1).all()
    total = np.bincount(pairs.query, found.listed) + found.tail * pairs.tail_size
    np.testing.assert_allclose(total, sizes)
    for query in range(N_QUERIES):
        mine = pairs.query == query
        ratio = found.listed[mine] / pairs.weight[mine]
        open_ratio = ratio[found.listed[mine] < 1]
        assert np.ptp(open_ratio) < 1e-9 if len(open_ratio) else True
        assert (np.diff(found.listed[mine][np.argsort(pairs.weight[mine])]) >= -1e-12).all()


def test_pairs_are_drawn_as_often_as_said() -> None:
    """2,000 draws: every pair, listed or in the tail, is drawn with its probability, to four standard errors."""
    pairs, unlisted = unequal_weights(1)
    sizes = np.array([6, 7, 12])
    said = inclusion_probabilities(pairs, sizes)
    expected = np.zeros((N_QUERIES, N_GALLERY))
    for query in range(N_QUERIES):
        free = np.arange(N_GALLERY) != query
        expected[query, free] = said.tail[query]
    expected[pairs.query, pairs.candidate] = said.listed
    times, counts = 2_000, np.zeros((N_QUERIES, N_GALLERY))
    rng = np.random.default_rng(0)
    for _ in range(times):
        drawn = draw_pairs(pairs, inclusion_probabilities(pairs, sizes), unlisted, rng)
        assert np.bincount(drawn.query).tolist() == sizes.tolist()
        assert len(set(zip(drawn.query.tolist(), drawn.candidate.tolist(), strict=True))) == sizes.sum()
        assert np.array_equal(drawn.probability, expected[drawn.query, drawn.candidate])
        counts[drawn.query, drawn.candidate] += 1
    error = 4 * np.sqrt(times * expected * (1 - expected))
    assert (np.abs(counts - times * expected) <= error + 1e-9).all()


def test_the_same_seed_draws_the_same_pairs() -> None:
    pairs, unlisted = unequal_weights(2)
    sizes = np.array([5, 5, 5])
    one, two, other = (
        draw_pairs(pairs, inclusion_probabilities(pairs, sizes), unlisted, np.random.default_rng(seed))
        for seed in (7, 7, 8)
    )
    assert np.array_equal(one.candidate, two.candidate)
    assert not np.array_equal(one.candidate, other.candidate)


def test_everything_can_be_drawn() -> None:
    pairs, unlisted = unequal_weights(3)
    available = unlisted.sizes() + 12
    drawn = draw_pairs(pairs, inclusion_probabilities(pairs, available), unlisted, np.random.default_rng(0))
    assert len(drawn) == available.sum() == N_QUERIES * (N_GALLERY - 1)
    assert (drawn.probability == 1.0).all()
    with pytest.raises(LikewiseError, match="query 0 has 39 pairs, but 40"):
        draw_pairs(pairs, inclusion_probabilities(pairs, available + 1), unlisted, np.random.default_rng(0))


def test_a_design_without_a_floor_is_refused() -> None:
    pairs, unlisted = unequal_weights(4)
    for broken in (
        replace(pairs, weight=np.where(pairs.candidate < 20, 0.0, 1.0)),
        replace(pairs, tail_weight=np.zeros(N_QUERIES)),
    ):
        with pytest.raises(LikewiseError, match="a design needs a floor"):
            draw_pairs(broken, inclusion_probabilities(broken, np.array([5, 5, 5])), unlisted, np.random.default_rng(0))


def test_the_sampled_design_draws_first_candidates_for_certain_and_leaves_nothing_out() -> None:
    rng = np.random.default_rng(0)
    n_queries, n_gallery, depth = 8, 300, 40
    items = np.arange(n_gallery)
    lists = [np.stack([rng.permutation(np.arange(10, n_gallery))[:depth] for _ in range(n_queries)]) for _ in range(3)]
    sizes = np.full(n_queries, 25)
    pairs, _ = sampled_weights(lists, np.arange(n_queries), items, sizes)
    said = inclusion_probabilities(pairs, sizes)
    heads = [query * n_gallery + one[query, 0] for one in lists for query in range(n_queries)]
    first = np.isin(pairs.query * n_gallery + pairs.candidate, heads)
    assert CERTAIN_RANKS == 1
    assert (said.listed[first] == 1.0).all()
    assert (said.listed[~first] < 1.0).all()
    assert (said.tail > 0.1 * 25 * 0.5 / n_gallery).all()  # a tenth of the labels is spread over everything
    assert (np.diff(band_weight(np.arange(500))) <= 0).all()
    few = sampled_weights(lists, np.arange(n_queries), items, np.full(n_queries, 4))[0]
    assert np.isfinite(few.weight).all()  # four labels are too few to always draw three first candidates


def test_a_first_round_for_finding_goes_to_the_best_joint_ranks_and_keeps_a_floor() -> None:
    """Lists that agree at their top: most labels go there, and no pair has less than a share of the sampled design."""
    rng = np.random.default_rng(1)
    n_queries, n_gallery, depth, size = 6, 200, 30, 8
    items, queries = np.arange(n_gallery), np.arange(n_queries)
    one = np.stack([rng.permutation(np.arange(10, n_gallery))[:depth] for _ in queries])
    other = one.copy()
    other[:, 5:] = np.stack([rng.permutation(one[row, 5:]) for row in queries])
    sizes = np.full(n_queries, size)
    pairs, unlisted = first_round_pair_weights([one, other], queries, items)
    found = inclusion_probabilities(pairs, sizes)
    np.testing.assert_allclose(np.bincount(pairs.query, found.listed) + found.tail * pairs.tail_size, size)
    agreed = np.isin(pairs.query * n_gallery + pairs.candidate, queries[:, None] * n_gallery + one[:, :5])
    sampled, _ = sampled_weights([one, other], queries, items, sizes)
    assert found.listed[agreed].sum() > 1.3 * inclusion_probabilities(sampled, sizes).listed[agreed].sum()
    ranked = combine_lists([one, other], n_gallery)
    base, tail = ranked_weights(ranked, [one, other], unlisted.sizes(), n_gallery)
    total = np.bincount(ranked.query, base) + tail * unlisted.sizes()
    assert (found.tail >= LEADING_FLOOR * size * tail / total * (1.0 - 1e-9)).all()
    assert (found.listed >= np.minimum(1.0, LEADING_FLOOR * size * (base / total[ranked.query])) * (1 - 1e-9)).all()
