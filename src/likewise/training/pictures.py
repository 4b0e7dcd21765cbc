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

SHORT_SIDE, SIDE, LEAST_CROP = 256, 227, 40
RATIOS = (3.0 / 4.0, 4.0 / 3.0)
MOST_BYTES = 1 << 30  # of decoded pictures that are kept

Load = Callable[[str, int], Image.Image]


def trained_recipe(recipe: Recipe) -> Recipe:
    """The central crop of the paper at a network's own size, with its own scale of numbers."""
    side = min(recipe.side)
    return replace(recipe, resize=round(side * SHORT_SIDE / SIDE), cut=(side, side), pad=False, crop=1.0)


@dataclass
class Pictures:
    """Batches of pictures by key; decoded once, as long as they fit."""

    images: Sequence[str]
    load: Load
    recipe: Recipe
    least_crop: float = LEAST_CROP / SHORT_SIDE
    """Side of the smallest crop, of the shorter side."""
    kept: dict[int, Image.Image] = field(default_factory=dict)
    kept_bytes: int = 0

    @property
    def short_side(self) -> int:
        assert isinstance(self.recipe.resize, int)
        return self.recipe.resize

    def resized(self, row: int) -> Image.Image:
        """One picture with the paper's shorter side."""
        if row in self.kept:
            return self.kept[row]
        picture = self.load(self.images[row], self.short_side)
        scale = self.short_side / min(picture.size)
        size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        picture = picture if picture.size == size else picture.resize(size, Image.Resampling(self.recipe.resample))
        if self.kept_bytes < MOST_BYTES:
            self.kept[row] = picture
            self.kept_bytes += 3 * size[0] * size[1]
        return picture

    def plain(self, rows: Sequence[int]) -> Tensor:
        """For evaluation."""
        return self.recipe.tensor(np.stack([self.recipe.prepare(self.resized(row)) for row in rows]))

    def augmented(self, rows: Sequence[int], rng: np.random.Generator) -> Tensor:
        """For training: another crop each time."""
        return self.recipe.tensor(np.stack([self._crop(self.resized(row), rng) for row in rows]))

    def _crop(self, picture: Image.Image, rng: np.random.Generator) -> Prepared:
        least, most = self.short_side * self.least_crop, float(self.short_side)
        side, ratio = rng.uniform(least, most), float(np.exp(rng.uniform(*np.log(RATIOS))))
        width = min(side * np.sqrt(ratio), picture.width)
        height = min(side / np.sqrt(ratio), picture.height)
        left, top = rng.uniform(0.0, picture.width - width), rng.uniform(0.0, picture.height - height)
        across, down = self.recipe.side[1], self.recipe.side[0]
        crop = picture.resize((across, down), Image.Resampling.BILINEAR, box=(left, top, left + width, top + height))
        pixels = np.asarray(crop).transpose(2, 0, 1)
        return pixels[:, :, ::-1] if rng.random() < 0.5 else pixels
