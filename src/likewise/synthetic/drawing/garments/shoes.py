"""Shoes: a pair in side view, the far shoe a little behind and darker."""

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.geometry import Points, box, ellipse, line, path, ribbon
from likewise.synthetic.drawing.look import Anchors, Look
from likewise.synthetic.drawing.paint import darker, flat

_DARK = flat((58, 48, 44))


def draw_shoes(canvas: Canvas, look: Look) -> Anchors:
    """The far shoe first, then the near one."""
    gap = 0.16 + 0.12 * canvas.pose.spread
    _SHOES[look["silhouette"]](canvas, look, np.array([0.5 * gap, -gap]), 0.8)
    return _SHOES[look["silhouette"]](canvas, look, np.array([-0.5 * gap + 0.02, gap * 0.8]), 1.0)


def _sole(canvas: Canvas, look: Look, at: Points, thick: float, shade: float, white: bool = False) -> None:
    colour = (236, 234, 228) if white else look.second
    sole = path(
        (-0.7, 0.34),
        (-0.2, 0.33, 0.1, 0.34),
        (0.5, 0.35, 0.72, 0.31),
        (0.76, 0.34, 0.7, 0.34 + thick),
        (0.1, 0.38 + thick, -0.66, 0.34 + thick),
        (-0.73, 0.34 + thick, -0.7, 0.34),
    )
    canvas.fill([sole + at], flat(colour, "semi"), puff=4, shade=shade)
    if white:
        canvas.line(path((-0.7, 0.37), (0.1, 0.40, 0.72, 0.36)) + at, look.second, 0.022)


def _pump(canvas: Canvas, look: Look, at: Points, shade: float) -> Anchors:
    heel = path((-0.62, 0.0), (-0.66, 0.2, -0.585, 0.46), (-0.54, 0.46), (-0.54, 0.25, -0.42, 0.12))
    canvas.fill([heel + at], flat(look.second, "gloss"), puff=4, shade=shade)
    inner = path((-0.64, -0.16), (-0.2, -0.1, 0.28, 0.27), (0.1, 0.34), (-0.3, 0.1, -0.6, 0.04))
    canvas.fill([inner + at], flat(darker(look.first, 0.6)), puff=4, shade=0.7 * shade)
    upper = path(
        (-0.66, -0.2),
        (-0.6, 0.05, -0.25, 0.1),
        (0.0, 0.2, 0.24, 0.24),
        (0.42, 0.24, 0.66, 0.36),
        (0.74, 0.4, 0.72, 0.44),
        (0.45, 0.47, 0.2, 0.44),
        (0.0, 0.40, -0.25, 0.22),
        (-0.45, 0.12, -0.62, 0.16),
        (-0.7, 0.0, -0.66, -0.2),
    )
    canvas.fill([upper + at], look.fabric, puff=9, shade=shade)
    canvas.line(
        path((-0.62, 0.17), (-0.4, 0.12, -0.25, 0.23), (0.0, 0.42, 0.2, 0.45), (0.45, 0.48, 0.72, 0.45)) + at,
        look.second,
        0.022,
    )
    rim = path((0.24, 0.24), (0.0, 0.2, -0.25, 0.1), (-0.6, 0.05, -0.66, -0.2)) + at
    canvas.line(rim, darker(look.first, 0.5), 0.012)
    return _anchors(at, (0.42, 0.34), 0.085, rim, line((-0.35, 0.14), (0.15, 0.36)), line((0.1, 0.3), (0.6, 0.4)))


def _boot(canvas: Canvas, look: Look, at: Points, shade: float) -> Anchors:
    heel = path((-0.66, 0.26), (-0.64, 0.52), (-0.38, 0.52), (-0.34, 0.3))
    canvas.fill([heel + at], flat(look.second, "semi"), puff=4, shade=0.9 * shade)
    _sole(canvas, look, at, 0.05, 0.9 * shade)
    canvas.fill([ellipse(-0.37, -0.75, 0.29, 0.055) + at], flat(darker(look.first, 0.45)), puff=3, shade=shade)
    upper = path(
        (-0.66, -0.74),
        (-0.37, -0.66, -0.08, -0.74),
        (-0.1, -0.4, -0.06, -0.12),
        (0.1, 0.02, 0.4, 0.08),
        (0.72, 0.14, 0.72, 0.36),
        (0.1, 0.38, -0.68, 0.35),
        (-0.66, 0.1, -0.6, -0.1),
        (-0.68, -0.4, -0.66, -0.74),
    )
    canvas.fill([upper + at], look.fabric, puff=13, shade=shade)
    for y in (-0.1, -0.02):
        canvas.line(path((-0.6, y), (-0.3, y + 0.06, -0.06, y - 0.02)) + at, darker(look.first, 0.6), 0.009, alpha=0.7)
    cuff = path((-0.08, -0.73), (-0.37, -0.65, -0.66, -0.73)) + at
    canvas.line(cuff + np.array([0, 0.01]), look.second, 0.03)
    return _anchors(
        at,
        (-0.34, -0.4),
        0.1,
        cuff,
        line((-0.14, -0.6), (-0.12, -0.12), (0.1, 0.04)),
        line((-0.14, -0.55), (-0.12, -0.1)),
    )


