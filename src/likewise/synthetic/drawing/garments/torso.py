"""The upper body shared by tops, outwear, dresses and jumpsuits: sleeves, neckline, collar.

Drawn in the coordinates of a top (neck at y = -0.72, armpit at -0.2) and placed by a scale and a shift.
"""

import math
from dataclasses import dataclass

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.geometry import (
    Points,
    Segment,
    both_sides,
    flip,
    line,
    mirrored,
    path,
)
from likewise.synthetic.drawing.look import Look
from likewise.synthetic.drawing.paint import darker

NECK_Y = -0.72


@dataclass(frozen=True)
class Frame:
    """Where and how large the torso is, and its cut (half widths)."""

    scale: float = 1.0
    shift: float = 0.0
    neck: float = 0.19
    shoulder: float = 0.47
    armpit: float = 0.42
    drop: float = 0.0

    def place(self, points: Points) -> Points:
        """Torso coordinates to garment units."""
        moved: Points = points * self.scale + np.array([0.0, self.shift])
        return moved

    def armhole(self, sleeve: str) -> float:
        """Half width at the shoulder: cut in for sleeveless items."""
        return self.shoulder - 0.1 if sleeve == "sleeveless" else self.shoulder


def draw_sleeves(canvas: Canvas, look: Look, frame: Frame, *, thick: float = 1.0) -> list[Points]:
    """Both sleeves behind the body; returns the cuffs' edges (right to left)."""
    sleeve = look["sleeve"]
    if sleeve == "sleeveless":
        return []
    angle = math.radians(12 + 26 * canvas.pose.spread)
    d = np.array([math.sin(angle), math.cos(angle)])
    n = np.array([math.cos(angle), -math.sin(angle)])
    s = np.array([frame.shoulder, -0.6 + frame.drop])
    a = np.array([frame.armpit, -0.2 + frame.drop])
    length = {"short": 0.4, "long": 1.08, "puff": 0.46, "bell": 0.98}[sleeve]
    cuff = {"short": 0.27, "long": 0.17, "puff": 0.23, "bell": 0.46}[sleeve] * thick
    outer = s + d * length + n * (0.10 if sleeve in ("puff", "bell") else 0.02)
    inner = outer - n * cuff
    bulge = {"short": 0.04, "long": 0.05, "puff": 0.26, "bell": -0.02}[sleeve]
    c1 = s + d * length * 0.3 + n * (bulge + 0.02)
    c2 = s + d * length * 0.75 + n * bulge
    i1 = inner - d * length * 0.25 + n * (-0.10 if sleeve == "puff" else 0.02)
    shape = path(
        (frame.shoulder - 0.14, -0.64),
        (float(s[0]), float(s[1])),
        (*c1.tolist(), *c2.tolist(), *outer.tolist()),
        tuple(inner.tolist()),
        (*i1.tolist(), *a.tolist()),
        (frame.armpit - 0.14, -0.3),
    )
    degrees = math.degrees(angle)
    right, left = both_sides(frame.place(shape))
    if look["pattern"] == "solid":
        canvas.fill([right, left], look.fabric, puff=11)
    else:
        canvas.fill([right], look.fabric, puff=11, turn=-degrees)
        canvas.fill([left], look.fabric, puff=11, turn=degrees)
    edge = frame.place(np.array([outer, inner]))
    cuffs = both_sides(edge)
    if sleeve in ("puff", "long"):
        band = np.array([outer + n * 0.012, inner - n * 0.012])
        back = band[::-1] - d * 0.07
        canvas.fill(both_sides(frame.place(np.concatenate([band, back]))), look.trim, puff=4, cast=0.1)
    for piece in cuffs:
        canvas.line(piece, darker(look.first, 0.5), 0.008)
    return [edge, flip(edge)[::-1]]


def neckline_path(neckline: str, neck: float) -> tuple[tuple[float, float], tuple[Segment, ...]]:
    """Start at the centre of the front neckline, and the segments up to the side of the neck."""
    side = (neck, NECK_Y)
    if neckline == "v-neck":
        return (0.0, -0.22), ((0.1, -0.42, *side),)
    if neckline == "square":
        return (0.0, -0.44), ((neck * 0.92, -0.44), side)
    if neckline == "turtleneck":
        return (0.0, -0.66), ((neck * 0.7, -0.66, *side),)
    if neckline == "shirt collar":
        return (0.0, -0.52), ((0.08, -0.62, *side),)
    if neckline in ("lapel", "hood"):
        return (0.0, -0.3), ((0.08, -0.5, *side),)
    return (0.0, -0.5), ((neck * 0.95, -0.5, *side),)


