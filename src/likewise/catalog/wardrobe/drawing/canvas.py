"""The canvas: parts are filled with paint, shaded as soft relief under one light, and composited in order.

A part's mask is rasterised at twice the size; its blurred mask is taken as height, whose slope against the light
gives the shading. Lines and dots go to an overlay that is flushed before the next part, so that order is kept.
Colours are premultiplied by coverage throughout, so the item can be laid on any background afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy.ndimage import uniform_filter

from likewise.catalog.wardrobe.drawing.geometry import Points, jagged
from likewise.catalog.wardrobe.drawing.paint import Colour, Paint
from likewise.catalog.wardrobe.drawing.tiles import TILE, fold_tile

Plane = NDArray[np.float32]


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
        bent = points.astype(np.float64)
        bent[:, 0] += self.bend * bent[:, 1] ** 2
        moved: Points = bent @ self.matrix.T + self.shift
        return moved

    @property
    def scale(self) -> float:
        """Pixels per garment unit."""
        return float(np.sqrt(abs(np.linalg.det(self.matrix))))


class Canvas:
    """An item being drawn; ``colour`` (premultiplied, 0 .. 255) and ``cover`` (0 .. 1) are the result."""

    def __init__(self, size: int, pose: Pose, rng: np.random.Generator) -> None:
        self.size = size
        self.pose = pose
        self.rng = rng
        self.colour: Plane = np.zeros((size, size, 3), dtype=np.float32)
        self.cover: Plane = np.zeros((size, size), dtype=np.float32)
        self._overlay: Image.Image | None = None
        self._pen: ImageDraw.ImageDraw | None = None
        self._box = [size, size, 0, 0]
        inverse = np.linalg.inv(pose.matrix)
        at = np.arange(size, dtype=np.float32) + 0.5
        x = at[None, :] - np.float32(pose.shift[0])
        y = at[:, None] - np.float32(pose.shift[1])
        v = np.float32(inverse[1, 0]) * x + np.float32(inverse[1, 1]) * y
        u = np.float32(inverse[0, 0]) * x + np.float32(inverse[0, 1]) * y
        self.v: Plane = v
        self.u: Plane = u - np.float32(pose.bend) * v * v

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
        outlines = [self.pose.apply(shape) for shape in shapes]
        window = self._window(outlines, margin=int(puff) + 3)
        if window is None:
            return
        x0, y0, x1, y1 = window
        half = _mask(outlines, [self.pose.apply(hole) for hole in holes], window)
        mask = np.asarray(half, dtype=np.float32) * np.float32(1 / 255)
        slope, soft = self._relief(half, puff)
        region = (slice(y0, y1), slice(x0, x1))
        base, alpha, folds = self._weave(paint, region, mask, turn)
        lit = _finish(paint, base, slope, folds, shade)
        if edge:
            rim = uniform_filter(mask, 3)
            lit *= (1 - edge * np.clip(2 * (1 - rim), 0, 1))[..., None]
        if cast:
            shadow = np.roll(soft, (3, 2), axis=(0, 1)) * np.float32(cast)
            self.colour[region] *= (1 - shadow)[..., None]
        keep = 1 - alpha
        self.colour[region] = self.colour[region] * keep[..., None] + lit * alpha[..., None]
        self.cover[region] = self.cover[region] * keep + alpha

    def line(self, points: Points, colour: Colour, width: float = 0.012, *, alpha: float = 1.0) -> None:
        """A stroke; width in garment units."""
        pixels = self.pose.apply(points)
        pen = self._ink(pixels, 3)
        stroke = max(1, round(2 * width * self.pose.scale))
        pen.line((pixels * 2).ravel().tolist(), fill=_ink(colour, alpha), width=stroke, joint="curve")

    def dashes(self, points: Points, colour: Colour, width: float = 0.011, step: float = 0.05) -> None:
        """A seam of visible stitches."""
        from likewise.catalog.wardrobe.drawing.geometry import along

        spots, _ = along(points, step)
        for a, b in zip(spots[:-1], spots[1:], strict=True):
            self.line(np.array([a, a + 0.6 * (b - a)]), colour, width)

    def blob(self, points: Points, colour: Colour, *, alpha: float = 1.0) -> None:
        """A small flat shape."""
        pixels = self.pose.apply(points)
        self._ink(pixels, 1).polygon((pixels * 2).ravel().tolist(), fill=_ink(colour, alpha))

    def dot(self, x: float, y: float, radius: float, colour: Colour, *, alpha: float = 1.0) -> None:
        """A small disc."""
        pixels = self.pose.apply(np.array([[x, y]]))
        r = max(1.0, 2 * radius * self.pose.scale)
        cx, cy = (pixels[0] * 2).tolist()
        pen = self._ink(pixels, r / 2 + 1)
        pen.ellipse((cx - r, cy - r, cx + r, cy + r), fill=_ink(colour, alpha))

    def flush(self) -> None:
        """Lay the overlay of lines and dots on the canvas."""
        if self._overlay is None:
            return
        x0, y0, x1, y1 = self._box
        if x1 > x0 and y1 > y0:
            patch = self._overlay.crop((2 * x0, 2 * y0, 2 * x1, 2 * y1)).reduce(2)
            ink = np.asarray(patch, dtype=np.float32)
            alpha = ink[..., 3] * np.float32(1 / 255)
            region = (slice(y0, y1), slice(x0, x1))
            self.colour[region] = self.colour[region] * (1 - alpha)[..., None] + ink[..., :3]
            self.cover[region] = self.cover[region] * (1 - alpha) + alpha
        self._overlay = self._pen = None
        self._box = [self.size, self.size, 0, 0]

    def _ink(self, pixels: Points, margin: float) -> ImageDraw.ImageDraw:
        if self._overlay is None or self._pen is None:
            self._overlay = Image.new("RGBA", (2 * self.size, 2 * self.size))
            self._pen = ImageDraw.Draw(self._overlay)
        low = np.floor(pixels.min(axis=0) - margin).astype(int)
        high = np.ceil(pixels.max(axis=0) + margin).astype(int)
        self._box[0] = max(0, min(self._box[0], int(low[0])))
        self._box[1] = max(0, min(self._box[1], int(low[1])))
        self._box[2] = min(self.size, max(self._box[2], int(high[0])))
        self._box[3] = min(self.size, max(self._box[3], int(high[1])))
        return self._pen

    def _window(self, outlines: Sequence[Points], margin: int) -> tuple[int, int, int, int] | None:
        low = np.floor(np.min([outline.min(axis=0) for outline in outlines], axis=0)).astype(int) - margin
        high = np.ceil(np.max([outline.max(axis=0) for outline in outlines], axis=0)).astype(int) + margin
        x0, y0 = max(0, int(low[0])), max(0, int(low[1]))
        x1, y1 = min(self.size, int(high[0])), min(self.size, int(high[1]))
        return (x0, y0, x1, y1) if x1 - x0 > 3 and y1 - y0 > 3 else None

    def _relief(self, half: Image.Image, puff: float) -> tuple[Plane, Plane]:
        """Slope towards the light (about -0.5 .. 0.5) and the blurred mask, at the window's size."""
        small = np.asarray(half.reduce(2), dtype=np.float32) * np.float32(1 / 255)
        width = max(2, round(puff / 2)) | 1
        height = uniform_filter(uniform_filter(small, width, mode="nearest"), width, mode="nearest")
        gy, gx = np.gradient(height)
        lx, ly = self.pose.light
        slope = (gx * np.float32(-lx * width) + gy * np.float32(-ly * width)).astype(np.float32)
        return _grow(slope, half.size), _grow(height, half.size)

    def _weave(
        self, paint: Paint, region: tuple[slice, slice], mask: Plane, turn: float
    ) -> tuple[Plane, Plane, Plane | None]:
        """Base colour, coverage and folds of a region."""
        u, v = self.u[region], self.v[region]
        folds: Plane | None = None
        if paint.folds:
            where = (v * 80).astype(np.int32) % TILE * TILE + (u * 110).astype(np.int32) % TILE
            folds = fold_tile().ravel().take(where) * np.float32(paint.folds)
        if paint.tile is None:
            return np.asarray(paint.colour, dtype=np.float32), mask, folds
        if turn:
            c, s = np.float32(np.cos(np.radians(turn))), np.float32(np.sin(np.radians(turn)))
            u, v = c * u + s * v, c * v - s * u
        rate = np.float32(TILE / paint.tile_scale)
        index = np.floor(v * rate).astype(np.int32) % TILE * TILE + np.floor(u * rate).astype(np.int32) % TILE
        alpha = mask
        if paint.holes is not None:
            alpha = mask * (1 - np.float32(0.72) * paint.holes.take(index))
        return paint.tile.take(index, axis=0), alpha, folds


