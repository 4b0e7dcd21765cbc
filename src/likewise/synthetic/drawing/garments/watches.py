"""Watches (dial, hands, strap) and eyewear (frame, lenses, temples)."""

import math

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.geometry import (
    Points,
    arc,
    both_sides,
    ellipse,
    flip,
    line,
    mirrored,
    path,
    ribbon,
    rounded,
)
from likewise.synthetic.drawing.look import Anchors, Look
from likewise.synthetic.drawing.paint import Paint, contrast, darker, flat, lighter, metal


def _case(kind: str, grow: float) -> Points:
    if kind == "round":
        return ellipse(0, 0, 0.36 + grow, steps=48)
    if kind == "square":
        return rounded(-0.34 - grow, -0.34 - grow, 0.34 + grow, 0.34 + grow, 0.06)
    half = path(
        (0, -0.42 - grow),
        (0.2, -0.42 - grow, 0.22 + grow, -0.38 - grow),
        (0.36 + grow, 0.0, 0.22 + grow, 0.38 + grow),
        (0.2, 0.42 + grow, 0, 0.42 + grow),
    )
    return mirrored(half)


def draw_watch(canvas: Canvas, look: Look) -> Anchors:
    """The strap is of the material and second colour, the dial in the first colour."""
    material = look["material"]
    kind = look["silhouette"]
    metallic = material in ("gold", "silver")
    bow = 0.04 * (canvas.pose.spread - 0.5)
    for up in (-1, 1):
        strap = path(
            (-0.24, 0.3 * up),
            (-0.2 + bow, 0.6 * up, -0.17, 0.92 * up),
            (0.17, 0.92 * up),
            (0.2 + bow, 0.6 * up, 0.24, 0.3 * up),
        )
        canvas.fill([strap], look.plain if metallic else look.trim, puff=7)
        if metallic:
            for y in np.linspace(0.4, 0.9, 8):
                width = 0.235 - 0.11 * (y - 0.3)
                canvas.line(
                    line((-width, y * up), (width, y * up)), (96, 78, 40) if material == "gold" else (84, 88, 96), 0.012
                )
            for x in (-0.07, 0.07):
                canvas.line(line((x, 0.36 * up), (x, 0.92 * up)), look.second, 0.018)
        else:
            for edge in both_sides(path((0.2, 0.34 * up), (0.165, 0.62 * up, 0.135, 0.9 * up))):
                canvas.dashes(edge, contrast(look.second), 0.009, 0.05)
            if up == 1:
                for y in (0.6, 0.7, 0.8):
                    canvas.dot(0, y, 0.018, darker(look.second, 0.3))
    case: Paint = (
        metal(material)
        if metallic
        else (
            flat(look.second, "gloss") if material == "plastic" else metal("silver" if material == "canvas" else "gold")
        )
    )
    canvas.fill([rounded(0.34, -0.06, 0.47, 0.06, 0.03)], case, puff=3)
    canvas.fill([_case(kind, 0.07)], case, puff=6, cast=0.35)
    canvas.fill([_case(kind, -0.02)], flat(look.first, "semi"), puff=5, edge=0.5)
    ink = contrast(look.first)
    for hour in range(12):
        a = math.radians(30 * hour)
        r = 0.27 if kind != "square" else 0.25
        x, y = r * math.sin(a), -r * math.cos(a)
        canvas.line(
            line((x, y), (1.14 * x, 1.14 * y)),
            look.second if hour % 3 == 0 and look.second != look.first else ink,
            0.028 if hour % 3 == 0 else 0.013,
        )
    canvas.line(line((0, 0), (-0.12, -0.1)), ink, 0.03)
    canvas.line(line((0, 0), (0.14, -0.17)), ink, 0.02)
    canvas.line(line((-0.03, -0.06), (0.06, 0.2)), (206, 54, 44), 0.01)
    canvas.dot(0, 0, 0.025, ink)
    hem = arc(0, 0, 0.4, 0.4, 20, 160)
    side = line((0.1, 0.42), (0.09, 0.88))
    return Anchors((0.0, 0.16), 0.06, [hem], [side, flip(side)], line((0, 0.46), (0, 0.88)))


def draw_eyewear(canvas: Canvas, look: Look) -> Anchors:
    """Frame of the material (plastic in the first colour), lenses tinted in the second colour."""
    kind = look["silhouette"]
    lens = {
        "round": ellipse(0.42, 0.02, 0.31, 0.31, 40),
        "aviator": path(
            (0.14, -0.2),
            (0.4, -0.3, 0.74, -0.2),
            (0.8, 0.1, 0.6, 0.3),
            (0.36, 0.42, 0.2, 0.16),
            (0.1, -0.06, 0.14, -0.2),
        ),
        "cat-eye": path(
            (0.13, -0.1),
            (0.2, -0.24, 0.5, -0.24),
            (0.72, -0.28, 0.86, -0.4),
            (0.86, 0.1, 0.6, 0.22),
            (0.3, 0.32, 0.16, 0.1),
            (0.12, 0.0, 0.13, -0.1),
        ),
        "square": rounded(0.12, -0.24, 0.74, 0.26, 0.09),
    }[kind]
    plastic = look["material"] in ("plastic", "wood")
    rim = 0.085 if plastic else 0.05
    frame = look.plain
    drop = 0.1 * canvas.pose.spread
    for temple in both_sides(
        path((0.72, -0.12), (0.92, -0.2, 0.86, -0.5 + drop), (0.8, -0.62 + drop, 0.7, -0.62 + drop))
    ):
        canvas.fill([ribbon(temple, [0.08, 0.05, 0.05] if plastic else [0.045, 0.04, 0.06])], frame, puff=4, shade=0.8)
    centre = lens.mean(axis=0)
    outer = (lens - centre) * (1 + rim / 0.3) + centre
    bridge = (
        path((0.2, -0.1), (0.0, -0.24, -0.2, -0.1))
        if kind != "aviator"
        else path((0.2, -0.22), (0.0, -0.3, -0.2, -0.22))
    )
    canvas.fill([ribbon(bridge, rim)], frame, puff=4)
    canvas.fill(both_sides(lens), flat(look.second, "gloss"), puff=16, edge=0.2)
    canvas.fill(both_sides(outer), frame, puff=5, holes=both_sides(lens))
    for mirror in (1, -1):
        x = 0.42 * mirror
        shine = np.array([(x - 0.18, 0.02), (x - 0.06, -0.16), (x + 0.0, -0.16), (x - 0.14, 0.08)])
        canvas.blob(shine, (255, 255, 255), alpha=0.4)
        canvas.blob(shine + np.array([0.13, 0.04]), (255, 255, 255), alpha=0.2)
    if not plastic:
        for edge in both_sides(outer[len(outer) // 2 :]):
            canvas.line(edge, look.first, 0.03)
    else:
        for edge in both_sides(outer[: len(outer) // 3]):
            canvas.line(edge, lighter(look.first, 0.25), 0.01)
    top = outer[outer[:, 1] < centre[1] - 0.08]
    top = top[np.argsort(-top[:, 0])]
    low = outer[outer[:, 1] > centre[1] + 0.06]
    low = low[np.argsort(-low[:, 0])]
    return Anchors((0.8, -0.14), 0.065, [low, flip(low)[::-1]], [top, flip(top)], top)