def draw_inside(canvas: Canvas, look: Look, frame: Frame, neckline: str) -> None:
    """The inner back of the garment, seen through the neckline."""
    start, _ = neckline_path(neckline, frame.neck)
    hole = path(
        (0, -0.67),
        (frame.neck * 0.6, -0.68, frame.neck + 0.01, NECK_Y - 0.012),
        (frame.neck, NECK_Y + 0.1),
        (0, start[1] + 0.06),
    )
    canvas.fill([frame.place(mirrored(hole))], look.plain, shade=0.52, puff=5, edge=0.15, cast=0)


def body_top(frame: Frame, neckline: str, sleeve: str) -> tuple[tuple[float, float], list[Segment]]:
    """The right half from the centre of the neckline to the armpit (torso coordinates)."""
    start, segments = neckline_path(neckline, frame.neck)
    at = frame.armhole(sleeve)
    armhole: Segment = (at - 0.03, -0.38, frame.armpit, -0.2 + frame.drop)
    return start, [*segments, (frame.neck + 0.1, NECK_Y + 0.02, at, -0.6 + frame.drop * 0.7), armhole]


def draw_neck_finish(canvas: Canvas, look: Look, frame: Frame, neckline: str) -> None:
    """Binding, collar, lapels, hood or rolled neck, in the second colour where it is a trim."""
    start, segments = neckline_path(neckline, frame.neck)
    edge = path(start, *segments)
    whole = np.concatenate([flip(edge)[::-1], edge])
    if neckline == "turtleneck":
        roll = path(
            (0, -0.9),
            (frame.neck * 0.72, -0.9),
            (frame.neck * 0.98, -0.88, frame.neck * 0.92, -0.8),
            (frame.neck * 1.02, NECK_Y),
            (frame.neck * 0.6, -0.61, 0, -0.61),
        )
        canvas.fill([frame.place(mirrored(roll))], look.trim, puff=8)
        fold = frame.place(path((-frame.neck * 0.95, -0.77), (0, -0.70, frame.neck * 0.95, -0.77)))
        canvas.line(fold, darker(look.second, 0.55), 0.012)
        return
    if neckline == "shirt collar":
        wing = path(
            (0.0, -0.53),
            (0.05, -0.62, frame.neck - 0.02, NECK_Y - 0.05),
            (frame.neck + 0.05, NECK_Y - 0.02),
            (0.27, -0.6),
            (0.15, -0.44),
        )
        canvas.fill(both_sides(frame.place(wing)), look.trim, puff=5, cast=0.35)
        return
    if neckline == "lapel":
        lapel = path(
            (0.0, -0.04),
            (0.06, -0.4, frame.neck - 0.02, NECK_Y - 0.04),
            (frame.neck + 0.06, NECK_Y),
            (0.31, -0.5),
            (0.25, -0.44),
            (0.31, -0.36),
            (0.14, -0.12),
        )
        canvas.fill(both_sides(frame.place(lapel)), look.trim, puff=6, cast=0.4)
        return
    if neckline == "hood":
        inside = path((0.0, -0.3), (0.1, -0.5, frame.neck, NECK_Y), (0.22, -0.9, 0.0, -0.93))
        canvas.fill([frame.place(mirrored(inside))], look.plain, puff=7, shade=0.5, edge=0.2, cast=0)
        hood = path(
            (0.0, -0.30),
            (0.12, -0.42, frame.neck - 0.02, NECK_Y + 0.02),
            (0.24, -0.86, 0.0, -0.93),
            (0.0, -0.93),
            (0.42, -0.96, 0.37, -0.66),
            (0.30, -0.5, 0.0, -0.22),
        )
        canvas.fill(both_sides(frame.place(hood)), look.plain, puff=9, cast=0.35)
        for cord in both_sides(frame.place(line((0.07, -0.33), (0.09, -0.1)))):
            canvas.line(cord, look.second, 0.022)
            canvas.dot(float(cord[1, 0]), float(cord[1, 1]), 0.018, look.second)
        return
    canvas.line(frame.place(whole), look.second, 0.034 * frame.scale + 0.006)
    canvas.line(frame.place(whole), darker(look.second, 0.65), 0.006)
