"""How different generators are, and that a pool of one kind ranks nobody."""

import numpy as np
import polars as pl
import pytest

from likewise.evaluation.different_generators import can_rank, different_generators, no_rank_note

from .judging import random_pairs
from .test_gallery_negatives import several_images


def proposals_of(pairs: object, names: list[list[str]]) -> pl.DataFrame:
    rows = [
        (pairs.queries[q], pairs.gallery[c], name)  # type: ignore[attr-defined]
        for q, c, each in zip(pairs.query, pairs.candidate, names, strict=True)  # type: ignore[attr-defined]
        for name in each
    ]
    return pl.DataFrame(rows, schema=["query", "candidate", "generator"], orient="row")


def test_the_number_is_one_for_equal_generators_and_n_for_n_that_share_nothing(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=4, per_query=6)
    assert different_generators(pairs, proposals_of(pairs, [["a", "b"]] * 24)) == 1.0
    assert different_generators(pairs, proposals_of(pairs, [["a"], ["b"], ["c"]] * 8)) == 3.0
    assert different_generators(pairs, proposals_of(pairs, [["a"], ["a", "b"], ["b"]] * 8)) == pytest.approx(1.5)
    assert different_generators(pairs, proposals_of(pairs, [["random"]] * 24)) is None
    assert different_generators(pairs, proposals_of(pairs, [["a", "random"], ["b"]] * 12)) == 2.0


def test_two_images_of_one_item_are_one_proposal(rng: np.random.Generator) -> None:
    pairs = several_images(rng)
    first = {}
    names = []
    for q, item in zip(pairs.query, pairs.gallery_items[pairs.candidate], strict=True):
        names.append(["b" if (q, item) in first else "a"])
        first[q, item] = True
    assert {"b"} < {name for each in names for name in each}
    assert different_generators(pairs, proposals_of(pairs, names)) == 1.0  # b only repeats items of a


def test_where_nothing_is_known_models_are_ranked() -> None:
    assert can_rank(None) and can_rank(2.0) and not can_rank(1.99)
    assert no_rank_note(2.0) is None and no_rank_note(None) is None
    assert "1.4 times as many items" in (no_rank_note(1.4) or "")
