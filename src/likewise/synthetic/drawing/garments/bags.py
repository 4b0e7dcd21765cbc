"""Bags: tote, clutch, backpack, satchel, crossbody, bucket."""

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.geometry import (
    Points,
    both_sides,
    box,
    ellipse,
    flip,
    line,
    mirrored,
    path,
    ribbon,
    rounded,
)
from likewise.synthetic.drawing.look import Anchors, Look
from likewise.synthetic.drawing.paint import darker

# half width of the top, of the bottom, top y, bottom y
_BODY = {
    "tote": (0.52, 0.6, -0.22, 0.78),
    "clutch": (0.8, 0.8, -0.32, 0.42),
    "backpack": (0.44, 0.52, -0.62, 0.76),
    "satchel": (0.56, 0.7, -0.2, 0.62),
    "crossbody": (0.46, 0.5, 0.02, 0.72),
    "bucket": (0.5, 0.4, -0.12, 0.8),
}


def _strap(canvas: Canvas, look: Look, centre_line: Points, width: float) -> None:
    canvas.fill([ribbon(centre_line, width)], look.trim, puff=4, cast=0.15)


def draw_bag(canvas: Canvas, look: Look) -> Anchors:
    """Straps behind, the body, then flap, handles, pocket and hardware."""
    kind = look["silhouette"]
    top_w, low_w, top, low = _BODY[kind]
    sway = 0.1 * (canvas.pose.spread - 0.5)
    if kind == "crossbody":
        _strap(
            canvas,
            look,
            path((-0.44, 0.1), (-0.4 + sway, -0.5, -0.05 + 2 * sway, -0.86), (0.35, -0.5, 0.44, 0.1)),
            0.05,
        )
    if kind == "backpack":
        loop = path((-0.12, -0.6), (-0.1, -0.84, 0, -0.84), (0.1, -0.84, 0.12, -0.6))
        _strap(canvas, look, loop, 0.06)
        for side in both_sides(path((0.4, -0.4), (0.66 + sway, 0.1, 0.5, 0.6))):
            _strap(canvas, look, side, 0.09)
    if kind == "bucket":
        _strap(
            canvas, look, path((-0.46, -0.08), (-0.4 + sway, -0.8, sway, -0.82), (0.4 + sway, -0.8, 0.46, -0.08)), 0.06
        )
        canvas.fill([ellipse(0, top, top_w, 0.1)], look.plain, shade=0.5, puff=3)
    if kind == "tote":
        _strap(
            canvas,
            look,
            path((-0.26, -0.14), (-0.24 - sway, -0.86, 0, -0.86), (0.24 - sway, -0.86, 0.26, -0.14))
            + np.array([0.03, 0.02]),
            0.05,
        )
    dip = 0.06 if kind == "bucket" else 0.0
    r = 0.24 if kind == "backpack" else 0.03
    half = path(
        (0, top + dip),
        (top_w * 0.6, top + dip, top_w - r, top + dip * 0.4),
        (top_w, top, top_w + 0.01, top + r),
        (0.5 * (top_w + low_w) + 0.03, 0.5 * (top + low), low_w, low - 0.1),
        (low_w, low, low_w - 0.1, low),
        (0, low + 0.015),
    )
    canvas.fill([mirrored(half)], look.fabric, puff=14)
    hem = line((low_w - 0.06, low - 0.02), (-low_w + 0.06, low - 0.02))
    spot, front = _details(canvas, look, kind, top_w, low_w, top, low, sway)
    side = path((top_w - 0.06, top + 0.12), (low_w - 0.06, low - 0.08))
    return Anchors(spot, 0.12, [hem], [side, flip(side)], front)


def _details(
    canvas: Canvas, look: Look, kind: str, top_w: float, low_w: float, top: float, low: float, sway: float
) -> tuple[tuple[float, float], Points]:
    """Flap, handle, pocket and clasp; returns the emblem's spot and the line of fastenings."""
    if kind in ("tote", "bucket"):
        return _open_bag(canvas, look, kind, top_w, top, low, sway)
    if kind == "clutch":
        return _clutch(canvas, look, top)
    if kind == "satchel":
        return _satchel(canvas, look, top_w, top, low, sway)
    if kind == "crossbody":
        return _crossbody(canvas, look, top_w, low_w, top)
    return _backpack(canvas, look)


