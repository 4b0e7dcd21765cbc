"""A gallery searched in parts gives what it gives as a whole."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.neighbours import merge_neighbours, top_k
from tests.neighbours.test_exact import unit_vectors


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 60),
    n_distinct=st.sampled_from([None, 2, 5]),
    n_groups=st.integers(1, 60),
    k=st.integers(1, 30),
    one_per_group=st.booleans(),
    part=st.integers(1, 60),
)
@settings(max_examples=100)
def test_parts_merge_to_the_whole(
    seed: int, n: int, n_distinct: int | None, n_groups: int, k: int, one_per_group: bool, part: int
) -> None:
    rng = np.random.default_rng(seed)
    vectors = unit_vectors(rng, n, 6, n_distinct)
    groups = rng.integers(0, n_groups, n)
    options: dict[str, Any] = {"query_groups": groups[:7], "one_per_group": one_per_group}
    whole = top_k(vectors[:7], vectors, k, gallery_groups=groups, **options)
    starts = range(0, n, part)
    parts = [
        top_k(vectors[:7], vectors[start : start + part], k, gallery_groups=groups[start : start + part], **options)
        for start in starts
    ]
    merged = merge_neighbours(parts, starts, k, groups, one_per_group=one_per_group)
    np.testing.assert_array_equal(merged.indices, whole.indices)
    np.testing.assert_array_equal(merged.scores, whole.scores)
