"""The canvas: parts are filled with paint, shaded as soft relief under one light, and composited in order.

A part's mask is rasterised at twice the size; its blurred mask is taken as height, whose slope against the light
gives the shading. Lines and dots go to an overlay that is flushed before the next part, so that order is kept.
Colours are premultiplied by coverage throughout, so the item can be laid on any background afterwards.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from likewise.synthetic.drawing.finish import light_of
from likewise.synthetic.drawing.geometry import XY, Points, along, jagged
from likewise.synthetic.drawing.paint import Colour, Paint
from likewise.synthetic.drawing.tiles import TILE, fold_tile

Plane = NDArray[np.float32]
_RIM = ImageFilter.BoxBlur(1)


@dataclass(frozen=True, eq=False)
class Pose:
    """How the item is held: garment units -> pixels, a bend, the light, and how far sleeves and legs spread."""

    matrix: Points
    shift: Points
    bend: float
    light: tuple[float, float]
    spread: float

    def apply(self, points: Points) -> Points:
        """Garment units to pixels."""
        (a, b), (c, d) = self.matrix
        y = points[:, 1]
        x = points[:, 0] + self.bend * y * y
        moved = np.empty((len(points), 2))
        moved[:, 0] = a * x + b * y + self.shift[0]
        moved[:, 1] = c * x + d * y + self.shift[1]
        return moved

    @property
    def scale(self) -> float:
        """Pixels per garment unit."""
        (a, b), (c, d) = self.matrix
        return math.sqrt(abs(float(a * d - b * c)))


class Canvas:
    """An item being drawn: ``colour`` ([3, size, size], premultiplied, 0 .. 255) and ``cover`` (0 .. 1)."""

    def __init__(self, size: int, pose: Pose, rng: np.random.Generator) -> None:
        self.size = size
        self.pose = pose
        self.rng = rng
        self.scale = pose.scale
        self.colour: Plane = np.zeros((3, size, size), dtype=np.float32)
        self.cover: Plane = np.zeros((size, size), dtype=np.float32)
        # Four plain channels (red, green, blue, coverage): Pillow un-multiplies RGBA when it reduces.
        self._overlay = Image.new("CMYK", (2 * size, 2 * size))
        self._draw = ImageDraw.Draw(self._overlay)
        self._inked = False
        inverse = np.linalg.inv(pose.matrix).astype(np.float32)
        at = np.arange(size, dtype=np.float32) + np.float32(0.5)
        x = at[None, :] - np.float32(pose.shift[0])
        y = at[:, None] - np.float32(pose.shift[1])
        self.v: Plane = inverse[1, 0] * x + inverse[1, 1] * y
        self.u: Plane = inverse[0, 0] * x + inverse[0, 1] * y
        bent = np.float32(pose.bend) * self.v
        bent *= self.v
        self.u -= bent

    def fill(
        self,
        shapes: Sequence[Points],
        paint: Paint,
        *,
        puff: float = 9.0,
        edge: float = 0.35,
        cast: float = 0.22,
        shade: float = 1.0,
        turn: float = 0.0,
        holes: Sequence[Points] = (),
    ) -> None:
        """One part: ``puff`` is the roundness in pixels, ``turn`` the angle of its weave in degrees."""
        self.flush()
        if paint.hairy:
            shapes = [jagged(shape, self.rng, 0.07) for shape in shapes]
        outlines = self._placed(shapes)
        window = self._window(outlines, margin=int(puff / 2) + 3)
        if window is None:
            return
        x0, y0, x1, y1 = window
        region = (slice(y0, y1), slice(x0, x1))
        half = _mask(outlines, self._placed(holes), window)
        mask = np.asarray(half, dtype=np.float32) * np.float32(1 / 255)
        slope, height = self._relief(half, puff)
        index = self._index(paint, region, turn)
        bright, glint = light_of(paint, slope, self._folds(paint, region))
        light = _grow(bright, half.size) * np.float32(shade)
        if paint.relief is not None:
            light *= paint.relief.take(index)
        if edge:
            blurred = np.asarray(half.filter(_RIM), dtype=np.float32)
            light *= np.maximum(np.float32(1 - 2 * edge) + np.float32(2 * edge / 255) * blurred, np.float32(1 - edge))
        alpha = mask
        if paint.holes is not None:
            alpha = mask * (1 - np.float32(0.72) * paint.holes.take(index))
        light *= alpha
        lit = light * _channels(paint.colour)
        if paint.share is not None and paint.second is not None:
            light *= paint.share.take(index)
            lit += light * (_channels(paint.second) - _channels(paint.colour))
        if glint is not None:
            lit += _grow(glint, half.size) * alpha
            np.minimum(lit, 255 * alpha, out=lit)
        keep = 1 - alpha
        under = self.cover[region]
        cast = cast if under.any() else 0.0
        under *= keep
        under += alpha
        if cast:
            # Smooth enough to be doubled rather than resampled; the shadow falls to the lower right.
            shadow = np.roll(height * np.float32(cast), (1, 1), axis=(0, 1)).repeat(2, axis=0).repeat(2, axis=1)
            keep *= 1 - shadow[: keep.shape[0], : keep.shape[1]]
        beneath = self.colour[:, y0:y1, x0:x1]
        beneath *= keep
        beneath += lit

    def line(self, points: Points, colour: Colour, width: float = 0.012, *, alpha: float = 1.0) -> None:
        """A stroke; width in garment units."""
        stroke = max(1, round(2 * width * self.scale))
        flat = self._pixels(points).ravel().tolist()
        self._draw.line(flat, fill=_ink(colour, alpha), width=stroke, joint="curve" if stroke > 5 else None)

    def dashes(self, points: Points, colour: Colour, width: float = 0.011, step: float = 0.05) -> None:
        """A seam of visible stitches."""
        spots, _ = along(points, step)
        pixels = self._pixels(spots)
        ends = pixels[:-1] + 0.6 * np.diff(pixels, axis=0)
        stroke = max(1, round(2 * width * self.scale))
        ink = _ink(colour, 1.0)
        for row in np.concatenate([pixels[:-1], ends], axis=1).tolist():
            self._draw.line(row, fill=ink, width=stroke)

    def blob(self, points: Points, colour: Colour, *, alpha: float = 1.0) -> None:
        """A small flat shape."""
        self._draw.polygon(self._pixels(points).ravel().tolist(), fill=_ink(colour, alpha))

    def dot(self, x: float, y: float, radius: float, colour: Colour, *, alpha: float = 1.0) -> None:
        """A small disc."""
        self.dots([(x, y)], radius, colour, alpha=alpha)

    def dots(self, spots: Points | Sequence[XY], radius: float, colour: Colour, *, alpha: float = 1.0) -> None:
        """Small discs of one size and colour."""
        r = max(1.0, 2 * radius * self.scale)
        ink = _ink(colour, alpha)
        for cx, cy in self._pixels(np.asarray(spots, dtype=np.float64)).tolist():
            self._draw.ellipse((cx - r, cy - r, cx + r, cy + r), fill=ink)

    def flush(self) -> None:
        """Lay the overlay of lines and dots on the canvas."""
        if not self._inked:
            return
        self._inked = False
        box = self._overlay.getbbox()
        if box is None:
            return
        x0, y0, x1, y1 = box[0] // 2, box[1] // 2, (box[2] + 1) // 2, (box[3] + 1) // 2
        wide = (2 * x0, 2 * y0, 2 * x1, 2 * y1)
        ink = np.asarray(self._overlay.reduce(2, box=wide), dtype=np.float32)
        keep = 1 - ink[..., 3] * np.float32(1 / 255)
        region = (slice(y0, y1), slice(x0, x1))
        beneath = self.colour[:, y0:y1, x0:x1]
        beneath *= keep
        beneath += ink[..., :3].transpose(2, 0, 1)
        self.cover[region] *= keep
        self.cover[region] += 1 - keep
        self._overlay.paste((0, 0, 0, 0), wide)

    def _placed(self, shapes: Sequence[Points]) -> list[Points]:
        """Every outline in pixels, moved all at once: a chain has hundreds of links."""
        if not shapes:
            return []
        moved = self.pose.apply(np.concatenate(shapes))
        ends = np.cumsum([len(shape) for shape in shapes]).tolist()
        return [moved[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def _pixels(self, points: Points) -> Points:
        """Overlay coordinates; marks the overlay as used."""
        self._inked = True
        return self.pose.apply(points) * 2

    def _window(self, outlines: Sequence[Points], margin: int) -> tuple[int, int, int, int] | None:
        points = np.concatenate(outlines)
        (low_x, low_y), (high_x, high_y) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
        x0, y0 = max(0, int(low_x) - margin), max(0, int(low_y) - margin)
        x1, y1 = min(self.size, int(high_x) + 1 + margin), min(self.size, int(high_y) + 1 + margin)
        return (x0, y0, x1, y1) if x1 - x0 > 3 and y1 - y0 > 3 else None

    def _relief(self, half: Image.Image, puff: float) -> tuple[Plane, Plane]:
        """Slope towards the light (about -0.5 .. 0.5) and the blurred mask, at half the window's size."""
        width = max(2, round(puff / 2)) | 1
        soft = half.reduce(2).filter(ImageFilter.GaussianBlur(0.41 * width))
        height = np.asarray(soft, dtype=np.float32) * np.float32(1 / 255)
        lx, ly = self.pose.light
        slope = np.zeros_like(height)
        slope[:, 1:-1] = (height[:, 2:] - height[:, :-2]) * np.float32(-lx * width / 2)
        slope[1:-1] += (height[2:] - height[:-2]) * np.float32(-ly * width / 2)
        return slope, height

    def _index(self, paint: Paint, region: tuple[slice, slice], turn: float) -> NDArray[np.int32]:
        """Where each pixel of the region falls on the paint's tiles."""
        if paint.relief is None:
            return _NOWHERE
        u, v = self.u[region], self.v[region]
        if turn:
            c, s = np.float32(np.cos(np.radians(turn))), np.float32(np.sin(np.radians(turn)))
            u, v = c * u + s * v, c * v - s * u
        return _tile_index(u, v, TILE / paint.tile_scale, TILE / paint.tile_scale)

    def _folds(self, paint: Paint, region: tuple[slice, slice]) -> Plane | None:
        if not paint.folds:
            return None
        index = _tile_index(self.u[region][::2, ::2], self.v[region][::2, ::2], 110, 80)
        return fold_tile().ravel().take(index) * np.float32(paint.folds)


