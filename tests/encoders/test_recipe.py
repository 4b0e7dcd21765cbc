"""Preparation equals the processors people would use, for pictures of any form."""

import numpy as np
import pytest
from PIL import Image

from likewise.encoders.families.huggingface.image_processor import ByProcessor, load_processor, load_recipe
from likewise.encoders.networks.recipe import Recipe, centre_crop

from .conftest import Tiny
from .helpers import random_picture

FORMS = [(64, 64), (300, 120), (97, 211), (30, 20), (32, 32), (1, 1), (500, 80)]


@pytest.mark.parametrize("family", ["vit", "dinov2", "beit", "clip", "siglip", "convnext"])
def test_the_recipe_gives_what_the_processor_gives(tiny: Tiny, family: str) -> None:
    folder = tiny(family)
    recipe = load_recipe(folder, {}, None, None)
    assert not isinstance(recipe, ByProcessor)
    for number, form in enumerate(FORMS):
        picture = random_picture(number, *form)
        ours = recipe.tensor(recipe.prepare(picture)[None])
        theirs = load_processor(str(folder))(images=picture, return_tensors="np")["pixel_values"]
        assert ours.dtype == np.float32
        assert np.abs(ours - theirs).max() < 1e-5, form


def test_what_travels_is_bytes(tiny: Tiny) -> None:
    prepared = load_recipe(tiny("vit"), {}, None, None).prepare(random_picture(0))
    assert prepared.dtype == np.uint8
    assert prepared.shape == (3, 32, 32)


@pytest.mark.parametrize("form", [(20_000, 8), (8, 20_000)])
def test_a_very_long_picture_gives_its_middle_without_being_enlarged(form: tuple[int, int]) -> None:
    recipe = Recipe(64, (56, 56))
    picture = Image.new("RGB", form, "red")
    middle = tuple(side // 2 for side in form)
    picture.paste("blue", (max(0, middle[0] - 20), max(0, middle[1] - 20), middle[0] + 20, middle[1] + 20))
    prepared = recipe.prepare(picture)
    assert prepared.shape == (3, 56, 56)
    assert prepared[2].mean() > 250 > 5 > prepared[0].mean()


def test_cut_before_enlarging_is_nearly_the_same_as_after() -> None:
    picture = random_picture(5, 400, 45)
    recipe = Recipe(64, (56, 56))
    whole = picture.resize((int(64 * 400 / 45), 64), Image.Resampling.BICUBIC)
    left = (whole.width - 56) // 2
    expected = np.asarray(whole.crop((left, 4, left + 56, 60))).transpose(2, 0, 1).astype(int)
    assert np.abs(recipe.prepare(picture).astype(int) - expected).max() <= 2


def test_size_and_frame_can_be_chosen() -> None:
    usual = Recipe(64, (56, 56))
    assert usual.with_frame(112, None).side == (112, 112)
    assert usual.with_frame(112, None).resize == 128
    assert usual.with_frame(None, "squash") == Recipe((56, 56), None)
    assert usual.with_frame(None, None) is usual
    padded = usual.with_frame(28, "pad").prepare(Image.new("RGB", (100, 50), "red"))
    assert padded.shape == (3, 28, 28)
    assert (padded[0] == 255).all()
    assert not padded[1:].any()


def test_the_middle_of_a_picture() -> None:
    picture = Image.new("RGB", (100, 60), "red")
    picture.paste("blue", (25, 15, 75, 45))
    assert centre_crop(picture, 0.5).getcolors() == [(50 * 30, (0, 0, 255))]
    assert centre_crop(picture, 1.0) is picture
    assert Recipe(32, (32, 32), crop=0.5).pixels == 64
