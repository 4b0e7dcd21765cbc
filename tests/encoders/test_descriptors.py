"""What the built-in encoders promise about any picture, and what each of them sees and ignores."""

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from likewise.encoders import BUILT_IN, get_encoder

from .helpers import (
    BLACK,
    BLUE,
    ORANGE,
    RED,
    WHITE,
    circle,
    dots,
    random_picture,
    similarity,
    square,
    stripes,
)

ODD_PICTURES = {
    "white": Image.new("RGB", (50, 50), WHITE),
    "black": Image.new("RGB", (50, 50), BLACK),
    "one pixel": Image.new("RGB", (1, 1), RED),
    "tiny": random_picture(1, 3, 2),
    "very wide": random_picture(2, 900, 4),
    "very tall": random_picture(3, 2, 700),
    "grey": random_picture(4, 64, 64).convert("L").convert("RGB"),
    "line": square(RED, side=0),
    "fills the frame": square(RED, side=200, left=0, top=0),
}


def vector(name: str, picture: Image.Image) -> NDArray[np.float32]:
    encoder = get_encoder(name)
    return encoder.encode([encoder.prepare(picture)]).reshape(-1)


def alike(name: str, a: Image.Image, b: Image.Image) -> float:
    return similarity(vector(name, a), vector(name, b))


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_picture_gets_a_vector_of_unit_length(name: str) -> None:
    encoder = get_encoder(name)
    pictures = [*ODD_PICTURES.values(), square(RED), stripes(), *(random_picture(seed) for seed in range(5))]
    vectors = encoder.encode([encoder.prepare(picture) for picture in pictures])
    assert vectors.shape == (len(pictures), encoder.dim)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors.astype(np.float64), axis=1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_vector_does_not_depend_on_its_batch(name: str) -> None:
    encoder = get_encoder(name)
    prepared = [encoder.prepare(random_picture(seed, 150, 120 + seed)) for seed in range(7)]
    together = encoder.encode(prepared)
    alone = np.concatenate([encoder.encode([one]) for one in prepared])
    backwards = encoder.encode(prepared[::-1])[::-1]
    assert together.tobytes() == alone.tobytes() == backwards.tobytes()


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_same_picture_gives_the_same_bits_and_another_does_not(name: str) -> None:
    once, twice = vector(name, random_picture(1)), vector(name, random_picture(1))
    assert once.tobytes() == twice.tobytes()
    assert similarity(once, vector(name, random_picture(2))) < 0.999


def test_colour_puts_red_nearer_to_orange_than_to_blue() -> None:
    assert alike("colour", square(RED), square(ORANGE)) > alike("colour", square(RED), square(BLUE)) + 0.1


def test_colour_does_not_mind_where_how_large_and_which_form() -> None:
    assert alike("colour", square(RED), square(RED, side=60, left=10)) > 0.97
    assert alike("colour", square(RED), circle(RED)) > 0.97


def test_the_plain_background_does_not_make_different_colours_alike() -> None:
    small_red, small_blue = square(RED, side=30), square(BLUE, side=30)
    assert alike("colour", small_red, small_blue) < 0.3


def test_shape_sees_circle_and_square_but_not_their_colour_place_or_size() -> None:
    same_form = [
        alike("shape", square(RED), square(BLUE)),
        alike("shape", square(RED), square(ORANGE)),
        alike("shape", circle(RED), circle(BLUE)),
        alike("shape", square(RED), square(RED, side=130, left=5, top=60)),
    ]
    other_form = alike("shape", square(RED), circle(RED))
    assert min(same_form) > 0.9
    assert other_form < min(same_form) - 0.05


def test_texture_tells_stripes_from_dots_and_from_plain() -> None:
    same = min(alike("texture", stripes(), stripes(phase=5)), alike("texture", dots(), dots(phase=5)))
    other = max(alike("texture", stripes(), dots()), alike("texture", stripes(), square(BLUE)))
    assert same > other + 0.05


def test_texture_tells_wide_from_narrow_stripes() -> None:
    assert alike("texture", stripes(16), stripes(16, phase=3)) > alike("texture", stripes(16), stripes(32)) + 0.01


def test_layout_sees_left_and_right() -> None:
    left, right = square(RED, left=5), square(RED, left=95)
    assert alike("layout", left, square(RED, left=9)) > alike("layout", left, right) + 0.2
    assert alike("colour", left, right) > 0.97


def test_layout_sees_top_and_bottom_of_a_picture_without_background() -> None:
    up = Image.new("RGB", (80, 80), BLUE)
    up.paste(ORANGE, (0, 40, 80, 80))
    down = up.rotate(180)
    slightly = Image.new("RGB", (80, 80), BLUE)
    slightly.paste(ORANGE, (0, 44, 80, 80))
    assert alike("layout", up, slightly) > alike("layout", up, down) + 0.5


def test_blend_hears_all_four() -> None:
    same = alike("blend", square(RED), square(RED, left=52))
    for other in (square(BLUE), circle(RED), square(RED, left=5), stripes()):
        assert alike("blend", square(RED), other) < same - 0.01


def test_a_white_thing_within_its_outline_is_not_background() -> None:
    white_with_outline = square(BLACK)
    white_with_outline.paste(WHITE, (53, 53, 148, 148))
    assert alike("colour", white_with_outline, square(BLACK)) < 0.6
