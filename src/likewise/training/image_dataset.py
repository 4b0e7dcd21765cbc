"""Pictures for a trunk that is trained: the paper's random crops, and its central crop to evaluate.

In the paper's words the shorter side is 256, a crop of 40 to 256 pixels with a ratio of 3/4 to 4/3 is resized to 227
and mirrored half of the time; evaluation cuts the central 227.  Other trunks have these lengths in the same proportion.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from PIL import Image

from likewise.encoders.networks.recipe import Recipe, Tensor
from likewise.encoders.protocol import Prepared

SHORT_SIDE, CROP_SIDE, MIN_CROP = 256, 227, 40
RATIOS = (3.0 / 4.0, 4.0 / 3.0)
MAX_CACHE_BYTES = 1 << 30  # of decoded pictures that are kept

ImageReader = Callable[[str, int], Image.Image]


def training_recipe(recipe: Recipe) -> Recipe:
    """The central crop of the paper at a network's own size, with its own scale of numbers."""
    side = min(recipe.side)
    return replace(recipe, resize=round(side * SHORT_SIDE / CROP_SIDE), cut=(side, side), pad=False, crop=1.0)


@dataclass
class ImageDataset:
    """Batches of pictures by key; decoded once, as long as they fit."""

    images: Sequence[str]
    read_image: ImageReader
    recipe: Recipe
    min_crop: float = MIN_CROP / SHORT_SIDE
    """Side of the smallest crop, of the shorter side."""
    cache: dict[int, Image.Image] = field(default_factory=dict)
    cache_bytes: int = 0

    @property
    def short_side(self) -> int:
        assert isinstance(self.recipe.resize, int)
        return self.recipe.resize

    def resized(self, row: int) -> Image.Image:
        """One picture with the paper's shorter side."""
        if row in self.cache:
            return self.cache[row]
        image = self.read_image(self.images[row], self.short_side)
        scale = self.short_side / min(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        image = image if image.size == size else image.resize(size, Image.Resampling(self.recipe.resample))
        if self.cache_bytes < MAX_CACHE_BYTES:
            self.cache[row] = image
            self.cache_bytes += 3 * size[0] * size[1]
        return image

    def eval_inputs(self, rows: Sequence[int]) -> Tensor:
        """For evaluation."""
        return self.recipe.tensor(np.stack([self.recipe.prepare(self.resized(row)) for row in rows]))

    def train_inputs(self, rows: Sequence[int], rng: np.random.Generator) -> Tensor:
        """For training: another crop each time."""
        return self.recipe.tensor(np.stack([self._crop(self.resized(row), rng) for row in rows]))

    def _crop(self, image: Image.Image, rng: np.random.Generator) -> Prepared:
        least, most = self.short_side * self.min_crop, float(self.short_side)
        side, ratio = rng.uniform(least, most), float(np.exp(rng.uniform(*np.log(RATIOS))))
        width = min(side * np.sqrt(ratio), image.width)
        height = min(side / np.sqrt(ratio), image.height)
        left, top = rng.uniform(0.0, image.width - width), rng.uniform(0.0, image.height - height)
        across, down = self.recipe.side[1], self.recipe.side[0]
        crop = image.resize((across, down), Image.Resampling.BILINEAR, box=(left, top, left + width, top + height))
        pixels = np.asarray(crop).transpose(2, 0, 1)
        return pixels[:, :, ::-1] if rng.random() < 0.5 else pixels
