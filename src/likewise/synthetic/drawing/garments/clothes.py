"""Tops, outwear, dresses and jumpsuits: a torso with what hangs from it."""

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.garments.bottoms import draw_legs, draw_skirt_part
from likewise.synthetic.drawing.garments.torso import (
    Frame,
    body_top,
    draw_inside,
    draw_neck_finish,
    draw_sleeves,
)
from likewise.synthetic.drawing.geometry import Points, both_sides, box, ellipse, flip, line, mirrored, path
from likewise.synthetic.drawing.look import Anchors, Look
from likewise.synthetic.drawing.paint import darker


def _stitched(canvas: Canvas, look: Look, edges: list[Points]) -> None:
    """Denim and leather show their seams."""
    if look["material"] == "denim":
        for edge in edges:
            canvas.dashes(edge, (214, 150, 70), 0.01, 0.045)
    else:
        for edge in edges:
            canvas.line(edge, darker(look.first, 0.62), 0.007)


def draw_top(canvas: Canvas, look: Look) -> Anchors:
    """Blouses, shirts, sweaters."""
    silhouette = look["silhouette"]
    wide = {"fitted": -0.03, "straight": 0.0, "oversized": 0.1, "peplum": -0.02}[silhouette]
    frame = Frame(shoulder=0.47 + 0.6 * wide, armpit=0.42 + wide, drop=0.1 if silhouette == "oversized" else 0.0)
    hem_y = {"short": 0.26, "medium": 0.56, "long": 0.84}[look["length"]]
    cuffs = draw_sleeves(canvas, look, frame)
    neckline = look["neckline"]
    draw_inside(canvas, look, frame, neckline)
    start, upper = body_top(frame, neckline, look["sleeve"])
    waist = {"fitted": 0.31, "straight": 0.41, "oversized": 0.55, "peplum": 0.33}[silhouette]
    hip = {"fitted": 0.36, "straight": 0.43, "oversized": 0.57, "peplum": 0.5}[silhouette]
    middle = min(0.1, hem_y - 0.14)
    half = path(
        start,
        *upper,
        (frame.armpit - 0.02, -0.1, waist, middle),
        (waist + 0.01, middle + 0.12, hip, hem_y),
        (hip * 0.5, hem_y + 0.035, 0, hem_y + 0.035),
    )
    canvas.fill([frame.place(mirrored(half))], look.fabric, puff=15)
    hem = path((hip, hem_y), (hip * 0.5, hem_y + 0.035, 0, hem_y + 0.035), (-hip * 0.5, hem_y + 0.035, -hip, hem_y))
    armholes = both_sides(path((frame.armhole(look["sleeve"]), -0.59 + frame.drop * 0.7), *upper[-1:]))
    _stitched(canvas, look, [hem - np.array([0, 0.035]), *armholes])
    if silhouette == "peplum":
        seam = line((waist + 0.005, middle), (-waist - 0.005, middle))
        canvas.line(seam, darker(look.first, 0.55), 0.014)
        for x in (-0.6, -0.2, 0.2, 0.6):
            canvas.line(line((x * waist, middle + 0.03), (x * hip, hem_y)), darker(look.first, 0.6), 0.01, alpha=0.45)
    if look["pattern"] == "solid":
        canvas.line(hem - np.array([0, 0.012]), look.second, 0.022)
    draw_neck_finish(canvas, look, frame, neckline)
    side = path((frame.armpit - 0.03, -0.12), (waist - 0.03, middle), (hip - 0.03, hem_y - 0.02))
    top_y = {"v-neck": -0.16, "turtleneck": -0.55}.get(neckline, -0.4)
    return Anchors(
        spot=(0.0 if neckline == "turtleneck" else 0.17, -0.14),
        spot_size=0.1,
        hems=[hem, *cuffs],
        sides=[side, flip(side)],
        front=line((0, top_y), (0, hem_y)),
    )


