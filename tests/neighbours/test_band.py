"""The band between two ranks equals the same slice of a full exact ranking."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.neighbours import NO_INDEX, top_k, top_k_and_band

from .test_exact import unit_vectors


@given(
    seed=st.integers(0, 5000),
    n=st.integers(5, 200),
    n_distinct=st.sampled_from([None, 3, 40]),
    n_groups=st.sampled_from([1, 4, 50, 200]),
    first=st.integers(0, 60),
    width=st.integers(1, 140),
)
@settings(max_examples=120)
def test_band_is_a_slice_of_the_exact_ranking(
    seed: int, n: int, n_distinct: int | None, n_groups: int, first: int, width: int
) -> None:
    rng = np.random.default_rng(seed)
    gallery = unit_vectors(rng, n, 6, n_distinct)
    groups = rng.integers(0, n_groups, n)
    queries, own = gallery[:9], groups[:9]
    top, band = top_k_and_band(
        queries, gallery, 4, (first, first + width), query_groups=own, gallery_groups=groups, one_per_group=True
    )
    expected = top_k(queries, gallery, 4, query_groups=own, gallery_groups=groups, one_per_group=True)
    assert np.array_equal(top.indices, expected.indices)
    assert np.array_equal(top.scores, expected.scores, equal_nan=True)
    whole = top_k(queries, gallery, first + width, query_groups=own, gallery_groups=groups).indices
    for found, ranking in zip(band, whole, strict=True):
        assert sorted(found[found != NO_INDEX]) == sorted(row for row in ranking[first:] if row != NO_INDEX)


def test_the_same_band_whatever_the_batch(rng: np.random.Generator) -> None:
    gallery = unit_vectors(rng, 4000, 64, n_distinct=2500)
    groups = np.arange(4000) // 2
    whole = top_k_and_band(gallery[:300], gallery, 5, (100, 500), query_groups=groups[:300], gallery_groups=groups)[1]
    parts = [
        top_k_and_band(
            gallery[start : start + 37],
            gallery,
            5,
            (100, 500),
            query_groups=groups[start : start + 37],
            gallery_groups=groups,
        )[1]
        for start in range(0, 300, 37)
    ]
    assert np.array_equal(np.concatenate(parts)[:300], whole)
