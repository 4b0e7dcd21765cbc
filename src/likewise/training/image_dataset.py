"""Pictures for a trunk that is trained: the paper's random crops, and its central crop to evaluate.

In the paper's words the shorter side is 256, a crop of 40 to 256 pixels with a ratio of 3/4 to 4/3 is resized to 227
and mirrored half of the time; evaluation cuts the central 227.  Other trunks have these lengths in the same proportion.
Most papers describe simpler crops, always of 227, which can be had too, and so can the central ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from PIL import Image

from likewise.catalog.images import load_image
from likewise.encoders.networks.recipe import Recipe, Tensor
from likewise.encoders.protocol import Prepared
from likewise.encoders.running.picture_reader import PictureReader
from likewise.training.plan import Crops

SHORT_SIDE, CROP_SIDE, MIN_CROP = 256, 227, 40
RATIOS = (3.0 / 4.0, 4.0 / 3.0)
MAX_PREPARED_BYTES = 1 << 29
"""Central crops that are kept: a network is evaluated on the same ones again and again."""


def training_recipe(recipe: Recipe) -> Recipe:
    """The central crop of the paper at a network's own size, with its own scale of numbers."""
    side = min(recipe.side)
    return replace(recipe, resize=round(side * SHORT_SIDE / CROP_SIDE), cut=(side, side), pad=False, crop=1.0)


def read_resized(root: Path, recipe: Recipe, image: str) -> Prepared:
    """One picture with the paper's shorter side, (height, width, 3)."""
    short_side = recipe.resize
    assert isinstance(short_side, int)
    picture = load_image(root / image, short_side)
    scale = short_side / min(picture.size)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    picture = picture if picture.size == size else picture.resize(size, Image.Resampling(recipe.resample))
    return np.asarray(picture)


@dataclass
class ImageDataset:
    """Batches of pictures by key, which a reader streams from disk."""

    images: Sequence[str]
    root: Path
    recipe: Recipe
    min_crop: float = MIN_CROP / SHORT_SIDE
    """Side of the smallest crop, of the shorter side."""
    workers: int | None = None
    crops: Crops = "resized"
    _central: dict[int, Prepared] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def reader(self) -> PictureReader:
        return PictureReader(self.images, partial(read_resized, self.root, self.recipe), workers=self.workers)

    def resized(self, rows: Sequence[int]) -> list[Image.Image]:
        """Pictures with the paper's shorter side."""
        return [Image.fromarray(each) for each in self.reader.take(rows)]

    def eval_inputs(self, rows: Sequence[int]) -> Tensor:
        """For evaluation."""
        missing = [row for row in rows if row not in self._central]
        prepared = {row: self.recipe.prepare(image) for row, image in zip(missing, self.resized(missing), strict=True)}
        for row, pixels in prepared.items():
            if (len(self._central) + 1) * pixels.nbytes <= MAX_PREPARED_BYTES:
                self._central[row] = pixels
        found = (prepared[row] if row in prepared else self._central[row] for row in rows)
        return self.recipe.tensor(np.stack(list(found)))

    def train_inputs(self, rows: Sequence[int], rng: np.random.Generator) -> Tensor:
        """For training: another crop each time."""
        return self.recipe.tensor(np.stack([self._crop(image, rng) for image in self.resized(rows)]))

    def _crop(self, image: Image.Image, rng: np.random.Generator) -> Prepared:
        assert isinstance(self.recipe.resize, int)
        if self.crops == "central":
            return self.recipe.prepare(image)
        side, ratio = self._size(rng)
        width = min(side * np.sqrt(ratio), image.width)
        height = min(side / np.sqrt(ratio), image.height)
        left, top = rng.uniform(0.0, image.width - width), rng.uniform(0.0, image.height - height)
        across, down = self.recipe.side[1], self.recipe.side[0]
        crop = image.resize((across, down), Image.Resampling.BILINEAR, box=(left, top, left + width, top + height))
        pixels = np.asarray(crop).transpose(2, 0, 1)
        return pixels[:, :, ::-1] if rng.random() < 0.5 else pixels

    def _size(self, rng: np.random.Generator) -> tuple[float, float]:
        """The side and the ratio of a crop."""
        assert isinstance(self.recipe.resize, int)
        if self.crops == "simple":
            return float(min(self.recipe.side)), 1.0
        least, most = self.recipe.resize * self.min_crop, float(self.recipe.resize)
        return rng.uniform(least, most), float(np.exp(rng.uniform(*np.log(RATIOS))))
