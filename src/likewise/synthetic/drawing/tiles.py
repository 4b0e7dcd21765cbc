"""Seamless tiles, made once per process: patterns (how much second colour) and materials (surface relief).

A tile covers one garment unit. A pattern tile holds the share of the second colour in 0 .. 1, a material tile
the brightness factor of the surface around 1, and the lace tile also the share of cloth that is a hole.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw, ImageFilter

TILE = 128
_OVER = 4
Tile = NDArray[np.float32]


def _tile(values: ArrayLike) -> Tile:
    return np.asarray(values, dtype=np.float32)


def _grid() -> tuple[Tile, Tile]:
    at = (np.arange(TILE, dtype=np.float32) + 0.5) / TILE
    u, v = np.meshgrid(at, at)
    return u.astype(np.float32), v.astype(np.float32)


def _wave(phase: Tile, share: float = 0.5, soft: float = 0.08) -> Tile:
    """1 in the first ``share`` of every period of ``phase`` (period one), with soft borders."""
    distance = np.abs((phase % 1.0) - 0.5)
    return _tile(np.clip((share / 2 - distance) / soft + 0.5, 0.0, 1.0))


def _noise(seed: int, blur_x: float, blur_y: float) -> Tile:
    """Seamless noise of unit standard deviation, smoothed in the frequency domain."""
    white = np.random.default_rng(seed).normal(size=(TILE, TILE))
    fx = np.fft.fftfreq(TILE)[None, :]
    fy = np.fft.fftfreq(TILE)[:, None]
    gain = np.exp(-2 * math.pi**2 * ((fx * blur_x) ** 2 + (fy * blur_y) ** 2))
    smooth = np.fft.ifft2(np.fft.fft2(white) * gain).real
    return _tile((smooth - smooth.mean()) / smooth.std())


def _stamped(places: list[tuple[float, float, float, float]], kind: str) -> Tile:
    """Flowers or rosettes stamped at (u, v, radius, angle), wrapped around the borders."""
    size = TILE * _OVER
    image = Image.new("L", (size, size))
    draw = ImageDraw.Draw(image)
    for u, v, radius, angle in places:
        for du in (-1, 0, 1):
            for dv in (-1, 0, 1):
                _stamp(draw, (u + du) * size, (v + dv) * size, radius * size, angle, kind)
    return _tile(np.asarray(image.reduce(_OVER), dtype=np.float32) / 255)


def _stamp(draw: ImageDraw.ImageDraw, x: float, y: float, r: float, angle: float, kind: str) -> None:
    def disc(cx: float, cy: float, rx: float, fill: int) -> None:
        draw.ellipse((cx - rx, cy - rx, cx + rx, cy + rx), fill=fill)

    if kind == "flower":
        leaf = angle + 0.6
        disc(x + 1.25 * r * math.cos(leaf), y + 1.25 * r * math.sin(leaf), 0.28 * r, 110)
        disc(x + 1.5 * r * math.cos(leaf), y + 1.5 * r * math.sin(leaf), 0.2 * r, 110)
        for petal in range(5):
            a = angle + petal * 2 * math.pi / 5
            disc(x + 0.6 * r * math.cos(a), y + 0.6 * r * math.sin(a), 0.44 * r, 255)
        disc(x, y, 0.3 * r, 60)
    else:
        disc(x, y, 0.6 * r, 90)
        for piece in range(3):
            a = math.degrees(angle) + 120 * piece
            rim = (x - r, y - 0.8 * r, x + r, y + 0.8 * r)
            draw.arc(rim, a, a + 85, fill=255, width=max(2, round(0.42 * r)))


@cache
def pattern_tile(pattern: str) -> Tile:
    """Share of the second colour."""
    u, v = _grid()
    if pattern == "stripes":
        return _wave(v * 6, 0.46)
    if pattern == "pinstripes":
        return _wave(u * 9, 0.2, 0.12)
    if pattern == "checks":
        return _tile(0.5 * _wave(u * 4, 0.5, 0.06) + 0.5 * _wave(v * 4, 0.5, 0.06))
    if pattern == "dots":
        near = np.minimum(
            np.hypot((u * 5) % 1 - 0.5, (v * 5) % 1 - 0.5),
            np.hypot((u * 5 + 0.5) % 1 - 0.5, (v * 5 + 0.5) % 1 - 0.5),
        )
        return _tile(np.clip((0.24 - near) / 0.06 + 0.5, 0, 1))
    if pattern == "zigzag":
        return _wave(v * 5 + np.abs((u * 4) % 1 - 0.5).astype(np.float32) * 1.1, 0.42)
    if pattern == "floral":
        rng = np.random.default_rng(5)
        places = [
            ((i + 0.5 * (j % 2) + rng.uniform(-0.14, 0.14)) / 3, (j + rng.uniform(-0.14, 0.14)) / 4)
            for i in range(3)
            for j in range(4)
        ]
        return _stamped([(p, q, rng.uniform(0.078, 0.108), rng.uniform(0, 6.28)) for p, q in places], "flower")
    if pattern == "leopard":
        rng = np.random.default_rng(8)
        spots = [
            ((i + 0.5 * (j % 2) + rng.uniform(-0.2, 0.2)) / 6, (j + rng.uniform(-0.2, 0.2)) / 7)
            for i in range(6)
            for j in range(7)
        ]
        return _stamped([(p, q, rng.uniform(0.045, 0.068), rng.uniform(0, 6.28)) for p, q in spots], "spot")
    return np.zeros((TILE, TILE), dtype=np.float32)


@cache
def material_tile(material: str) -> Tile:
    """Brightness of the surface, around 1."""
    u, v = _grid()
    one = np.ones((TILE, TILE), dtype=np.float32)
    two_pi = np.float32(2 * math.pi)
    if material == "knit":
        slant = np.abs((u * 11) % 1 - 0.5) * 1.5
        stitch = np.sin((v * 15 + slant) * two_pi)
        groove = np.cos(u * 11 * two_pi)
        return _tile(one + 0.15 * stitch - 0.17 * groove)
    if material == "denim":
        return _tile(one + 0.10 * np.sin((u + v) * 26 * two_pi) + 0.06 * _noise(1, 0.6, 2) + 0.035 * _noise(2, 9, 9))
    if material == "leather":
        return _tile(one + 0.045 * _noise(3, 1.1, 1.1) + 0.02 * _noise(4, 4, 4))
    if material == "lace":
        return _tile(one + 0.05 * _noise(5, 1, 1))
    if material == "velvet":
        return _tile(0.93 * one + 0.07 * _noise(6, 3, 5) + 0.03 * _noise(7, 0.7, 0.7))
    if material == "linen":
        return _tile(one + 0.075 * _noise(8, 0.4, 6) + 0.075 * _noise(9, 6, 0.4))
    if material == "wool":
        return _tile(one + 0.13 * _noise(10, 0.9, 0.9) + 0.06 * _noise(11, 3, 3))
    if material == "fur":
        return _tile(one + 0.17 * _noise(12, 0.7, 3.5) + 0.08 * _noise(13, 2, 6))
    if material == "quilted":
        ridge = np.abs(np.sin((u + v) * 5 * math.pi)) * np.abs(np.sin((u - v) * 5 * math.pi))
        return _tile(0.74 + 0.42 * np.sqrt(ridge))
    if material == "canvas":
        weave = np.sin(u * 32 * two_pi) * np.sin(v * 32 * two_pi)
        return _tile(one + 0.12 * weave + 0.04 * _noise(14, 1, 1))
    if material == "straw":
        over = np.sign(np.sin(u * 8 * two_pi) * np.sin(v * 8 * two_pi))
        strand = np.where(over > 0, np.sin(v * 40 * two_pi), np.sin(u * 40 * two_pi))
        return _tile(one + 0.12 * over + 0.1 * strand)
    if material == "suede":
        return _tile(0.97 * one + 0.085 * _noise(15, 0.8, 0.8) + 0.05 * _noise(16, 6, 4))
    if material == "wood":
        return _tile(one + 0.16 * np.sin((v * 12 + 0.35 * _noise(17, 14, 3)) * two_pi) + 0.03 * _noise(18, 4, 0.5))
    if material == "cotton":
        return _tile(one + 0.022 * _noise(19, 0.8, 0.8))
    return _tile(one)


@cache
def lace_holes() -> Tile:
    """Share of the cloth that is a hole: a net with round eyelets around small blossoms."""
    u, v = _grid()
    net = np.hypot((u * 16 + 0.5 * (np.floor(v * 16) % 2)) % 1 - 0.5, (v * 16) % 1 - 0.5)
    holes = np.clip((0.42 - net) / 0.15, 0, 1)
    # Blossoms and small leaves of closed cloth, in staggered rows.
    row = np.floor(v * 4)
    x, y = (u * 4 + 0.5 * (row % 2)) % 1 - 0.5, (v * 4) % 1 - 0.5
    petals = np.hypot(x, y) < 0.3 + 0.11 * np.cos(5 * np.arctan2(y, x))
    leaf = np.hypot((x + 0.5) % 1 - 0.5, 1.6 * y) < 0.13
    return _tile(np.where(petals | leaf, 0.0, holes))


@cache
def fold_tile() -> Tile:
    """Soft creases, longer than wide, about -1 .. 1."""
    noise = _noise(20, 7, 22)
    image = Image.fromarray(np.clip(noise * 50 + 128, 0, 255).astype(np.uint8))
    smooth = np.asarray(image.filter(ImageFilter.GaussianBlur(1)), dtype=np.float32)
    return _tile((smooth - 128) / 100)
