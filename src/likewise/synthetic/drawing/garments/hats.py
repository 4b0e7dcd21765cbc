"""Hats: beanie, fedora, cap, bucket, beret, wide-brim; the band or trim is in the second colour."""

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.geometry import Points, ellipse, line, mirrored, path
from likewise.synthetic.drawing.look import Anchors, Look
from likewise.synthetic.drawing.paint import darker


def draw_hat(canvas: Canvas, look: Look) -> Anchors:
    """By silhouette."""
    return _HATS[look["silhouette"]](canvas, look)


def _result(spot: tuple[float, float], hem: Points, side: Points, front: Points, size: float = 0.12) -> Anchors:
    return Anchors(spot, size, [hem], [side], front)


def _beanie(canvas: Canvas, look: Look) -> Anchors:
    crown = path((0, -0.6), (0.5, -0.58, 0.54, 0.16), (0.54, 0.3), (0, 0.36))
    canvas.fill([mirrored(crown)], look.fabric, puff=16)
    for x in (-0.36, -0.18, 0, 0.18, 0.36):
        canvas.line(path((x * 0.2, -0.58), (x * 1.15, -0.3, x * 1.1, 0.2)), darker(look.first, 0.6), 0.01, alpha=0.5)
    cuff = path((0, 0.16), (0.3, 0.15, 0.56, 0.1), (0.59, 0.26, 0.56, 0.42), (0.3, 0.5, 0, 0.5))
    canvas.fill([mirrored(cuff)], look.trim, puff=9, cast=0.35)
    canvas.fill([ellipse(0.02, -0.66, 0.15)], look.trim, puff=8)
    hem = path((0.56, 0.42), (0.3, 0.49, 0, 0.49), (-0.3, 0.49, -0.56, 0.42))
    return _result((0, 0.3), hem, path((0.46, -0.1), (0.3, -0.5, 0.1, -0.55)), line((0, -0.46), (0, 0.12)), 0.11)


def _brimmed(canvas: Canvas, look: Look, brim: float, drop: float, crown_w: float, pinch: float) -> Anchors:
    back = ellipse(0, 0.26, brim, 0.2 + drop)
    canvas.fill([back], look.plain, puff=7, shade=0.72)
    crown = path(
        (0, -0.5 + pinch), (crown_w * 0.5, -0.62, crown_w * 0.8, -0.5), (crown_w, -0.2, crown_w * 1.08, 0.3), (0, 0.44)
    )
    canvas.fill([mirrored(crown)], look.fabric, puff=14)
    if pinch:
        dent = path((0.02, -0.44), (0.06, -0.25, 0.2, -0.12))
        canvas.line(dent, darker(look.first, 0.55), 0.016, alpha=0.7)
        canvas.line(dent * np.array([-1, 1]), darker(look.first, 0.55), 0.016, alpha=0.7)
    band = path(
        (0, 0.18), (crown_w * 0.6, 0.18, crown_w * 1.05, 0.1), (crown_w * 1.1, 0.26), (crown_w * 0.6, 0.36, 0, 0.36)
    )
    canvas.fill([mirrored(band)], look.trim, puff=5, cast=0.2)
    front = path(
        (-brim, 0.24),
        (-0.6 * brim, 0.36, 0, 0.36),
        (0.6 * brim, 0.36, brim, 0.24),
        (brim + 0.02, 0.34, brim * 0.8, 0.42 + drop),
        (0, 0.62 + drop, -brim * 0.8, 0.42 + drop),
        (-brim - 0.02, 0.34, -brim, 0.24),
    )
    canvas.fill([front], look.fabric, puff=8, cast=0.3)
    hem = path((brim * 0.8, 0.4 + drop), (0, 0.6 + drop, -brim * 0.8, 0.4 + drop))
    canvas.line(hem, look.second, 0.018)
    return _result(
        (0, -0.1),
        hem,
        path((crown_w * 0.7, -0.42), (crown_w * 0.86, -0.2, crown_w * 0.9, 0.1)),
        line((0, -0.4), (0, 0.16)),
        0.11,
    )


def _fedora(canvas: Canvas, look: Look) -> Anchors:
    return _brimmed(canvas, look, 0.8, -0.05, 0.46, 0.12)


def _wide_brim(canvas: Canvas, look: Look) -> Anchors:
    return _brimmed(canvas, look, 0.95, 0.12, 0.38, 0.0)


