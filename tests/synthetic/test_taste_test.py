"""A complete test from the wardrobe: AAT choices differ in one attribute, and the bundle notices any change."""

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.outfits.bundle import OutfitTest, open_test, write_test
from likewise.outfits.dimensions import AAT_PLAN
from likewise.synthetic import ATTRIBUTE_NAMES, DIMENSIONS, compatibility_many
from likewise.synthetic.outfits.aat_questions import Attributes, make_aat
from likewise.synthetic.outfits.taste_test import N_ITEMS, Scale, make_lat, make_wardrobe_test, wardrobe_items

SMALL = Scale(n_seed_outfits=4000, n_rated=500, n_consistent=200, n_questions=8, n_panel=4, n_rounds=2, n_crowd=30)
ATTRIBUTES_OF = {
    "color": {"colour"},
    "style": {"style"},
    "occasion": {"occasion"},
    "season": {"season"},
    "material": {"material", "pattern"},
    "balance": {"silhouette", "length"},
}


@pytest.fixture(scope="module")
def small_test(tmp_path_factory: pytest.TempPathFactory) -> OutfitTest:
    path = tmp_path_factory.mktemp("tests") / "taste"
    return make_wardrobe_test(path, seed=5, n_items=300, scale=SMALL, n_aat=27, size=48, workers=1)


def test_aat_follows_the_plan_and_its_choices_differ_in_one_attribute_of_the_dimension() -> None:
    questions, drawn = make_aat(wardrobe_items(600, 0), 100, 0)
    counted = {(q.dimension, q.sub_dimension): 0 for q in questions}
    for question in questions:
        counted[question.dimension, question.sub_dimension] += 1
        shown = [drawn[item.item] for item in question.choices]
        differing = {name for name in ATTRIBUTE_NAMES if len({row[name] for row in shown}) > 1}
        assert len(differing) == 1
        assert differing <= ATTRIBUTES_OF[str(question.dimension)]
        (name,) = differing
        values = [row[name] for row in shown]
        assert question.right is not None and values.count(values[question.right]) == 1
        assert len(shown) == 5
        assert len({(row[name], row["item"]) for row in shown}) == 5  # one item, or a wrong value on another drawing
        assert len({row["item"] for row in shown}) == max(values.count(value) for value in values)
    assert counted == {(name, sub): n for name, subs in AAT_PLAN.items() for sub, n in subs.items()}


def test_the_right_choice_wins_its_dimension_and_no_other_dimension_moves() -> None:
    questions, drawn = make_aat(wardrobe_items(300, 1), 54, 1)
    places = set()
    for question in questions:
        rows: list[Attributes] = [drawn[item.item] for item in (*question.items, *question.choices)]
        table = pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))
        rest = list(range(len(question.items)))
        scores = compatibility_many(table, [[*rest, len(rest) + k] for k in range(len(question.choices))])
        own = scores[str(question.dimension)].to_numpy()
        assert question.right == int(np.argmax(own))
        assert np.sort(own)[-1] - np.sort(own)[-2] >= 0.05
        for other in set(DIMENSIONS) - {question.dimension}:
            assert np.ptp(scores[other].to_numpy()) == pytest.approx(0)
        places.add(question.right)
    assert places == {0, 1, 2, 3, 4}


def test_aat_can_ask_about_one_dimension_alone_as_often_as_wanted() -> None:
    questions, _ = make_aat(wardrobe_items(300, 1), 60, 1, only=("balance",))
    counted = Counter((q.dimension, q.sub_dimension) for q in questions)
    assert counted == {("balance", sub): 20 for sub in AAT_PLAN["balance"]}
    assert len({q.name for q in questions}) == 60
    with pytest.raises(LikewiseError, match="no dimension 'colour'"):
        make_aat(wardrobe_items(300, 1), 60, 1, only=("colour",))


def test_a_rare_sort_of_question_is_looked_for_long_enough() -> None:
    questions, _ = make_aat(wardrobe_items(N_ITEMS, 7), 108, 7)  # jewellery whose metal matters is seldom worn
    assert sum(question.sub_dimension == "element" for question in questions) == 4


def test_simulated_people_make_a_lat_that_follows_taste() -> None:
    questions, made = make_lat(wardrobe_items(300, 2), SMALL, 2)
    assert len(questions) == 8
    assert made["seed_outfits"] > made["kept"] > 0
    assert all(sum(question.people) == 30 for question in questions)
    favourites = [question.people[question.right] / 30 for question in questions if question.right is not None]
    assert np.mean(favourites) > 0.6  # chance is 0.2


def test_the_crowd_disagrees_as_much_as_the_papers_people() -> None:
    """mLATs = a LATs + b (1 - LATs) with a the mean share of the favourite: 75 % by the paper's models."""
    lats, mlats = np.array([36, 54, 72, 73]), np.array([30.82, 41.62, 54.63, 56.17])
    slope, start = np.polyfit(lats, mlats, 1)
    published = (start + 100 * slope) / 100
    questions, made = make_lat(wardrobe_items(N_ITEMS, 11), Scale.of(40), 11)
    assert (made["best_rated"], made["most_consistent"], len(questions)) == (800, 200, 40)
    favourites = [max(question.people) / sum(question.people) for question in questions]
    assert published == pytest.approx(0.74, abs=0.005)
    assert np.mean(favourites) == pytest.approx(published, abs=0.05)


def test_the_bundle_comes_back_as_it_went_in_folder_or_zip(small_test: OutfitTest, tmp_path: Path) -> None:
    assert {question.kind for question in small_test.questions} == {"LAT", "AAT"}
    assert len(small_test.images) == sum(name.startswith("images/") for name in small_test.card["files"])
    zipped = write_test(
        tmp_path / "taste.zip",
        small_test.questions,
        lambda image: (small_test.path / "images" / image).read_bytes(),
        title="Zipped",
        licence="CC0-1.0",
    )
    assert zipped.questions == small_test.questions
    assert open_test(zipped.path, zipped.card["checksum"]).card == zipped.card
    with pytest.raises(LikewiseError, match="another test"):
        open_test(zipped.path, "0" * 64)
    with pytest.raises(LikewiseError, match="already exists"):
        write_test(zipped.path, zipped.questions, lambda _: b"", title="x", licence="y")


def test_one_changed_byte_is_noticed(small_test: OutfitTest, tmp_path: Path) -> None:
    from shutil import copytree

    for victim in ("answers.parquet", f"images/{small_test.images[3]}", "card.md"):
        copy = tmp_path / victim.replace("/", "-")
        copytree(small_test.path, copy)
        content = bytearray((copy / victim).read_bytes())
        content[len(content) // 2] ^= 1
        (copy / victim).write_bytes(bytes(content))
        with pytest.raises(LikewiseError, match="does not match its checksum"):
            open_test(copy)


def test_one_seed_makes_one_test() -> None:
    items = wardrobe_items(200, 3)
    assert make_lat(items, SMALL, 3) == make_lat(items, SMALL, 3)
    assert make_aat(items, 27, 3) == make_aat(items, 27, 3)
    assert make_aat(items, 27, 3) != make_aat(items, 27, 4)