def draw_outwear(canvas: Canvas, look: Look) -> Anchors:
    """Jackets and coats: open front line, pockets, belt, thicker cloth."""
    silhouette = look["silhouette"]
    wide = {"fitted": 0.0, "straight": 0.04, "oversized": 0.14, "belted": 0.04}[silhouette]
    k = {"short": 1.0, "medium": 0.92, "long": 0.82}[look["length"]]
    frame = Frame(
        scale=k,
        shift=-0.86 + 0.9 * k,
        shoulder=0.5 + 0.6 * wide,
        armpit=0.46 + wide,
        drop=0.1 if silhouette == "oversized" else 0.0,
    )
    hem_y = {"short": 0.32, "medium": 0.76, "long": 1.12}[look["length"]]
    cuffs = draw_sleeves(canvas, look, frame, thick=1.3)
    neckline = look["neckline"]
    draw_inside(canvas, look, frame, neckline)
    start, upper = body_top(frame, neckline, look["sleeve"])
    waist = {"fitted": 0.36, "straight": 0.47, "oversized": 0.6, "belted": 0.36}[silhouette]
    hip = {"fitted": 0.44, "straight": 0.5, "oversized": 0.62, "belted": 0.58}[silhouette]
    half = path(
        start,
        *upper,
        (frame.armpit, -0.1, waist, 0.1),
        (waist + 0.03, 0.2, hip, hem_y),
        (hip * 0.5, hem_y + 0.03, 0, hem_y + 0.02),
    )
    canvas.fill([frame.place(mirrored(half))], look.fabric, puff=16)
    hem = frame.place(
        path((hip, hem_y), (hip * 0.5, hem_y + 0.03, 0, hem_y + 0.02), (-hip * 0.5, hem_y + 0.03, -hip, hem_y))
    )
    armholes = [frame.place(p) for p in both_sides(path((frame.shoulder, -0.59), *upper[-1:]))]
    _stitched(canvas, look, [hem - np.array([0, 0.03]), *armholes])
    front = frame.place(line((0, start[1]), (0, hem_y + 0.02)))
    canvas.line(front, darker(look.first, 0.4), 0.016)
    canvas.line(front + np.array([0.045, 0]), look.second, 0.012)
    pocket_y = 0.2 if look["length"] != "short" else 0.08
    pocket = path(
        (0.14, pocket_y), (waist - 0.07, pocket_y - 0.03), (waist - 0.06, pocket_y + 0.06), (0.15, pocket_y + 0.09)
    )
    canvas.fill([frame.place(p) for p in both_sides(pocket)], look.trim, puff=3, cast=0.3)
    if silhouette == "belted":
        canvas.fill([frame.place(box(-waist - 0.015, 0.06, waist + 0.015, 0.15))], look.trim, puff=5, cast=0.35)
        canvas.fill(
            [frame.place(box(-0.07, 0.045, 0.07, 0.165))],
            look.hardware,
            puff=3,
            holes=[frame.place(box(-0.042, 0.075, 0.042, 0.135))],
        )
    draw_neck_finish(canvas, look, frame, neckline)
    side = frame.place(path((frame.armpit - 0.03, -0.1), (waist - 0.03, 0.1), (hip - 0.03, hem_y - 0.02)))
    spot = frame.place(line((0.24, -0.2)))[0]
    return Anchors(
        (float(spot[0]), float(spot[1])),
        0.09 * k + 0.01,
        [hem, *cuffs],
        [side, flip(side)],
        front + np.array([-0.06, 0.0]),
    )


def _bodice(canvas: Canvas, look: Look, frame: Frame, waist: float, waist_y: float) -> None:
    neckline = look["neckline"]
    draw_inside(canvas, look, frame, neckline)
    start, upper = body_top(frame, neckline, look["sleeve"])
    half = path(start, *upper, (frame.armpit - 0.03, -0.05, waist, waist_y), (0, waist_y + 0.02))
    canvas.fill([frame.place(mirrored(half))], look.fabric, puff=12)
    for dart in both_sides(frame.place(path((0.2, waist_y), (0.22, waist_y - 0.15, 0.19, -0.05)))):
        canvas.line(dart, darker(look.first, 0.65), 0.008, alpha=0.6)


