"""Brooches: flower, bar, cameo, butterfly, star."""

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.garments.gems import stone, wire
from likewise.synthetic.drawing.geometry import (
    Points,
    arc,
    both_sides,
    ellipse,
    flip,
    line,
    path,
    rotate,
    rounded,
)
from likewise.synthetic.drawing.look import Anchors, Look
from likewise.synthetic.drawing.paint import flat, lighter


def draw_brooch(canvas: Canvas, look: Look) -> Anchors:
    """The pin is behind, the setting of the material, enamel in the colour, stones in the second colour."""
    wire(canvas, look, line((-0.66, 0.4), (0.66, -0.36)), 0.025)
    enamel = flat(look.first, "gloss")
    hem = {"flower": 0.56, "bar": 0.2, "cameo": 0.64, "butterfly": 0.5, "star": 0.56}[look["silhouette"]]
    kind = look["silhouette"]
    if kind == "flower":
        petals = [rotate(ellipse(0, -0.4, 0.23, 0.3), 72 * i) for i in range(5)]
        canvas.fill(petals, look.plain, puff=10)
        canvas.fill([rotate(ellipse(0, -0.4, 0.15, 0.22), 72 * i) for i in range(5)], enamel, puff=7)
        stone(canvas, 0, 0, 0.17, look.second)
    elif kind == "bar":
        canvas.fill([rounded(-0.78, -0.15, 0.78, 0.15, 0.13)], look.plain, puff=8)
        canvas.fill([rounded(-0.66, -0.075, 0.66, 0.075, 0.07)], enamel, puff=4)
        for x in (-0.5, -0.25, 0.0, 0.25, 0.5):
            stone(canvas, x, 0, 0.08, look.second)
    elif kind == "cameo":
        canvas.fill([ellipse(0, 0, 0.54, 0.68, 44)], look.plain, puff=8)
        canvas.fill([ellipse(0, 0, 0.43, 0.57, 44)], enamel, puff=10)
        profile = path(
            (-0.12, 0.34),
            (-0.14, 0.1, -0.04, 0.08),
            (-0.24, 0.06, -0.18, -0.06),
            (-0.22, -0.1, -0.14, -0.16),
            (-0.1, -0.38, 0.1, -0.34),
            (0.3, -0.26, 0.18, 0.0),
            (0.1, 0.14, 0.24, 0.34),
        )
        canvas.fill([profile], flat(lighter(look.second, 0.25)), puff=6)
    elif kind == "butterfly":
        wings = [
            path((0.03, -0.1), (0.2, -0.62, 0.7, -0.56), (0.8, -0.2, 0.3, 0.02), (0.03, 0.06)),
            path((0.03, 0.04), (0.5, 0.02, 0.54, 0.3), (0.44, 0.62, 0.2, 0.42), (0.03, 0.14)),
        ]
        canvas.fill([w for wing in wings for w in both_sides(wing)], look.plain, puff=8)
        inner = [_shrink(wing, 0.72) for wing in wings]
        canvas.fill([w for wing in inner for w in both_sides(wing)], enamel, puff=6)
        for x in (-0.5, 0.5):
            stone(canvas, x, -0.4, 0.07, look.second)
            stone(canvas, 0.66 * x, 0.3, 0.06, look.second)
        canvas.fill([ellipse(0, 0.0, 0.06, 0.34)], look.plain, puff=5)
        for feeler in both_sides(path((0.01, -0.3), (0.06, -0.56, 0.2, -0.62))):
            canvas.line(feeler, (80, 66, 40), 0.02)
    else:
        canvas.fill([_star(0.74, 0.33)], look.plain, puff=9)
        canvas.fill([_star(0.54, 0.24)], enamel, puff=7)
        stone(canvas, 0, 0, 0.13, look.second)
        for i in range(5):
            a = np.radians(72 * i - 90)
            stone(canvas, 0.6 * float(np.cos(a)), 0.6 * float(np.sin(a)), 0.05, look.second)
    low = arc(0, hem - 0.3, 0.5, 0.3, 15, 165)
    side = arc(0, 0, 0.5, hem * 0.8, 130, 225)
    return Anchors((0.0, hem * 0.72), 0.1, [low], [side, flip(side)], line((-0.45, -0.02), (0.45, -0.02)))


def _star(outer: float, inner: float) -> Points:
    angle = np.radians(np.arange(10) * 36 - 90)
    radius = np.where(np.arange(10) % 2 == 0, outer, inner)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _shrink(points: Points, factor: float) -> Points:
    centre = points.mean(axis=0)
    smaller: Points = (points - centre) * factor + centre
    return smaller
