"""DINO's views of a picture (Caron et al. 2021): two large crops and several small ones, each in other colours."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

from likewise.encoders.networks.recipe import Recipe, Tensor
from likewise.training.image_dataset import RATIOS, ImageDataset

GLOBAL_AREA, LOCAL_AREA = (0.4, 1.0), (0.05, 0.4)
BLUR_GLOBAL, BLUR_LOCAL = (1.0, 0.1), 0.5
SOLARIZE_SHARE, GRAYSCALE_SHARE, JITTER_SHARE = 0.2, 0.2, 0.8


@dataclass(frozen=True)
class MultiCrop:
    """How many views of which size."""

    side: int
    local_side: int
    n_local: int


def multi_crop_views(
    dataset: ImageDataset, rows: list[int], views: MultiCrop, rng: np.random.Generator
) -> list[Tensor]:
    """For every view an array over the rows: the two global ones first."""
    views_by_number: list[list[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]] = [
        [] for _ in range(2 + views.n_local)
    ]
    for image in dataset.resized(rows):
        for number, images in enumerate(views_by_number):
            images.append(_view(image, number, views, rng))
    return [_tensor(dataset.recipe, images) for images in views_by_number]


def _tensor(recipe: Recipe, images: list[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]) -> Tensor:
    return recipe.tensor(np.stack(images))


def _view(
    image: Image.Image, number: int, views: MultiCrop, rng: np.random.Generator
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    is_global = number < 2
    side = views.side if is_global else views.local_side
    view = random_crop(image, side, GLOBAL_AREA if is_global else LOCAL_AREA, rng)
    if rng.random() < 0.5:
        view = ImageOps.mirror(view)
    view = jitter_colors(view, rng)
    if rng.random() < (BLUR_GLOBAL[number] if is_global else BLUR_LOCAL):
        view = view.filter(ImageFilter.GaussianBlur(rng.uniform(0.1, 2.0) * side / 224.0))
    if number == 1 and rng.random() < SOLARIZE_SHARE:
        view = ImageOps.solarize(view, 128)
    return np.asarray(view).transpose(2, 0, 1)


def random_crop(image: Image.Image, side: int, area: tuple[float, float], rng: np.random.Generator) -> Image.Image:
    """A part of the picture, `area` of it, with a ratio near one, as a square."""
    share, ratio = rng.uniform(*area), float(np.exp(rng.uniform(*np.log(RATIOS))))
    wanted = share * image.width * image.height
    width, height = min(np.sqrt(wanted * ratio), image.width), min(np.sqrt(wanted / ratio), image.height)
    left, top = rng.uniform(0.0, image.width - width), rng.uniform(0.0, image.height - height)
    return image.resize((side, side), Image.Resampling.BICUBIC, box=(left, top, left + width, top + height))


def jitter_colors(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Brightness, contrast, saturation and hue a little different, sometimes without colour."""
    if rng.random() < JITTER_SHARE:
        for enhance, strength in (
            (ImageEnhance.Brightness, 0.4),
            (ImageEnhance.Contrast, 0.4),
            (ImageEnhance.Color, 0.2),
        ):
            image = enhance(image).enhance(rng.uniform(1.0 - strength, 1.0 + strength))
        hue_shift = int(rng.uniform(-0.1, 0.1) * 256)
        hue, saturation, value = image.convert("HSV").split()
        hue = hue.point(lambda level: (level + hue_shift) % 256)
        image = Image.merge("HSV", (hue, saturation, value)).convert("RGB")
    if rng.random() < GRAYSCALE_SHARE:
        image = ImageOps.grayscale(image).convert("RGB")
    return image
