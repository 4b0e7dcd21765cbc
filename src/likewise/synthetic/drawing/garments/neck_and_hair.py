"""Neckwear (scarf, tie, bow tie, neckerchief) and hair wear (headband, bow, clip, scrunchie)."""

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.garments.gems import stone
from likewise.synthetic.drawing.geometry import (
    Points,
    arc,
    both_sides,
    ellipse,
    flip,
    line,
    path,
    ribbon,
    rounded,
)
from likewise.synthetic.drawing.look import Anchors, Look
from likewise.synthetic.drawing.paint import darker


def draw_neckwear(canvas: Canvas, look: Look) -> Anchors:
    """By silhouette; borders and knots in the second colour."""
    kind = look["silhouette"]
    if kind == "tie":
        return _tie(canvas, look)
    if kind == "bow tie":
        strap = line((-0.86, 0.0), (0.86, 0.0))
        canvas.fill([ribbon(strap, 0.09)], look.trim, puff=4)
        return _bow(canvas, look, 0.72, 0.38, tails=False)
    if kind == "neckerchief":
        return _neckerchief(canvas, look)
    return _scarf(canvas, look)


def _tie(canvas: Canvas, look: Look) -> Anchors:
    canvas.fill(
        [path((-0.2, -0.86), (0, -0.94, 0.2, -0.86), (0.1, -0.72), (-0.1, -0.72))], look.trim, puff=4, shade=0.7
    )
    sway = 0.06 * (canvas.pose.spread - 0.5)
    blade = path((-0.075, -0.6), (0.075, -0.6), (0.2 + sway, 0.56), (sway, 0.84), (-0.2 + sway, 0.56))
    canvas.fill([blade], look.fabric, puff=9)
    canvas.fill(
        [path((-0.15, -0.82), (0.15, -0.82), (0.08, -0.56), (-0.08, -0.56))], look.fabric, puff=7, turn=30, cast=0.35
    )
    hem = line((0.2 + sway, 0.56), (sway, 0.84), (-0.2 + sway, 0.56))
    canvas.line(hem - np.array([0, 0.05]), look.second, 0.03)
    side = line((0.06, -0.5), (0.15 + sway, 0.5))
    return Anchors((sway, 0.34), 0.1, [hem], [side, flip(side)], line((0, -0.46), (sway, 0.2)))


def _bow(canvas: Canvas, look: Look, reach: float, tall: float, *, tails: bool) -> Anchors:
    if tails:
        tail = path((0.03, 0.02), (0.2, 0.3, 0.24, 0.72), (0.38, 0.62), (0.5, 0.66), (0.34, 0.2, 0.1, 0.0))
        canvas.fill(both_sides(tail), look.fabric, puff=8, shade=0.9)
        for edge in both_sides(path((0.24, 0.71), (0.38, 0.61), (0.5, 0.65))):
            canvas.line(edge, look.second, 0.024)
    loop = path(
        (0.04, -0.06),
        (0.4 * reach, -1.15 * tall, 0.9 * reach, -tall),
        (1.1 * reach, 0.0, 0.9 * reach, tall),
        (0.4 * reach, 1.15 * tall, 0.04, 0.06),
    )
    canvas.fill(both_sides(loop), look.fabric, puff=13)
    for fold in both_sides(path((0.1, -0.02), (0.3 * reach, -0.1 * tall, 0.55 * reach, -0.3 * tall))):
        canvas.line(fold, darker(look.first, 0.5), 0.016, alpha=0.7)
    for fold in both_sides(path((0.1, 0.03), (0.3 * reach, 0.15 * tall, 0.5 * reach, 0.4 * tall))):
        canvas.line(fold, darker(look.first, 0.5), 0.016, alpha=0.7)
    canvas.fill([rounded(-0.1, -0.15, 0.1, 0.15, 0.06)], look.trim, puff=7, cast=0.35)
    hem = path((0.9 * reach, 0.9 * tall), (0.5 * reach, 1.0 * tall, 0.12, 0.14))
    side = path((0.86 * reach, -0.9 * tall), (1.0 * reach, 0, 0.86 * reach, 0.9 * tall))
    return Anchors(
        (0.52 * reach, 0.0),
        0.1,
        [hem, flip(hem)[::-1]],
        [side, flip(side)],
        line((-0.8 * reach, 0.02), (-0.2 * reach, 0.0)),
    )