def _finish(paint: Paint, base: Plane, slope: Plane, folds: Plane | None, shade: float) -> Plane:
    """Base colour under the light, by the paint's finish."""
    crease = 0.0 if folds is None else folds
    tone = np.float32(shade)
    shine: Plane | None = None
    if paint.finish == "metal":
        light = 0.78 + 0.34 * np.sin(slope * 11 + 0.6) + 0.5 * slope
        shine = np.clip(slope - 0.16, 0, 1) * 420
    elif paint.finish == "pearl":
        light = 0.97 + 0.55 * slope
        shine = np.clip(slope - 0.2, 0, 1) * 300
    elif paint.finish == "gloss":
        light = 0.95 + 0.75 * slope + 0.10 * crease
        shine = np.clip(slope + 0.12 * crease - 0.13, 0, 0.4) * 460
    elif paint.finish == "semi":
        light = 0.98 + 0.7 * slope + 0.10 * crease
        shine = np.clip(slope - 0.2, 0, 1) * 160
    elif paint.finish == "satin":
        light = 1.0 + 0.6 * slope + 0.42 * np.sin(np.float32(5.0) * crease + 4 * slope) * 0.55
        shine = np.clip(np.sin(np.float32(5.0) * crease + 4 * slope) - 0.45, 0, 1) * 70
    elif paint.finish == "velvet":
        light = 0.80 + 0.9 * np.abs(slope) + 0.35 * slope + 0.2 * crease
    else:
        light = 1.0 + 0.62 * slope + 0.14 * crease
    lit = base * (light * tone)[..., None]
    if shine is not None:
        lit = lit + shine[..., None]
    return np.clip(lit, 0, 255).astype(np.float32)


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
    image = Image.fromarray(np.ascontiguousarray(plane, dtype=np.float32))
    return np.asarray(image.resize(size, Image.Resampling.BILINEAR), dtype=np.float32)


def _ink(colour: Colour, alpha: float) -> tuple[int, int, int, int]:
    r, g, b = (round(min(255.0, max(0.0, channel)) * alpha) for channel in colour)
    return (r, g, b, round(255 * alpha))
