"""The promise of the wardrobe: every value of every attribute can be seen, and the same seed gives the same picture."""

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from likewise.errors import LikewiseError
from likewise.synthetic import (
    ATTRIBUTE_NAMES,
    ATTRIBUTES,
    ATTRIBUTES_OF,
    CATEGORIES,
    VALUES_OF,
    contact_sheet,
    draw_item,
    draw_wild,
    make_items,
)

SIZE = 112
# At 112 x 112 a person sees a change of this many levels in this many pixels.
SEEN_LEVELS = 14
SEEN_PIXELS = 12


def _plain(category: str) -> dict[str, str | None]:
    """A middle-of-the-road item on which cues are not hidden."""
    chosen: dict[str, str | None] = {"category": category, "item": f"{category}-test"}
    chosen |= {name: values[0] for name, values in VALUES_OF[category].items()}
    wanted = {"colour": "teal", "second_colour": "beige", "sleeve": "short", "length": "medium"}
    return chosen | {name: value for name, value in wanted.items() if name in VALUES_OF[category]}


def _pixels(image: Image.Image) -> NDArray[np.int16]:
    return np.asarray(image, dtype=np.int16)


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_legal_value_is_visible(category: str) -> None:
    base = _plain(category)
    for name in ATTRIBUTES_OF[category]:
        values = VALUES_OF[category][name]
        pictures = [_pixels(draw_item(base | {name: value}, 0, 0, size=SIZE)) for value in values]
        for i, first in enumerate(pictures):
            for j in range(i):
                changed = (np.abs(first - pictures[j]).max(axis=2) >= SEEN_LEVELS).sum()
                assert changed >= SEEN_PIXELS, f"{category}: {name} {values[j]} looks like {values[i]}"


@pytest.mark.parametrize("category", CATEGORIES)
def test_any_legal_combination_can_be_drawn(category: str) -> None:
    rng = np.random.default_rng(CATEGORIES.index(category))
    for view in range(4):
        values = {name: str(rng.choice(legal)) for name, legal in VALUES_OF[category].items()}
        for draw in (draw_item, draw_wild):
            image = draw({"category": category, **values}, view, 1, size=64)
            assert (image.mode, image.size) == ("RGB", (64, 64))
            assert np.asarray(image).std() > 3


def test_one_colour_twice_still_shows_the_pattern() -> None:
    base = _plain("dresses") | {"colour": "red", "second_colour": "red"}
    solid, striped = (_pixels(draw_item(base | {"pattern": p}, 0, 0, size=SIZE)) for p in ("solid", "stripes"))
    assert (np.abs(solid - striped).max(axis=2) >= SEEN_LEVELS).mean() > 0.02


def test_views_show_one_item_differently_and_wild_differs_from_shop() -> None:
    base = _plain("bags")
    views = [_pixels(draw_item(base, view, 0, size=SIZE)) for view in range(4)]
    views += [_pixels(draw_wild(base, view, 0, size=SIZE)) for view in range(2)]
    for i, first in enumerate(views):
        for second in views[:i]:
            assert np.abs(first - second).mean() > 5


def test_drawing_is_pure() -> None:
    row = make_items(40, 3).row(7, named=True)
    for draw in (draw_item, draw_wild):
        assert draw(row, 1, 5).tobytes() == draw(dict(row), 1, 5).tobytes()
        assert draw(row, 1, 5).tobytes() != draw(row, 1, 6).tobytes()


def test_changing_an_attribute_leaves_background_and_pose_alone() -> None:
    base = _plain("tops")
    red, blue = (_pixels(draw_item(base | {"colour": c}, 0, 0, size=SIZE)) for c in ("red", "blue"))
    same = np.abs(red - blue).max(axis=2) <= 2
    assert same[:6].all() and same[-6:].all()
    assert 0.1 < (~same).mean() < 0.7


def test_mistakes_are_explained() -> None:
    base = _plain("rings")
    with pytest.raises(LikewiseError, match="choose one of gold"):
        draw_item(base | {"material": "denim"}, 0, 0)
    with pytest.raises(LikewiseError, match="unknown category 'sofas'"):
        draw_item(base | {"category": "sofas"}, 0, 0)
    with pytest.raises(LikewiseError, match="counted from 0"):
        draw_item(base, -1, 0)
    with pytest.raises(LikewiseError, match="at least 32"):
        draw_wild(base, 0, 0, size=8)


def test_vocabulary_is_consistent() -> None:
    assert len(CATEGORIES) == len(set(CATEGORIES)) == 20
    assert tuple(ATTRIBUTES) == ATTRIBUTE_NAMES
    for category in CATEGORIES:
        assert set(ATTRIBUTES_OF[category]) <= set(ATTRIBUTES)
        for name, values in VALUES_OF[category].items():
            assert len(set(values)) == len(values) > 1
            assert set(values) <= set(ATTRIBUTES[name])


def test_contact_sheet_holds_every_picture_in_its_place() -> None:
    colours = ["red", "lime", "blue"]
    sheet = contact_sheet([Image.new("RGB", (10, 10), colour) for colour in colours], columns=2)
    assert sheet.size == (32, 32)
    assert [sheet.getpixel(at) for at in ((5, 5), (20, 5), (5, 20))] == [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    with pytest.raises(LikewiseError, match="at least one"):
        contact_sheet([], 3)
