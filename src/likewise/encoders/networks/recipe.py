"""How a picture becomes the array a network expects: resize, cut, channels first, and later numbers around zero.

A worker process does the first part and hands over bytes, four times fewer than floats; the process that holds the
network does the rest, (pixel * scale - mean) / std, on the whole batch.
"""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from likewise.encoders.protocol import Prepared

Tensor = NDArray[np.float32]

MAX_ASPECT_RATIO = 8  # times longer than wide: such a picture is cut before it is enlarged

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Recipe:
    """Preparation of one network.

    `resize` is the length of the shorter side, or (height, width) to squash; `cut` is (height, width) of the
    central part that is kept, padded with black where the picture is smaller.  `pad` fits the whole picture into
    the square instead and repeats its edge pixels around it.
    """

    resize: int | tuple[int, int] | None
    cut: tuple[int, int] | None
    resample: int = Image.Resampling.BICUBIC
    scale: float = 1.0 / 255.0
    mean: tuple[float, ...] = (0.0, 0.0, 0.0)
    std: tuple[float, ...] = (1.0, 1.0, 1.0)
    pad: bool = False
    crop: float = 1.0

    @property
    def pixels(self) -> int:
        """The shorter side a decoded picture needs to have."""
        shorter = max(self.side) if isinstance(self.resize, tuple) else self.resize or max(self.side)
        return ceil(shorter / self.crop)

    @property
    def side(self) -> tuple[int, int]:
        """(height, width) of what the network sees."""
        if self.cut:
            return self.cut
        if isinstance(self.resize, tuple):
            return self.resize
        return (self.resize or 0, self.resize or 0)

    def prepare(self, image: Image.Image) -> Prepared:
        """(3, height, width) uint8."""
        image = centre_crop(image, self.crop)
        if self.pad:
            return _fitted(image, self.side, self.resample)
        image = self._resized(image)
        if self.cut and self.cut != (image.height, image.width):
            height, width = self.cut
            top, left = (image.height - height) // 2, (image.width - width) // 2
            image = image.crop((left, top, left + width, top + height))
        return np.stack([np.asarray(channel) for channel in image.split()])

    def _resized(self, image: Image.Image) -> Image.Image:
        if self.resize is None:
            return image
        if isinstance(self.resize, int):
            width, height = image.size
            short, long = min(width, height), max(width, height)
            other = int(self.resize * long / short)
            if self.cut and long > MAX_ASPECT_RATIO * short:
                return self._middle(image, other)
            wanted = (self.resize, other) if width <= height else (other, self.resize)
        else:
            wanted = (self.resize[1], self.resize[0])
        return image if image.size == wanted else image.resize(wanted, Image.Resampling(self.resample))

    def _middle(self, image: Image.Image, other: int) -> Image.Image:
        """Of a very long picture only the part that will be kept is enlarged, which bounds the memory."""
        assert isinstance(self.resize, int) and self.cut
        wide = image.width > image.height
        keep = min(other, max(self.cut))
        start = (other - keep) // 2 * (max(image.size) / other)
        stop = start + keep * (max(image.size) / other)
        box = (start, 0, stop, image.height) if wide else (0, start, image.width, stop)
        wanted = (keep, self.resize) if wide else (self.resize, keep)
        return image.resize(wanted, Image.Resampling(self.resample), box=box)

    def tensor(self, batch: Prepared) -> Tensor:
        """Prepared pictures (n, 3, height, width) as the network's float32 input."""
        factor = (self.scale / np.asarray(self.std, np.float64)).astype(np.float32)[:, None, None]
        offset = (np.asarray(self.mean, np.float64) / np.asarray(self.std, np.float64)).astype(np.float32)
        ready: Tensor = np.multiply(batch, factor, dtype=np.float32)
        ready -= offset[:, None, None]
        return ready

    def with_frame(self, size: int | None, frame: str | None) -> "Recipe":
        """The same recipe for another size, or another way to fill the square."""
        if size is None and frame is None:
            return self
        height, width = self.side
        new = (size, size) if size else (height, width)
        if frame == "pad":
            return replace(self, resize=new, cut=new, pad=True)
        if frame == "squash" or (frame is None and self.cut is None):
            return replace(self, resize=new, cut=None)
        short = self.resize if isinstance(self.resize, int) else min(height, width)
        return replace(self, resize=round(short * min(new) / min(height, width)), cut=new)


def centre_crop(image: Image.Image, share: float) -> Image.Image:
    """The middle of a picture, `share` of each side."""
    if share >= 1.0:
        return image
    width, height = (max(1, round(side * share)) for side in image.size)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))


def _fitted(image: Image.Image, side: tuple[int, int], resample: int) -> Prepared:
    """The whole picture in proportion inside the frame, its edge pixels repeated around it."""
    height, width = side
    scale = min(height / image.height, width / image.width)
    inner = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    small = np.asarray(image.resize(inner, Image.Resampling(resample))).transpose(2, 0, 1)
    left, top = (width - inner[0]) // 2, (height - inner[1]) // 2
    around = ((0, 0), (top, height - inner[1] - top), (left, width - inner[0] - left))
    return np.pad(small, around, mode="edge")
