"""Search equals brute force in float64, whatever the batch, the ties and the groups."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.neighbours import NO_INDEX, as_unit, pair_scores, top_k


def unit_vectors(rng: np.random.Generator, n: int, dim: int, n_distinct: int | None = None) -> NDArray[np.float32]:
    """Random unit vectors; with `n_distinct`, drawn from so few that many are identical."""
    base = rng.standard_normal((n_distinct or n, dim))
    vectors = base[rng.integers(0, len(base), n)] if n_distinct else base
    unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


def brute_force(
    queries: NDArray[np.float32],
    gallery: NDArray[np.float32],
    k: int,
    query_groups: NDArray[np.int64],
    gallery_groups: NDArray[np.int64],
    one_per_group: bool,
) -> list[list[int]]:
    """Sort the whole gallery by (float64 score rounded to the grid's precision, row), one query at a time."""
    grid = 2.0**26
    left = [[int(x) for x in np.rint(row.astype(np.float64) * grid)] for row in queries]
    right = [[int(x) for x in np.rint(row.astype(np.float64) * grid)] for row in gallery]
    answer = []
    for query, own in zip(left, query_groups, strict=True):
        scored = sorted(
            (-sum(a * b for a, b in zip(query, candidate, strict=True)), row)  # Python integers: exact
            for row, candidate in enumerate(right)
            if gallery_groups[row] != own
        )
        listed: list[int] = []
        seen: set[int] = set()
        for _, row in scored:
            if not one_per_group or gallery_groups[row] not in seen:
                listed.append(row)
                seen.add(int(gallery_groups[row]))
        answer.append((listed + [NO_INDEX] * k)[:k])
    return answer


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 60),
    n_distinct=st.sampled_from([None, 2, 5]),
    n_groups=st.integers(1, 60),
    k=st.integers(1, 70),
    one_per_group=st.booleans(),
    block=st.sampled_from([1, 3, 64]),
)
@settings(max_examples=120)
def test_equals_brute_force(
    seed: int, n: int, n_distinct: int | None, n_groups: int, k: int, one_per_group: bool, block: int
) -> None:
    rng = np.random.default_rng(seed)
    gallery = unit_vectors(rng, n, 8, n_distinct)
    query_rows = rng.choice(n, size=min(n, 7), replace=False)
    groups = rng.integers(0, n_groups, n)
    found = top_k(
        gallery[query_rows],
        gallery,
        k,
        query_groups=groups[query_rows],
        gallery_groups=groups,
        one_per_group=one_per_group,
        block_queries=block,
    )
    expected = brute_force(gallery[query_rows], gallery, k, groups[query_rows], groups, one_per_group)
    assert found.indices.tolist() == expected
    listed = found.indices != NO_INDEX
    assert np.isnan(found.scores[~listed]).all()
    query, place = np.nonzero(listed)
    exact = np.einsum(
        "nd,nd->n",
        gallery[query_rows][query].astype(np.float64),
        gallery[found.indices[query, place]].astype(np.float64),
    )
    np.testing.assert_allclose(found.scores[query, place], exact, atol=1e-7)


def test_order_and_scores_do_not_depend_on_the_batch(rng: np.random.Generator) -> None:
    gallery = unit_vectors(rng, 3000, 96, n_distinct=900)
    queries = gallery[:200]
    groups = np.arange(3000) // 3
    runs = [
        top_k(queries, gallery, 50, query_groups=groups[:200], gallery_groups=groups, block_queries=block)
        for block in (1, 7, 64, 4096)
    ]
    for run in runs[1:]:
        assert np.array_equal(run.indices, runs[0].indices)
        assert np.array_equal(run.scores, runs[0].scores)  # bit for bit


def test_identical_vectors_get_identical_scores_and_key_order(rng: np.random.Generator) -> None:
    gallery = np.repeat(unit_vectors(rng, 1, 333), 500, axis=0)
    found = top_k(unit_vectors(rng, 4, 333), gallery, 10)
    assert found.indices.tolist() == [list(range(10))] * 4
    assert (found.scores == found.scores[:, :1]).all()


def test_same_item_candidates_are_excluded_by_id_not_by_rank(rng: np.random.Generator) -> None:
    """The query's twin in another item ranks first; its own images, however many, never appear."""
    gallery = unit_vectors(rng, 300, 16)
    gallery[10] = gallery[0]
    items = np.arange(300)
    items[100:250] = items[0]  # an item of 151 images, more than any fetched surplus
    found = top_k(gallery[:1], gallery, 200, query_groups=items[:1], gallery_groups=items)
    assert found.indices[0, 0] == 10
    assert not set(found.indices[0].tolist()) & ({0} | set(range(100, 250)))
    assert (found.indices[0] != NO_INDEX).sum() == 300 - 151


def test_queries_may_be_another_set(rng: np.random.Generator) -> None:
    gallery, queries = unit_vectors(rng, 50, 12), unit_vectors(rng, 5, 12)
    found = top_k(queries, gallery, 3)
    expected = np.argsort(-(queries.astype(np.float64) @ gallery.astype(np.float64).T), axis=1)[:, :3]
    assert np.array_equal(found.indices, expected)


def test_pair_scores_equal_the_scores_of_search(rng: np.random.Generator) -> None:
    gallery = unit_vectors(rng, 400, 77)
    found = top_k(gallery[:30], gallery, 20)
    query, place = np.nonzero(found.indices != NO_INDEX)
    scores = pair_scores(gallery[:30], gallery, query, found.indices[query, place])
    assert np.array_equal(scores, found.scores[query, place])


def test_vectors_are_brought_to_unit_length(rng: np.random.Generator) -> None:
    vectors = rng.standard_normal((20, 6)).astype(np.float32)
    assert np.array_equal(top_k(vectors * 7, vectors * 3, 5).indices, top_k(vectors, vectors, 5).indices)
    unit = as_unit(vectors)
    assert as_unit(unit) is unit  # no copy of what already fits
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-6)


def test_mistakes_are_said_in_one_sentence(rng: np.random.Generator) -> None:
    vectors = unit_vectors(rng, 5, 4)
    with pytest.raises(LikewiseError, match="k must be at least 1"):
        top_k(vectors, vectors, 0)
    with pytest.raises(LikewiseError, match="4 dimensions, the gallery 3"):
        top_k(vectors, vectors[:, :3], 1)
    broken = vectors.copy()
    broken[2, 1] = np.nan
    with pytest.raises(LikewiseError, match="gallery vectors: row 2 holds NaN"):
        top_k(vectors, broken, 1)