def _neckerchief(canvas: Canvas, look: Look) -> Anchors:
    back = path((-0.56, -0.3), (0, -0.6, 0.56, -0.3), (0.2, -0.28, 0.1, -0.1), (-0.1, -0.1), (-0.2, -0.28, -0.56, -0.3))
    canvas.fill([back], look.plain, puff=8, shade=0.7)
    front = path(
        (-0.6, -0.34), (-0.2, -0.02, 0, 0.0), (0.2, -0.02, 0.6, -0.34), (0.56, 0.1, 0, 0.76), (-0.56, 0.1, -0.6, -0.34)
    )
    canvas.fill([front], look.fabric, puff=14)
    hem = path((0.58, -0.2), (0.5, 0.12, 0, 0.72), (-0.5, 0.12, -0.58, -0.2))
    canvas.line(hem * np.array([0.95, 0.95]), look.second, 0.035)
    for fold in both_sides(path((0.5, -0.26), (0.2, 0.06, 0.02, 0.1))):
        canvas.line(fold, darker(look.first, 0.6), 0.014, alpha=0.6)
    side = path((0.5, -0.2), (0.3, 0.2, 0.06, 0.56))
    return Anchors((0.0, 0.3), 0.11, [hem], [side, flip(side)], line((0, 0.06), (0, 0.6)))


def _scarf(canvas: Canvas, look: Look) -> Anchors:
    sway = 0.14 * (canvas.pose.spread - 0.5)
    canvas.fill(
        [path((-0.4, -0.62), (0, -0.88, 0.4, -0.62), (0.1, -0.5), (-0.1, -0.5))], look.plain, puff=7, shade=0.65
    )
    long_end = path(
        (-0.1, -0.4), (0.2, -0.4), (0.36 + sway, 0.2, 0.36 + sway, 0.74), (0.04 + sway, 0.78), (0.02, 0.2, -0.1, -0.4)
    )
    short_end = path(
        (-0.22, -0.4), (0.08, -0.4), (0.0, 0.1, -0.1 - sway, 0.5), (-0.42 - sway, 0.46), (-0.34, 0.0, -0.22, -0.4)
    )
    canvas.fill([long_end], look.fabric, puff=10)
    canvas.fill([short_end], look.fabric, puff=10, turn=8, cast=0.3)
    wrap = path(
        (-0.46, -0.64),
        (-0.3, -0.4, 0.0, -0.42),
        (0.3, -0.4, 0.46, -0.64),
        (0.54, -0.4, 0.3, -0.24),
        (0.0, -0.14, -0.3, -0.24),
        (-0.54, -0.4, -0.46, -0.64),
    )
    canvas.fill([wrap], look.fabric, puff=10, turn=90, cast=0.35)
    hems = [line((0.36 + sway, 0.74), (0.04 + sway, 0.78)), line((-0.1 - sway, 0.5), (-0.42 - sway, 0.46))]
    for hem in hems:
        canvas.line(hem - np.array([0, 0.05]), look.second, 0.05)
        canvas.line(hem - np.array([0, 0.14]), look.second, 0.02)
    side = path((0.2, -0.1), (0.32 + sway, 0.3, 0.32 + sway, 0.6))
    return Anchors((0.2 + sway, 0.36), 0.1, hems, [side], path((-0.36, -0.4), (0, -0.26, 0.36, -0.4)))


