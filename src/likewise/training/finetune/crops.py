"""DINO's views of a picture (Caron et al. 2021): two large crops and several small ones, each in other colours."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

from likewise.encoders.networks.recipe import Recipe, Tensor
from likewise.training.pictures import RATIOS, Pictures

GLOBAL_AREA, LOCAL_AREA = (0.4, 1.0), (0.05, 0.4)
BLUR_GLOBAL, BLUR_LOCAL = (1.0, 0.1), 0.5
SOLARISE_SECOND, GREY, JITTER = 0.2, 0.2, 0.8


@dataclass(frozen=True)
class Views:
    """How many views of which size."""

    side: int
    local_side: int
    n_local: int


def views_of(pictures: Pictures, rows: list[int], views: Views, rng: np.random.Generator) -> list[Tensor]:
    """For every view an array over the rows: the two global ones first."""
    made: list[list[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]] = [[] for _ in range(2 + views.n_local)]
    for row in rows:
        picture = pictures.resized(row)
        for number, kept in enumerate(made):
            kept.append(_view(picture, number, views, rng))
    return [_tensor(pictures.recipe, kept) for kept in made]


def _tensor(recipe: Recipe, kept: list[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]) -> Tensor:
    return recipe.tensor(np.stack(kept))


def _view(
    picture: Image.Image, number: int, views: Views, rng: np.random.Generator
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    is_global = number < 2
    side = views.side if is_global else views.local_side
    seen = random_crop(picture, side, GLOBAL_AREA if is_global else LOCAL_AREA, rng)
    if rng.random() < 0.5:
        seen = ImageOps.mirror(seen)
    seen = recoloured(seen, rng)
    if rng.random() < (BLUR_GLOBAL[number] if is_global else BLUR_LOCAL):
        seen = seen.filter(ImageFilter.GaussianBlur(rng.uniform(0.1, 2.0) * side / 224.0))
    if number == 1 and rng.random() < SOLARISE_SECOND:
        seen = ImageOps.solarize(seen, 128)
    return np.asarray(seen).transpose(2, 0, 1)


def random_crop(picture: Image.Image, side: int, area: tuple[float, float], rng: np.random.Generator) -> Image.Image:
    """A part of the picture, `area` of it, with a ratio near one, as a square."""
    share, ratio = rng.uniform(*area), float(np.exp(rng.uniform(*np.log(RATIOS))))
    wanted = share * picture.width * picture.height
    width, height = min(np.sqrt(wanted * ratio), picture.width), min(np.sqrt(wanted / ratio), picture.height)
    left, top = rng.uniform(0.0, picture.width - width), rng.uniform(0.0, picture.height - height)
    return picture.resize((side, side), Image.Resampling.BICUBIC, box=(left, top, left + width, top + height))


def recoloured(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Brightness, contrast, saturation and hue a little different, sometimes without colour."""
    if rng.random() < JITTER:
        for enhance, strength in (
            (ImageEnhance.Brightness, 0.4),
            (ImageEnhance.Contrast, 0.4),
            (ImageEnhance.Color, 0.2),
        ):
            picture = enhance(picture).enhance(rng.uniform(1.0 - strength, 1.0 + strength))
        turn = int(rng.uniform(-0.1, 0.1) * 256)
        hue, saturation, value = picture.convert("HSV").split()
        hue = hue.point(lambda level: (level + turn) % 256)
        picture = Image.merge("HSV", (hue, saturation, value)).convert("RGB")
    if rng.random() < GREY:
        picture = ImageOps.grayscale(picture).convert("RGB")
    return picture