def _sneaker(canvas: Canvas, look: Look, at: Points, shade: float) -> Anchors:
    canvas.fill([ellipse(-0.42, -0.17, 0.25, 0.06) + at], flat(darker(look.second, 0.6)), puff=3, shade=shade)
    upper = path(
        (-0.66, -0.2),
        (-0.4, -0.1, -0.18, -0.22),
        (-0.05, -0.18, 0.08, -0.02),
        (0.2, 0.1, 0.42, 0.12),
        (0.74, 0.16, 0.72, 0.36),
        (0.1, 0.42, -0.7, 0.36),
        (-0.74, 0.1, -0.66, -0.2),
    )
    canvas.fill([upper + at], look.fabric, puff=12, shade=shade)
    toe = path((0.46, 0.125), (0.76, 0.16, 0.74, 0.38), (0.5, 0.4), (0.4, 0.25, 0.46, 0.125))
    counter = path((-0.66, -0.18), (-0.52, 0.0, -0.46, 0.36), (-0.7, 0.36), (-0.74, 0.1, -0.66, -0.18))
    canvas.fill([toe + at, counter + at], look.trim, puff=5, shade=shade, cast=0.1)
    _sole(canvas, look, at, 0.12, shade, white=True)
    for i in range(4):
        x, y = -0.12 + 0.1 * i, -0.1 + 0.075 * i
        canvas.line(line((x - 0.07, y + 0.06), (x + 0.05, y - 0.02)) + at, (240, 238, 232), 0.026)
    collar = path((-0.18, -0.21), (-0.4, -0.09, -0.66, -0.19)) + at
    canvas.line(collar, darker(look.first, 0.5), 0.016)
    return _anchors(at, (-0.22, 0.17), 0.085, collar, line((-0.4, 0.3), (-0.1, 0.0)), line((-0.4, 0.3), (0.4, 0.32)))


def _sandal(canvas: Canvas, look: Look, at: Points, shade: float) -> Anchors:
    bed = path(
        (-0.7, 0.18),
        (-0.3, 0.2, 0.0, 0.3),
        (0.3, 0.36, 0.7, 0.3),
        (0.76, 0.36, 0.7, 0.42),
        (0.2, 0.46, -0.1, 0.42),
        (-0.4, 0.44),
        (-0.7, 0.44),
        (-0.72, 0.3, -0.7, 0.18),
    )
    canvas.fill([bed + at], flat((196, 152, 104)), puff=5, shade=shade)
    canvas.line(path((-0.7, 0.43), (-0.1, 0.44), (0.2, 0.46, 0.7, 0.41)) + at, look.second, 0.03)
    straps = [
        ribbon(path((0.18, 0.34), (0.26, 0.04, 0.5, 0.12), (0.6, 0.18, 0.6, 0.33)), 0.15),
        ribbon(path((-0.16, 0.28), (-0.06, -0.04, 0.1, 0.05), (0.2, 0.14, 0.22, 0.34)), 0.13),
        ribbon(path((-0.62, 0.2), (-0.68, -0.15, -0.48, -0.22), (-0.26, -0.26, -0.2, -0.12)), 0.11),
        ribbon(path((-0.2, -0.14), (-0.1, 0.0, -0.1, 0.1)), 0.09),
    ]
    for strap in straps:
        canvas.fill([strap + at], look.fabric, puff=6, shade=shade, cast=0.3)
    canvas.fill([ellipse(-0.2, -0.1, 0.055, steps=14) + at], look.hardware, puff=3, shade=shade)
    edge = path((0.62, 0.2), (0.5, 0.06, 0.3, 0.14)) + at
    return _anchors(
        at,
        (0.42, 0.2),
        0.075,
        edge,
        path((-0.62, 0.1), (-0.62, -0.16, -0.36, -0.2)),
        line((-0.06, 0.08), (0.16, 0.3)),
    )