def draw_hair_wear(canvas: Canvas, look: Look) -> Anchors:
    """Headband, bow, clip or scrunchie; metal, pearl and plastic ones are set with stones."""
    kind = look["silhouette"]
    hard = look["material"] in ("gold", "silver", "pearl", "plastic")
    if kind == "bow":
        anchors = _bow(canvas, look, 0.74, 0.42, tails=True)
        if hard:
            stone(canvas, 0, 0, 0.09, look.first)
        return anchors
    if kind == "headband":
        return _headband(canvas, look)
    if kind == "clip":
        canvas.fill([rounded(-0.84, -0.02, 0.84, 0.3, 0.14)], look.hardware, puff=5, shade=0.8)
        canvas.fill(
            [
                path(
                    (-0.86, 0.1),
                    (-0.6, -0.28, 0, -0.3),
                    (0.6, -0.28, 0.86, 0.1),
                    (0.6, 0.26, 0, 0.26),
                    (-0.6, 0.26, -0.86, 0.1),
                )
            ],
            look.plain,
            puff=12,
        )
        for i, x in enumerate((-0.56, -0.28, 0.0, 0.28, 0.56)):
            stone(canvas, x, 0.0 + 0.1 * abs(x), 0.1 - 0.04 * abs(x), look.second if i % 2 else look.first)
        hem = path((0.8, 0.14), (0.6, 0.25, 0, 0.25), (-0.6, 0.25, -0.8, 0.14))
        side = path((0.78, 0.04), (0.5, -0.22, 0.1, -0.26))
        return Anchors((0.4, 0.15), 0.08, [hem], [side, flip(side)], line((-0.5, 0.17), (0.2, 0.2)))
    return _scrunchie(canvas, look)


def _headband(canvas: Canvas, look: Look) -> Anchors:
    spread = 0.06 * canvas.pose.spread
    band = path((-0.62 + spread, 0.74), (-0.86, -0.72, 0, -0.74), (0.86, -0.72, 0.62 - spread, 0.74))
    canvas.fill([ribbon(band, [0.1, 0.17, 0.22, 0.24, 0.22, 0.17, 0.1])], look.plain, puff=10)
    canvas.line(band[6:-6], look.second, 0.03)
    if look["material"] in ("gold", "silver", "pearl", "plastic"):
        for t in (7, 9, 11):
            stone(canvas, float(band[t, 0]), float(band[t, 1]), 0.07, look.first)
    hem = band[4:16][::-1] + np.array([0, 0.1])
    side = band[2:8]
    x, y = band[13]
    return Anchors((float(x), float(y)), 0.1, [hem], [side, flip(side)], band[11:17])


def _scrunchie(canvas: Canvas, look: Look) -> Anchors:
    angle = np.linspace(0, 2 * np.pi, 97)[:-1]
    radius = 0.64 + 0.055 * np.abs(np.sin(angle * 8)) + 0.03 * np.sin(angle * 3)
    outer: Points = np.stack([radius * np.cos(angle), 0.86 * radius * np.sin(angle)], axis=1)
    canvas.fill([outer], look.plain, puff=15, holes=[ellipse(0, 0, 0.26, 0.2)])
    for a in np.linspace(0, 2 * np.pi, 17)[:-1]:
        direction = np.array([np.cos(a), 0.86 * np.sin(a)])
        bend = np.array([np.cos(a + 0.16), 0.86 * np.sin(a + 0.16)])
        fold = path(
            (float(direction[0]) * 0.28, float(direction[1]) * 0.27),
            (*(bend * 0.45).tolist(), *(direction * 0.62).tolist()),
        )
        canvas.line(fold, darker(look.first, 0.5), 0.014, alpha=0.55)
    canvas.line(np.concatenate([outer, outer[:1]]) * 0.93, look.second, 0.03)
    if look["material"] in ("gold", "silver", "pearl", "plastic"):
        for a in (0.5, 1.6, 2.7):
            stone(canvas, 0.46 * float(np.cos(a)), 0.42 * float(np.sin(a)), 0.08, look.first)
    hem = arc(0, 0, 0.66, 0.57, 20, 160)
    side = arc(0, 0, 0.48, 0.42, 150, 210)
    return Anchors((0.0, 0.4), 0.1, [hem], [side, flip(side)], arc(0, 0, 0.46, 0.4, -60, -10))