def draw_dress(canvas: Canvas, look: Look) -> Anchors:
    """A bodice and a skirt; the waist is marked in the second colour."""
    k = {"short": 0.8, "medium": 0.7, "long": 0.62}[look["length"]]
    shift = {"short": -0.16, "medium": -0.3, "long": -0.42}[look["length"]]
    frame = Frame(scale=k, shift=shift, shoulder=0.45, armpit=0.4)
    silhouette = look["silhouette"]
    cuffs = draw_sleeves(canvas, look, frame)
    waist = {"fitted": 0.29, "straight": 0.4, "a-line": 0.32, "full": 0.27, "wrap": 0.31}[silhouette]
    hem_width = {"fitted": 0.33, "straight": 0.44, "a-line": 0.66, "full": 0.98, "wrap": 0.52}[silhouette] * k
    top = frame.place(line((waist, 0.12)))[0]
    hem_y = {"short": 0.5, "medium": 0.7, "long": 0.9}[look["length"]]
    skirt = {"fitted": "pencil", "straight": "pencil", "a-line": "a-line", "full": "full", "wrap": "wrap"}[silhouette]
    hem = draw_skirt_part(canvas, look, skirt, float(top[0]), float(top[1]) - 0.01, hem_width, hem_y)
    _bodice(canvas, look, frame, waist, 0.12)
    if silhouette != "straight":
        band = frame.place(box(-waist - 0.012, 0.07, waist + 0.012, 0.14))
        canvas.fill([band], look.trim, puff=4, cast=0.2)
    if silhouette == "wrap":
        canvas.line(frame.place(path((-0.17, -0.66), (0.1, -0.3, waist, 0.1))), darker(look.first, 0.5), 0.014)
    if look["pattern"] == "solid":
        canvas.line(hem - np.array([0, 0.012]), look.second, 0.02)
    draw_neck_finish(canvas, look, frame, look["neckline"])
    spot = frame.place(line((0.17, -0.14)))[0]
    side = path((float(top[0]) - 0.02, float(top[1]) + 0.05), (hem_width - 0.03, hem_y - 0.03))
    front = frame.place(line((0, -0.2), (0, 0.1)))
    front = np.concatenate([front[:1], [[0.0, hem_y - 0.1]]])
    return Anchors((float(spot[0]), float(spot[1])), 0.085, [hem, *cuffs], [side, flip(side)], front)


def draw_jumpsuit(canvas: Canvas, look: Look) -> Anchors:
    """A bodice on trousers, with a belt."""
    frame = Frame(scale=0.62, shift=-0.4, shoulder=0.45, armpit=0.4)
    cuffs = draw_sleeves(canvas, look, frame)
    top = frame.place(line((0.34, 0.14)))[0]
    hem_y = {"short": 0.34, "medium": 0.62, "long": 0.9}[look["length"]]
    hems, sides = draw_legs(canvas, look, look["silhouette"], float(top[0]), float(top[1]) - 0.03, hem_y)
    _bodice(canvas, look, frame, 0.33, 0.14)
    canvas.fill([frame.place(box(-0.35, 0.08, 0.35, 0.17))], look.trim, puff=4, cast=0.25)
    buckle = frame.place(ellipse(0, 0.125, 0.07, 0.065, 16))
    canvas.fill([buckle], look.hardware, puff=3, holes=[frame.place(ellipse(0, 0.125, 0.04, 0.035, 12))])
    draw_neck_finish(canvas, look, frame, look["neckline"])
    spot = frame.place(line((0.18, -0.16)))[0]
    front = frame.place(line((0, -0.16 if look["neckline"] == "v-neck" else -0.38), (0, 0.06)))
    return Anchors((float(spot[0]), float(spot[1])), 0.075, [*hems, *cuffs], sides, front)
