"""Items: twenty categories evenly, designers' lines, words that agree, captions that say what is drawn."""

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.synthetic import ATTRIBUTE_NAMES, ATTRIBUTES_OF, CATEGORIES, VALUES_OF, caption, make_items


def test_categories_are_covered_evenly() -> None:
    counts = make_items(607, 1)["category"].value_counts()
    assert set(counts["category"]) == set(CATEGORIES)
    assert sorted(set(counts["count"])) == [30, 31]


def test_same_seed_same_items() -> None:
    assert make_items(80, 4).equals(make_items(80, 4))
    assert not make_items(80, 4).equals(make_items(80, 5))


def test_attributes_are_legal_where_they_apply_and_null_elsewhere() -> None:
    items = make_items(200, 0)
    assert items.columns == ["item", "category", "line", *ATTRIBUTE_NAMES, "caption"]
    assert items["item"].is_unique().all()
    for row in items.iter_rows(named=True):
        for name in ATTRIBUTE_NAMES:
            if name in ATTRIBUTES_OF[row["category"]]:
                assert row[name] in VALUES_OF[row["category"]][name]
            else:
                assert row[name] is None


def test_no_two_items_are_the_same() -> None:
    items = make_items(600, 0)
    assert items.select("category", *ATTRIBUTE_NAMES).is_unique().all()


def test_a_line_fixes_most_attributes() -> None:
    items = make_items(600, 0)
    agree = []
    for _, line in items.group_by("line"):
        first = line.row(0, named=True)
        for row in line.iter_rows(named=True):
            applies = [name for name in ATTRIBUTE_NAMES if first[name] is not None]
            agree.append(sum(row[name] == first[name] for name in applies) / len(applies))
    assert 0.75 < sum(agree) / len(agree) < 0.95


def test_words_agree_with_each_other() -> None:
    items = make_items(900, 0)
    warm = items.filter(pl.col("material").is_in(["wool", "fur"]) & pl.col("season").is_not_null())
    assert (warm["season"].is_in(["winter", "autumn"])).mean() > 0.6  # type: ignore[operator]
    sporty = items.filter(pl.col("style") == "sporty")
    assert (sporty["occasion"].is_in(["formal", "cocktail"])).mean() < 0.2  # type: ignore[operator]


def test_captions_name_what_is_there() -> None:
    for row in make_items(400, 2).iter_rows(named=True):
        text = row["caption"]
        assert text[:2] in ("a ", "an")
        for name in ("colour", "second_colour", "material", "style", "occasion"):
            assert row[name] in text
        if row["season"]:
            assert f"for {row['season']}" in text
        if row["sleeve"]:
            assert "sleeves" in text
        if row["pattern"] == "stripes":
            assert "striped" in text
        if row["pattern"] == "solid":
            assert not any(word in text for word in ("striped", "dotted", "floral", "leopard", "checked", "zigzag"))
        assert row["silhouette"].split("-")[0] in text


def test_caption_reads_like_a_sentence() -> None:
    row = make_items(20, 0).row(0, named=True) | {"colour": "red", "pattern": "stripes", "material": "knit"}
    row |= {"length": "short", "sleeve": "long", "neckline": "v-neck", "silhouette": "fitted", "style": "sweet"}
    row |= {"second_colour": "white", "occasion": "casual", "season": "winter"}
    assert caption(row) == (
        "a short red striped knit fitted top with long sleeves and a v-neck, "
        "white details, sweet style, casual, for winter"
    )


def test_a_wardrobe_of_nineteen_is_refused() -> None:
    with pytest.raises(LikewiseError, match="at least 20"):
        make_items(19)