_NOWHERE: NDArray[np.int32] = np.zeros(0, dtype=np.int32)


def _tile_index(u: Plane, v: Plane, rate_u: float, rate_v: float) -> NDArray[np.int32]:
    # The shift keeps coordinates positive, so that the cast rounds down; TILE is a power of two.
    column = (u * np.float32(rate_u) + np.float32(64 * TILE)).astype(np.int32) & (TILE - 1)
    row = (v * np.float32(rate_v) + np.float32(64 * TILE)).astype(np.int32) & (TILE - 1)
    row *= TILE
    row += column
    return row


def _mask(outlines: Sequence[Points], holes: Sequence[Points], window: tuple[int, int, int, int]) -> Image.Image:
    x0, y0, x1, y1 = window
    image = Image.new("L", (2 * (x1 - x0), 2 * (y1 - y0)))
    pen = ImageDraw.Draw(image)
    corner = np.array([x0, y0])
    for outline in outlines:
        pen.polygon(((outline - corner) * 2).ravel().tolist(), fill=255)
    for hole in holes:
        pen.polygon(((hole - corner) * 2).ravel().tolist(), fill=0)
    return image.reduce(2)


def _grow(plane: Plane, size: tuple[int, int]) -> Plane:
    image = Image.fromarray(plane)
    return np.asarray(image.resize(size, Image.Resampling.BILINEAR), dtype=np.float32)


def _channels(colour: Colour) -> Plane:
    return np.asarray(colour, dtype=np.float32)[:, None, None]


def _ink(colour: Colour, alpha: float) -> tuple[int, int, int, int]:
    r, g, b = (round(min(255.0, max(0.0, channel)) * alpha) for channel in colour)
    return (r, g, b, round(255 * alpha))
