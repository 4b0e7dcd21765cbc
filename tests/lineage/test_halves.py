"""Two halves of a catalog: no item and no picture in both, the same everywhere, and stable when it grows."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import LikewiseError
from likewise.lineage.halves import parse_half, select_half


def catalog(n_items: int, views: int = 2) -> pl.DataFrame:
    rows = [(f"{item}-{view}", f"item{item}", f"d{item}-{view}") for item in range(n_items) for view in range(views)]
    return pl.DataFrame(rows, schema=["image", "item", "digest"], orient="row")


def test_halves_share_nothing_and_miss_nothing() -> None:
    whole = catalog(400)
    train, test = (select_half(whole, half) for half in ("train", "test"))
    assert not set(train["item"]) & set(test["item"])
    assert len(train) + len(test) == len(whole)
    assert 160 <= train["item"].n_unique() <= 240  # 200 with a standard deviation of 10
    assert select_half(whole, None) is whole


def test_another_seed_is_another_division() -> None:
    whole = catalog(100)
    assert set(select_half(whole, "train")["item"]) == set(select_half(whole, "train:0")["item"])
    assert set(select_half(whole, "train")["item"]) != set(select_half(whole, "train:1")["item"])
    assert str(parse_half("test:7")) == "test:7" and str(parse_half("test:0")) == "test"


def test_items_keep_their_half_when_the_catalog_grows_or_is_shuffled() -> None:
    small, large = catalog(50), catalog(90).sample(fraction=1, shuffle=True, seed=1)
    known = set(small["item"])
    assert set(select_half(small, "train")["item"]) == set(select_half(large, "train")["item"]) & known


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=40))
def test_items_that_share_a_picture_are_in_one_half(shown: list[tuple[int, int]]) -> None:
    rows = [(f"{row}", f"item{item}", f"d{picture}") for row, (item, picture) in enumerate(shown)]
    whole = pl.DataFrame(rows, schema=["image", "item", "digest"], orient="row")
    for half, other in (("train", "test"), ("test", "train")):
        try:
            chosen = select_half(whole, half)
        except LikewiseError:
            continue
        rest = whole.join(chosen, on="image", how="anti")
        assert not set(chosen["digest"]) & set(rest["digest"])
        assert not set(chosen["item"]) & set(rest["item"])
        assert rest.is_empty() or rest.equals(select_half(whole, other))


def test_an_unknown_half_is_named() -> None:
    with pytest.raises(LikewiseError, match="there is no half 'both'"):
        select_half(catalog(3), "both")
