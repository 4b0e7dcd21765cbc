"""The pool: what it contains, what it never contains, and what happens when money is short."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.discovery import (
    RANDOM,
    QueryGallery,
    draw_random_pairs,
    pairs_to_label,
    pool_pairs,
    propose_pairs,
    sample_queries,
)
from likewise.discovery.pool import apply_budget
from likewise.errors import LikewiseError


def catalog_of(n_items: int, views: int) -> pl.DataFrame:
    rows = [(f"i{item:03}-{view}", f"i{item:03}", f"cat{item % 3}") for item in range(n_items) for view in range(views)]
    return pl.DataFrame(rows, schema=["image", "item", "category"], orient="row")


def vectors_of(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, 6)).astype(np.float32)


@given(seed=st.integers(0, 1000), views=st.integers(1, 3), k=st.integers(1, 5), one_per_item=st.booleans())
@settings(max_examples=40)
def test_proposals_equal_brute_force(seed: int, views: int, k: int, one_per_item: bool) -> None:
    catalog = catalog_of(8, views)
    images = catalog["image"].to_list()
    item = dict(catalog.select("image", "item").iter_rows())
    query_gallery = QueryGallery.from_catalog(catalog, images[::5], images)
    vectors = vectors_of(len(images), seed)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = propose_pairs("m", query_gallery, vectors[::5], vectors, k, one_per_item=one_per_item)
    for query in query_gallery.queries:
        others = [image for image in images if item[image] != item[query]]
        others.sort(key=lambda image: (-float(vectors[images.index(query)] @ vectors[images.index(image)]), image))
        if one_per_item:
            others = [image for n, image in enumerate(others) if item[image] not in {item[o] for o in others[:n]}]
        mine = rows.filter(pl.col("query") == query).sort("rank")
        assert mine["candidate"].to_list() == others[:k]
        assert mine["rank"].to_list() == list(range(len(others[:k])))


def test_a_pair_from_two_generators_keeps_both() -> None:
    catalog = catalog_of(6, 1)
    images = catalog["image"].to_list()
    query_gallery = QueryGallery.from_catalog(catalog, images[:2], images)
    vectors = vectors_of(6, 0)
    pool = pl.concat([propose_pairs(name, query_gallery, vectors[:2], vectors, 3) for name in ("a", "b")])
    assert len(pool) == 12
    assert pool_pairs(pool)["n_generators"].to_list() == [2] * 6
    with pytest.raises(LikewiseError, match="cannot be called 'random'"):
        propose_pairs(RANDOM, query_gallery, vectors[:2], vectors, 3)


def test_random_pairs_are_uniform_admissible_distinct_and_seeded() -> None:
    catalog = catalog_of(5, 2)
    images = catalog["image"].to_list()
    query_gallery = QueryGallery.from_catalog(catalog, images[:4], images)
    item = dict(catalog.select("image", "item").iter_rows())
    assert query_gallery.n_pairs == sum(item[q] != item[c] for q in images[:4] for c in images)
    assert query_gallery.n_item_pairs == 4 * 5 - 4
    every = draw_random_pairs(query_gallery, 10_000, seed=1, unit="images")
    assert len(every) == query_gallery.n_pairs == every.select("query", "candidate").unique().height
    assert all(item[q] != item[c] for q, c in every.select("query", "candidate").iter_rows())
    some = draw_random_pairs(query_gallery, 7, seed=1)
    assert len(some) == 7
    assert some.equals(draw_random_pairs(query_gallery, 7, seed=1))
    counts: dict[tuple[str, str], int] = {}
    for seed in range(400):
        for pair in draw_random_pairs(query_gallery, 4, seed, "images").select("query", "candidate").iter_rows():
            counts[pair] = counts.get(pair, 0) + 1
    expected = 400 * 4 / query_gallery.n_pairs
    assert set(counts) == set(every.select("query", "candidate").rows())
    assert max(abs(count - expected) for count in counts.values()) < 4.5 * np.sqrt(expected)


def test_random_pairs_of_items_are_uniform_however_many_images_an_item_has() -> None:
    images = [f"{item}-{view}.jpg" for item, views in (("a", 1), ("b", 5), ("c", 2)) for view in range(views)]
    catalog = pl.DataFrame({"image": images, "item": [image[0] for image in images]})
    query_gallery = QueryGallery.from_catalog(catalog, ["b-0.jpg"], images)
    every = draw_random_pairs(query_gallery, 100, seed=0)
    assert sorted(image[0] for image in every["candidate"]) == ["a", "c"] and query_gallery.n_item_pairs == 2
    drawn = [draw_random_pairs(query_gallery, 1, seed)["candidate"][0] for seed in range(400)]
    assert abs(sum(image[0] == "a" for image in drawn) - 200) < 4.5 * np.sqrt(100)
    shown = sum(image == "c-0.jpg" for image in drawn)
    assert abs(shown - 100) < 4.5 * np.sqrt(75)


def test_pairs_are_counted_by_item_or_by_image() -> None:
    catalog = catalog_of(5, 2)
    images = catalog["image"].to_list()
    query_gallery = QueryGallery.from_catalog(catalog, images[:4], images)
    pairs = pl.DataFrame({"query": [images[0]] * 3, "candidate": [images[4], images[5], images[6]], "label": [0, 1, 0]})
    by_item, by_image = query_gallery.counter("items"), query_gallery.counter("images")
    assert by_item.distinct(pairs)["label"].to_list() == [1, 0]  # two images of one item, similar in one of them
    assert by_image.distinct(pairs)["label"].to_list() == [0, 1, 0]
    assert (by_item.n_all_pairs, by_image.n_all_pairs) == (query_gallery.n_item_pairs, query_gallery.n_pairs)


def test_budgets_keep_the_best_ranks_and_whole_pairs() -> None:
    catalog = catalog_of(30, 1)
    images = catalog["image"].to_list()
    query_gallery = QueryGallery.from_catalog(catalog, images[:4], images)
    pool = pl.concat(
        [
            propose_pairs(name, query_gallery, vectors_of(4, seed), vectors_of(30, seed), 5)
            for seed, name in enumerate("abc")
        ]
    )
    pool = pl.concat([pool, draw_random_pairs(query_gallery, 5, 0)])
    cut = apply_budget(pool, 0, per_query=4, total=None)
    assert pool_pairs(cut).group_by("query").len()["len"].to_list() == [4] * 4
    kept, dropped = pool_pairs(cut), pool_pairs(pool).join(pool_pairs(cut), on=["query", "candidate"], how="anti")
    for query in query_gallery.queries:
        worst_kept = kept.filter(pl.col("query") == query)["best_rank"].max()
        best_dropped = dropped.filter(pl.col("query") == query)["best_rank"].min()
        assert worst_kept <= best_dropped  # type: ignore[operator]
    assert (
        apply_budget(pool, 0, per_query=None, total=9)
        .filter(pl.col("generator") != RANDOM)
        .select("query", "candidate")
        .unique()
        .height
        == 9
    )
    assert cut.filter(pl.col("generator") == RANDOM).height == 5
    assert pairs_to_label(cut).height <= 16 + 5
    both = pool.join(kept, on=["query", "candidate"], how="semi").filter(pl.col("generator") != RANDOM)
    assert cut.filter(pl.col("generator") != RANDOM).height == both.height
    with pytest.raises(LikewiseError, match="leaves nothing to label"):
        apply_budget(pool, 0, per_query=0, total=None)


def test_queries_are_seeded_one_per_item_and_by_category() -> None:
    catalog = catalog_of(30, 3)
    chosen = sample_queries(catalog, 12, seed=5)
    assert chosen == sample_queries(catalog, 12, seed=5) != sample_queries(catalog, 12, seed=6)
    item = dict(catalog.select("image", "item").iter_rows())
    assert len({item[image] for image in chosen}) == 12
    category = dict(catalog.select("image", "category").iter_rows())
    even = [category[image] for image in sample_queries(catalog, 12, seed=5, by_category=True)]
    assert sorted(even.count(name) for name in set(even)) == [4, 4, 4]
    assert len(sample_queries(catalog, 1000, seed=0)) == 30
    with pytest.raises(LikewiseError, match="at least 1"):
        sample_queries(catalog, 0, seed=0)