def _open_bag(
    canvas: Canvas, look: Look, kind: str, top_w: float, top: float, low: float, sway: float
) -> tuple[tuple[float, float], Points]:
    seam = darker(look.first, 0.5)
    if kind == "tote":
        _strap(
            canvas,
            look,
            path(
                (-0.26, top + 0.2),
                (-0.25, top - 0.04),
                (-0.22 + sway, -0.8, 0, -0.8),
                (0.22 + sway, -0.8, 0.25, top - 0.04),
                (0.26, top + 0.2),
            ),
            0.055,
        )
    else:
        cord = path((-0.48, top + 0.12), (0, top + 0.24, 0.48, top + 0.12))
        canvas.line(cord, look.second, 0.03)
        for x in (-0.06, 0.06):
            canvas.line(path((x * 0.3, top + 0.18), (x, top + 0.3, x * 1.8, top + 0.42)), look.second, 0.026)
    canvas.line(line((top_w, top + 0.08), (-top_w, top + 0.08)), seam, 0.009)
    return (0.0, 0.5 * (top + low) + 0.1), line((0, top + 0.16), (0, low - 0.1))


def _clutch(canvas: Canvas, look: Look, top: float) -> tuple[tuple[float, float], Points]:
    flap = path(
        (-0.8, top),
        (0.8, top),
        (0.76, top + 0.16),
        (0.2, top + 0.46, 0, top + 0.46),
        (-0.2, top + 0.46, -0.76, top + 0.16),
    )
    canvas.fill([flap], look.fabric, puff=9, cast=0.4)
    canvas.line(flap[2:], look.second, 0.02)
    canvas.fill([ellipse(0, top + 0.44, 0.06, steps=16)], look.hardware, puff=4)
    return (0.5, 0.24), line((-0.6, 0.34), (0.6, 0.34))


def _satchel(
    canvas: Canvas, look: Look, top_w: float, top: float, low: float, sway: float
) -> tuple[tuple[float, float], Points]:
    handle = path((-0.22, top + 0.02), (-0.22 + sway, -0.62, sway, -0.62), (0.22 + sway, -0.62, 0.22, top + 0.02))
    _strap(canvas, look, handle, 0.075)
    flap = path(
        (-top_w, top),
        (top_w, top),
        (top_w + 0.05, 0.1, top_w - 0.02, 0.22),
        (0, 0.28, -top_w + 0.02, 0.22),
        (-top_w - 0.05, 0.1, -top_w, top),
    )
    canvas.fill([flap], look.fabric, puff=10, cast=0.4)
    for x in (-0.34, 0.34):
        canvas.fill([box(x - 0.045, top + 0.04, x + 0.045, 0.38)], look.trim, puff=3, cast=0.2)
        canvas.fill([rounded(x - 0.06, 0.26, x + 0.06, 0.36, 0.02)], look.hardware, puff=3)
    return (0.0, 0.02), line((0, 0.3), (0, low - 0.06))


def _crossbody(
    canvas: Canvas, look: Look, top_w: float, low_w: float, top: float
) -> tuple[tuple[float, float], Points]:
    flap = path(
        (-top_w - 0.01, top),
        (top_w + 0.01, top),
        (low_w + 0.02, 0.42),
        (0.25, 0.52, 0, 0.52),
        (-0.25, 0.52, -low_w - 0.02, 0.42),
    )
    canvas.fill([flap], look.fabric, puff=9, cast=0.4)
    canvas.line(flap[2:], look.second, 0.018)
    canvas.fill([rounded(-0.07, 0.44, 0.07, 0.56, 0.025)], look.hardware, puff=4)
    return (0.0, 0.24), line((-0.36, 0.64), (0.36, 0.64))


def _backpack(canvas: Canvas, look: Look) -> tuple[tuple[float, float], Points]:
    seam = darker(look.first, 0.5)
    pocket = rounded(-0.34, 0.16, 0.34, 0.66, 0.08)
    canvas.fill([pocket], look.trim, puff=9, cast=0.35)
    canvas.line(line((-0.32, 0.26), (0.32, 0.26)), darker(look.second, 0.5), 0.014)
    canvas.line(path((-0.42, -0.36), (0, -0.62, 0.42, -0.36)), seam, 0.018)
    canvas.fill([rounded(-0.03, 0.24, 0.03, 0.36, 0.015)], look.hardware, puff=2)
    return (0.0, -0.1), line((0, -0.46), (0, 0.12))
