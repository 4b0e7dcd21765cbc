"""Graded similarity: symmetric, 1 to itself, falling with every change, with the promised number of similar items."""

import numpy as np
import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.synthetic import (
    ATTRIBUTE_NAMES,
    ATTRIBUTES_OF,
    BASE_WEIGHTS,
    CATEGORIES,
    SIMILAR_AT,
    VALUES_OF,
    component_names,
    make_items,
    similarity,
    similarity_components,
)


def _all_pairs(items: pl.DataFrame) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    rows, cols = np.divmod(np.arange(len(items) ** 2), len(items))
    return similarity(items, rows, cols).reshape(len(items), len(items))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_item_has_about_ten_truly_similar_others(seed: int) -> None:
    items = make_items(600, seed)
    scores = _all_pairs(items)
    assert scores.min() >= 0 and scores.max() <= 1
    np.testing.assert_array_equal(scores, scores.T)
    np.testing.assert_allclose(np.diag(scores), 1, atol=1e-6)
    similar = (scores >= SIMILAR_AT) & ~np.eye(len(items), dtype=bool)
    counts = similar.sum(axis=1)
    assert 8 <= np.median(counts) <= 12
    assert (counts == 0).mean() < 0.05
    category = items["category"].to_numpy()
    assert similar[category[:, None] != category[None]].sum() <= 0.02 * similar.sum()


@pytest.mark.parametrize("category", CATEGORIES)
def test_similarity_falls_with_every_changed_attribute(category: str) -> None:
    base = make_items(20, 0).filter(pl.col("category") == category).row(0, named=True)
    rows = [base]
    for name in ATTRIBUTES_OF[category]:
        rows += [base | {name: value} for value in VALUES_OF[category][name] if value != base[name]]
    items = pl.DataFrame(rows, schema=dict.fromkeys(["category", *ATTRIBUTE_NAMES], pl.String))
    others = np.arange(1, len(rows))
    assert similarity(items, np.zeros_like(others), others).max() < 0.995


def test_near_colours_are_more_similar_than_far_ones() -> None:
    base = make_items(20, 0).row(0, named=True)
    rows = [base | {"colour": colour} for colour in ("navy", "blue", "yellow")]
    near, far = similarity(pl.DataFrame(rows), np.array([0, 0]), np.array([1, 2]))
    assert near > far + 0.02


def test_kin_categories_are_closer_than_strangers() -> None:
    items = make_items(600, 0)
    scores = _all_pairs(items)
    category = items["category"].to_numpy()

    def mean(a: str, b: str) -> float:
        return float(scores[np.ix_(category == a, category == b)].mean())

    assert mean("skirts", "skirts") > mean("skirts", "dresses") > mean("skirts", "watches")
    assert mean("necklaces", "bracelets") > mean("necklaces", "pants")


def test_components_rebuild_the_similarity_of_two_patterned_items() -> None:
    items = make_items(200, 0).filter(pl.col("pattern") != "solid")
    rows, cols = np.array([0, 3, 5]), np.array([1, 9, 40])
    parts = similarity_components(items, rows, cols)
    assert parts.shape == (len(component_names()), 3)
    weights = np.array(list(BASE_WEIGHTS.values()))[1:, None]
    applies = ~np.isnan(parts[1:])
    mean = np.where(applies, weights * np.nan_to_num(parts[1:]), 0).sum(axis=0) / (weights * applies).sum(axis=0)
    np.testing.assert_allclose(similarity(items, rows, cols), parts[0] * mean, rtol=1e-5)


def test_people_differ_by_their_weights() -> None:
    base = make_items(20, 0).row(0, named=True)
    items = pl.DataFrame([base, base | {"colour": "yellow" if base["colour"] != "yellow" else "navy"}])
    pair = np.array([0]), np.array([1])
    blind, painter = similarity(items, *pair, {"colour": 0.0}), similarity(items, *pair, {"colour": 30.0})
    assert blind[0] == pytest.approx(1)
    assert painter[0] < similarity(items, *pair)[0] < blind[0]


def test_mistakes_are_explained() -> None:
    items = make_items(20, 0)
    one = np.array([0])
    with pytest.raises(LikewiseError, match="unknown component 'smell'"):
        similarity(items, one, one, {"smell": 1.0})
    with pytest.raises(LikewiseError, match="negative"):
        similarity(items, one, one, {"colour": -1.0})
    with pytest.raises(LikewiseError, match="no column 'pattern'"):
        similarity(items.drop("pattern"), one, one)
    with pytest.raises(LikewiseError, match="'mauve'"):
        similarity(items.with_columns(colour=pl.lit("mauve")), one, one)
    with pytest.raises(LikewiseError, match="1 rows and 2 columns"):
        similarity(items, one, np.array([0, 1]))
