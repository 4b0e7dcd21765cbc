"""The rules of a valid outfit, and a generator that never breaks one."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import LikewiseError
from likewise.outfits.category_mapping import categorize_items, map_category
from likewise.outfits.generate import check_outfits, sample_outfits
from likewise.outfits.rules import CATEGORIES, broken_rules
from likewise.synthetic import CATEGORIES as DRAWN


def shop(sizes: dict[str, int]) -> pl.DataFrame:
    names = [(f"{category}-{n}", category) for category, size in sizes.items() for n in range(size)]
    table = pl.DataFrame(names, schema={"item": pl.String, "category": pl.String}, orient="row")
    return table.with_columns((pl.col("item") + ".jpg").alias("image"))


def valid_by_words(categories: list[str]) -> bool:
    """The rules read from the paper's sentences, category by category, without the room's own code."""
    n = {name: categories.count(name) for name in CATEGORIES}
    lower = n["skirts"] + n["pants"] + n["dresses"] + n["jumpsuits"]
    one_piece = n["dresses"] + n["jumpsuits"] > 0
    covered = one_piece or (n["tops"] > 0 and n["skirts"] + n["pants"] > 0)
    return 2 <= len(categories) <= 8 and n["shoes"] == 1 and covered and lower == 1 and max(n.values()) <= 1


def test_the_twenty_categories_are_the_wardrobes() -> None:
    assert len(CATEGORIES) == 20
    assert set(CATEGORIES) == set(DRAWN)


@given(st.lists(st.sampled_from(CATEGORIES), max_size=10))
def test_an_outfit_is_refused_exactly_when_the_paper_refuses_it(categories: list[str]) -> None:
    assert (broken_rules(categories) == []) == valid_by_words(categories)


def test_every_refusal_says_why() -> None:
    assert broken_rules(["tops", "skirts", "shoes"]) == []
    assert broken_rules(["tops", "dresses", "shoes"]) == []
    assert "shoes" in broken_rules(["dresses", "bags"])[0]
    assert "not covered" in broken_rules(["tops", "shoes"])[0]
    assert "exclude" in broken_rules(["tops", "skirts", "pants", "shoes"])[0]
    assert broken_rules(["dresses", "shoes", "bags", "bags"]) == ["at most one bag"]
    with pytest.raises(LikewiseError, match="lipstick"):
        broken_rules(["lipstick", "shoes"])


def possible(there: set[str]) -> bool:
    """Brute force: some set of these categories is an outfit; more than four are never needed for one."""
    small = (list(some) for size in range(2, 5) for some in combinations(sorted(there), size))
    return any(valid_by_words(some) for some in small)


@settings(max_examples=120)
@given(
    st.dictionaries(st.sampled_from(CATEGORIES), st.integers(1, 4), min_size=1),
    st.integers(1, 40),
    st.integers(0, 1000),
)
def test_generated_outfits_keep_every_rule_whatever_the_catalog_lacks(
    sizes: dict[str, int], n_outfits: int, seed: int
) -> None:
    items = shop(sizes)
    try:
        made = sample_outfits(items, n_outfits, seed=seed)
    except LikewiseError as error:
        none_at_all, too_few = "no valid outfit is possible" in str(error), "only" in str(error)
        assert none_at_all == (not possible(set(sizes)))
        assert none_at_all or too_few
        return
    assert possible(set(sizes))
    worn = made.table.group_by("outfit").agg("category", "item", "position")
    assert len(worn) == made.report.n_verified == n_outfits
    for categories, items_by_name, positions in worn.select("category", "item", "position").iter_rows():
        assert valid_by_words(categories)
        assert len(set(items_by_name)) == len(items_by_name)
        assert sorted(positions) == list(range(1, len(items_by_name) + 1))
    assert len({tuple(sorted(items_by_name)) for items_by_name in worn["item"]}) == n_outfits


def test_one_seed_gives_one_file_and_every_category_and_length_turns_up() -> None:
    items = shop(dict.fromkeys(CATEGORIES, 9))
    first, again = sample_outfits(items, 3000, seed=4), sample_outfits(items, 3000, seed=4)
    assert first.table.equals(again.table)
    assert not first.table.equals(sample_outfits(items, 3000, seed=5).table)
    assert set(first.report.lengths) == set("2345678")
    assert all(about.share_of_outfits > 0.1 for about in first.report.categories.values())
    longer = np.array([first.report.lengths[str(length)] for length in range(3, 9)])
    assert longer.min() > 0.8 * longer.mean()  # lengths are drawn evenly; there are few outfits of two


def test_outwear_first_never_leaves_the_body_uncovered() -> None:
    items = shop({"outwear": 50, "shoes": 3, "dresses": 1, "bags": 2})
    made = sample_outfits(items, 200, seed=0)
    worn = made.table.group_by("outfit").agg("category")["category"].to_list()
    assert any("outwear" in categories for categories in worn)
    assert all("dresses" in categories for categories in worn)


def test_impossible_catalogs_are_told_so() -> None:
    for sizes, why in (
        ({"dresses": 5}, "no shoes"),
        ({"shoes": 5, "tops": 5, "bags": 2}, "neither a one-piece"),
        ({"shoes": 1, "dresses": 1}, "only 1 different"),
    ):
        with pytest.raises(LikewiseError, match=why):
            sample_outfits(shop(sizes), 2)
    with pytest.raises(LikewiseError, match="no outfit of 6 to 8 items"):
        sample_outfits(shop({"shoes": 1, "dresses": 1}), 1, min_items=6)


def test_a_table_of_outfits_is_checked_with_reasons() -> None:
    rows = [("a", "dresses"), ("a", "shoes"), ("b", "tops"), ("b", "shoes"), ("c", "soap"), ("c", "shoes")]
    table = pl.DataFrame(rows, schema=["outfit", "category"], orient="row")
    checked = {name: reasons for name, _, reasons in check_outfits(table).iter_rows()}
    assert checked["a"] == ""
    assert "not covered" in checked["b"]
    assert "none of the twenty" in checked["c"]


def test_shop_words_are_sorted_into_the_twenty() -> None:
    words = {
        "Ankle Booties": "shoes",
        "T-Shirt": "tops",
        "Day Dresses": "dresses",
        "Shorts": "pants",
        "Hair wear": None,
    }
    assert {word: map_category(word) for word in words} == words | {"Hair wear": "hair wear"}
    assert map_category("Lipstick") is None
    assert map_category("Lipstick", {"Lipstick": "bags"}) == "bags"
    catalog = pl.DataFrame({"item": ["a", "a", "b"], "image": ["1", "2", "3"], "category": ["Skirt", "Skirt", "Lamp"]})
    kept, left_out = categorize_items(catalog)
    assert kept.rows() == [("a", "1", "skirts")]
    assert left_out.rows() == [("Lamp", 1)]
