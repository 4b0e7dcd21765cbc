"""Compatibility of outfits: in [0, 1], one dimension per question, and a matter of taste."""

from dataclasses import asdict

import numpy as np
import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.synthetic import (
    BASE_TASTE,
    DIMENSIONS,
    Taste,
    compatibility,
    compatibility_many,
    make_items,
    sample_taste,
)

ITEMS = make_items(400, 0)


def _outfits(count: int, rng: np.random.Generator) -> list[list[int]]:
    return [rng.choice(len(ITEMS), size=int(rng.integers(2, 9)), replace=False).tolist() for _ in range(count)]


def test_scores_are_shares_and_the_batch_equals_one_by_one() -> None:
    outfits = _outfits(60, np.random.default_rng(0))
    table = compatibility_many(ITEMS, outfits)
    assert table.columns == [*DIMENSIONS, "overall"]
    values = table.to_numpy()
    assert values.min() >= 0 and values.max() <= 1
    assert (values.std(axis=0) > 0.02).all()
    for outfit, row in zip(outfits, table.iter_rows(named=True), strict=True):
        assert asdict(compatibility(ITEMS, outfit)) == pytest.approx(row)


def test_order_of_items_does_not_matter() -> None:
    outfit = [3, 90, 150, 222]
    assert asdict(compatibility(ITEMS, outfit)) == pytest.approx(asdict(compatibility(ITEMS, outfit[::-1])))


@pytest.mark.parametrize(
    ("attribute", "values", "dimension"),
    [
        ("colour", ("red", "green", "black", "yellow"), "color"),
        ("second_colour", ("red", "green", "black", "yellow"), "color"),
        ("style", ("modern", "rock", "sweet"), "style"),
        ("occasion", ("formal", "outdoor", "casual"), "occasion"),
        ("season", ("summer", "winter", "spring"), "season"),
        ("material", ("cotton", "satin", "leather"), "material"),
        ("pattern", ("leopard", "solid", "checks"), "material"),
        ("silhouette", ("fitted", "oversized"), "balance"),
        ("length", ("short", "medium", "long"), "balance"),
    ],
)
def test_an_attribute_moves_its_own_dimension_only(attribute: str, values: tuple[str, ...], dimension: str) -> None:
    category = ITEMS["category"].to_list()
    outfit = [category.index(name) for name in ("tops", "skirts", "shoes")]
    clash = {"colour": "orange", "style": "boho", "occasion": "casual", "season": "autumn", "pattern": "floral"}
    base = [ITEMS.row(row, named=True) | clash for row in outfit]
    scores = []
    for value in values:
        changed = [base[0] | {attribute: value}, *base[1:]]
        scores.append(asdict(compatibility(pl.DataFrame(changed, schema=ITEMS.schema), [0, 1, 2])))
    for name in DIMENSIONS:
        seen = {round(score[name], 6) for score in scores}
        assert (len(seen) > 1) == (name == dimension), name
    assert len({round(score["overall"], 6) for score in scores}) > 1


def test_what_people_say_about_colour() -> None:
    base = ITEMS.row(0, named=True) | {"second_colour": "black"}

    def color(a: str, b: str) -> float:
        return compatibility(pl.DataFrame([base | {"colour": a}, base | {"colour": b}]), [0, 1]).color

    assert color("red", "red") > color("red", "burgundy") > color("red", "green") - 0.3
    assert color("black", "red") > color("purple", "orange")
    assert color("navy", "white") > color("pink", "olive")


def test_one_bad_dimension_spoils_the_outfit() -> None:
    base = ITEMS.row(0, named=True)
    good = compatibility(pl.DataFrame([base, base]), [0, 1])
    bad = compatibility(pl.DataFrame([base | {"occasion": "formal"}, base | {"occasion": "outdoor"}]), [0, 1])
    assert bad.overall < good.overall - 0.15


def test_tastes_differ() -> None:
    table = compatibility_many(ITEMS, _outfits(300, np.random.default_rng(1)))
    rng = np.random.default_rng(2)
    people = [sample_taste(rng) for _ in range(12)]
    ratings = np.stack([person.rate(table, rng) for person in people])
    assert ratings.min() >= 0 and ratings.max() <= 1
    between = np.asarray(np.corrcoef(ratings))[np.triu_indices(12, 1)]
    assert 0.5 < between.mean() < 0.98
    np.testing.assert_allclose(Taste(BASE_TASTE, 0.0).rate(table, rng), table["overall"].to_numpy())
    assert sample_taste(np.random.default_rng(5)) == sample_taste(np.random.default_rng(5))


def test_mistakes_are_explained() -> None:
    with pytest.raises(LikewiseError, match="at least one item"):
        compatibility(ITEMS, [])
    with pytest.raises(LikewiseError, match="400 items"):
        compatibility(ITEMS, [0, 400])
    with pytest.raises(LikewiseError, match="unknown dimension 'price'"):
        compatibility(ITEMS, [0, 1], {"price": 1.0})