def _bucket(canvas: Canvas, look: Look) -> Anchors:
    brim = path((0, 0.08), (0.46, 0.06), (0.66, 0.3, 0.76, 0.44), (0.3, 0.62, 0, 0.62))
    crown = path((0, -0.48), (0.3, -0.48, 0.36, -0.42), (0.44, -0.2, 0.48, 0.12), (0.2, 0.2, 0, 0.2))
    canvas.fill([mirrored(brim)], look.fabric, puff=9)
    canvas.fill([mirrored(crown)], look.fabric, puff=13, cast=0.3)
    for y in (0.3, 0.4, 0.5):
        canvas.line(
            path((-0.52 - 0.4 * (y - 0.2), y - 0.07), (0, y + 0.14, 0.52 + 0.4 * (y - 0.2), y - 0.07)),
            darker(look.first, 0.6),
            0.008,
        )
    canvas.line(path((-0.48, 0.12), (0, 0.26, 0.48, 0.12)), look.second, 0.04)
    hem = path((0.74, 0.44), (0.3, 0.6, 0, 0.6), (-0.3, 0.6, -0.74, 0.44))
    canvas.line(hem, look.second, 0.016)
    return _result((0, -0.14), hem, path((0.3, -0.4), (0.38, -0.1), (0.42, 0.1)), line((0, -0.4), (0, 0.14)))


def _cap(canvas: Canvas, look: Look) -> Anchors:
    crown = path((-0.62, 0.24), (-0.66, -0.56, -0.02, -0.56), (0.5, -0.54, 0.52, 0.16), (0.0, 0.2, -0.62, 0.24))
    canvas.fill([crown], look.fabric, puff=15)
    for seam in (path((-0.04, -0.55), (0.2, -0.3, 0.24, 0.18)), path((-0.04, -0.55), (-0.34, -0.3, -0.36, 0.2))):
        canvas.line(seam, darker(look.first, 0.6), 0.01)
    visor = path(
        (0.06, 0.18), (0.4, 0.06, 0.54, 0.14), (0.9, 0.22, 0.94, 0.36), (0.8, 0.42, 0.5, 0.32), (0.3, 0.26, 0.06, 0.3)
    )
    canvas.fill([visor], look.trim, puff=7, cast=0.35)
    canvas.dot(-0.04, -0.56, 0.045, look.second)
    hem = path((0.2, 0.2), (-0.2, 0.2, -0.6, 0.23))
    canvas.line(hem, darker(look.first, 0.5), 0.02)
    return _result(
        (0.02, -0.14), hem, path((-0.44, 0.1), (-0.5, -0.3, -0.2, -0.46)), line((-0.04, -0.48), (-0.08, 0.14))
    )


def _beret(canvas: Canvas, look: Look) -> Anchors:
    disc = path(
        (-0.44, 0.3),
        (-0.8, 0.24, -0.72, -0.06),
        (-0.5, -0.5, 0.1, -0.44),
        (0.8, -0.36, 0.78, 0.04),
        (0.7, 0.26, 0.4, 0.3),
        (0.0, 0.36, -0.44, 0.3),
    )
    canvas.fill([disc], look.fabric, puff=17)
    band = path((-0.44, 0.26), (0.0, 0.34, 0.4, 0.26), (0.42, 0.4), (0.0, 0.48, -0.44, 0.4))
    canvas.fill([band], look.trim, puff=5, cast=0.3)
    canvas.line(path((0.1, -0.43), (0.12, -0.52, 0.17, -0.54)), darker(look.first, 0.7), 0.045)
    for x in (-0.3, 0.3):
        canvas.line(path((0.1, -0.4), (x, -0.2, x * 1.6, 0.1)), darker(look.first, 0.65), 0.01, alpha=0.4)
    hem = path((0.42, 0.39), (0.0, 0.47, -0.44, 0.39))
    return _result(
        (-0.3, 0.0), hem, path((-0.6, 0.1), (-0.5, -0.3, 0.0, -0.36)), path((0.6, 0.1), (0.3, 0.2, -0.1, 0.22))
    )


_HATS = {"beanie": _beanie, "fedora": _fedora, "cap": _cap, "bucket": _bucket, "beret": _beret, "wide-brim": _wide_brim}