def _loafer(canvas: Canvas, look: Look, at: Points, shade: float) -> Anchors:
    canvas.fill([box(-0.68, 0.34, -0.36, 0.47) + at], flat(look.second, "semi"), puff=3, shade=0.85 * shade)
    _sole(canvas, look, at, 0.05, 0.9 * shade)
    canvas.fill(
        [path((-0.66, -0.02), (-0.3, -0.08, 0.05, 0.06), (0.0, 0.2), (-0.6, 0.14)) + at], _DARK, puff=4, shade=shade
    )
    upper = path(
        (-0.68, -0.04),
        (-0.5, 0.1, -0.2, 0.1),
        (-0.05, 0.1, 0.02, -0.02),
        (0.1, -0.06, 0.2, 0.0),
        (0.4, 0.1, 0.55, 0.13),
        (0.76, 0.18, 0.73, 0.36),
        (0.1, 0.4, -0.7, 0.36),
        (-0.73, 0.15, -0.68, -0.04),
    )
    canvas.fill([upper + at], look.fabric, puff=11, shade=shade)
    apron = path((0.06, 0.12), (0.3, 0.26, 0.6, 0.2)) + at
    canvas.line(apron, darker(look.first, 0.5), 0.014)
    strap = ribbon(path((-0.06, 0.26), (0.0, 0.08, 0.14, -0.02)), 0.12)
    canvas.fill([strap + at], look.trim, puff=4, shade=shade, cast=0.3)
    canvas.fill([ellipse(0.02, 0.1, 0.05, 0.04, 14) + at], look.hardware, puff=3, shade=shade)
    rim = path((0.02, -0.02), (-0.05, 0.1, -0.2, 0.1), (-0.5, 0.1, -0.68, -0.04)) + at
    canvas.line(rim, darker(look.first, 0.45), 0.014)
    return _anchors(at, (-0.38, 0.23), 0.075, rim, apron - at, line((-0.6, 0.3), (0.6, 0.32)))


def _ballet(canvas: Canvas, look: Look, at: Points, shade: float) -> Anchors:
    _sole(canvas, look, at, 0.025, 0.8 * shade)
    inner = path((-0.66, 0.02), (-0.2, 0.0, 0.3, 0.2), (0.2, 0.3), (-0.6, 0.28))
    canvas.fill([inner + at], flat((222, 196, 172)), puff=4, shade=0.85 * shade)
    upper = path(
        (-0.68, 0.0),
        (-0.6, 0.2, -0.2, 0.22),
        (0.2, 0.24, 0.3, 0.16),
        (0.5, 0.1, 0.66, 0.2),
        (0.76, 0.26, 0.72, 0.36),
        (0.1, 0.39, -0.68, 0.36),
        (-0.73, 0.2, -0.68, 0.0),
    )
    canvas.fill([upper + at], look.fabric, puff=10, shade=shade)
    rim = path((0.34, 0.15), (0.2, 0.24, -0.2, 0.22), (-0.6, 0.2, -0.68, 0.0)) + at
    canvas.line(rim, look.second, 0.026)
    knot = np.array([0.34, 0.14]) + at
    for side in (-1, 1):
        loop = path((0, 0), (0.02 * side, -0.12, 0.13 * side, -0.08), (0.15 * side, 0.04, 0, 0))
        canvas.fill([loop + knot], look.trim, puff=4, shade=shade)
    return _anchors(
        at, (0.52, 0.25), 0.065, rim, path((-0.6, 0.3), (0.0, 0.32, 0.6, 0.32)), line((-0.5, 0.28), (0.2, 0.3))
    )


def _anchors(at: Points, spot: tuple[float, float], size: float, rim: Points, side: Points, front: Points) -> Anchors:
    return Anchors((spot[0] + float(at[0]), spot[1] + float(at[1])), size, [rim], [side + at], front + at, inside=1.0)


_SHOES = {
    "pump": _pump,
    "boot": _boot,
    "sneaker": _sneaker,
    "sandal": _sandal,
    "loafer": _loafer,
    "ballet flat": _ballet,
}
