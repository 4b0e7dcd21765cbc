"""Skirts and trousers, also as the lower half of dresses and jumpsuits."""

import itertools

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.geometry import Points, both_sides, box, flip, line, mirrored, path
from likewise.synthetic.drawing.look import Anchors, Look
from likewise.synthetic.drawing.paint import darker, lighter

STITCH = (214, 150, 70)


def draw_skirt_part(
    canvas: Canvas, look: Look, silhouette: str, waist: float, top: float, hem: float, hem_y: float
) -> Points:
    """The cloth of a skirt from the waist down; returns its hem (right to left)."""
    tall = hem_y - top
    sag = 0.05 if silhouette in ("a-line", "full", "pleated") else 0.015
    hip = max(waist + 0.1, 0.8 * hem) if silhouette in ("pencil", "wrap") else waist + 0.42 * (hem - waist)
    control = (hip, top + 0.3 * tall) if silhouette != "full" else (waist + 0.5 * (hem - waist), top + 0.2 * tall)
    edge: list[tuple[float, ...]]
    if silhouette in ("full", "pleated"):
        # A wavy hem shows the width of the cloth.
        xs = np.linspace(1, 0, 5 if silhouette == "full" else 7)
        edge = []
        for a, b in itertools.pairwise(xs):
            y_b = hem_y + sag * (1 - b * b)
            y_m = hem_y + sag * (1 - ((a + b) / 2) ** 2) + 0.035
            edge.append((float(hem * (a + b) / 2), float(y_m), float(hem * b), float(y_b)))
    else:
        edge = [(hem * 0.5, hem_y + sag, 0.0, hem_y + sag)]
    half = path((0, top), (waist, top), (*control, hem, hem_y), *edge)
    canvas.fill([mirrored(half)], look.fabric, puff=15)
    crease = darker(look.first, 0.55)
    if silhouette == "pleated":
        for x in np.linspace(-0.86, 0.86, 9):
            canvas.line(line((x * waist, top + 0.02), (x * hem, hem_y + 0.02)), crease, 0.011, alpha=0.7)
            shine = line((x * waist + 0.012, top + 0.02), (x * hem + 0.022, hem_y + 0.02))
            canvas.line(shine, lighter(look.first, 0.3), 0.012, alpha=0.3)
    elif silhouette == "full":
        for x in (-0.75, -0.45, -0.15, 0.2, 0.5, 0.8):
            fold = path((x * waist, top), (x * hem * 0.75, top + 0.25 * tall, x * hem, hem_y - 0.02))
            canvas.line(fold, crease, 0.012, alpha=0.4)
    elif silhouette == "wrap":
        flap = path((waist * 0.55, top), (0.2 * hem, top + 0.5 * tall, -0.35 * hem, hem_y + 0.012))
        canvas.line(flap, crease, 0.02)
        canvas.line(flap + np.array([0.022, 0]), look.second, 0.014)
    elif silhouette == "pencil":
        canvas.line(line((0, hem_y - 0.16), (0, hem_y)), crease, 0.014)
    hem_line = path(
        (hem, hem_y), (hem * 0.5, hem_y + sag * 1.2, 0, hem_y + sag), (-hem * 0.5, hem_y + sag * 1.2, -hem, hem_y)
    )
    if look["material"] == "denim":
        canvas.dashes(hem_line - np.array([0, 0.045]), STITCH, 0.01, 0.045)
    return hem_line


def draw_skirt(canvas: Canvas, look: Look) -> Anchors:
    """A skirt with its waistband in the second colour."""
    silhouette = look["silhouette"]
    hem_y = {"short": 0.14, "medium": 0.5, "long": 0.84}[look["length"]]
    top = -0.62
    hem = {"pencil": 0.36, "a-line": 0.66, "pleated": 0.72, "full": 0.86, "wrap": 0.5}[silhouette]
    hem_line = draw_skirt_part(canvas, look, silhouette, 0.32, top, hem, hem_y)
    canvas.fill(
        [mirrored(path((0, top - 0.1), (0.315, top - 0.1), (0.33, top + 0.02), (0, top + 0.035)))],
        look.trim,
        puff=5,
        cast=0.25,
    )
    if look["pattern"] == "solid":
        canvas.line(hem_line - np.array([0, 0.014]), look.second, 0.022)
    if look["material"] == "denim":
        for edge in both_sides(path((0.12, top + 0.03), (0.14, top + 0.16, 0.34, top + 0.16))):
            canvas.dashes(edge, STITCH, 0.01, 0.04)
    side = path((0.33, top + 0.12), (hem * 0.62, top + 0.5 * (hem_y - top)), (hem - 0.06, hem_y - 0.03))
    return Anchors((0.17, top + 0.3), 0.1, [hem_line], [side, flip(side)], line((0, top + 0.06), (0, hem_y - 0.06)))


def draw_legs(
    canvas: Canvas, look: Look, silhouette: str, waist: float, top: float, hem_y: float
) -> tuple[list[Points], list[Points]]:
    """Both trouser legs; returns the hems (right to left) and the outer sides."""
    apart = 0.03 + 0.10 * canvas.pose.spread
    tall = hem_y - top
    crotch = top + 0.42 * min(1.0, 1.35 / (tall + 0.6))
    hip = waist + 0.09
    knee_y = crotch + 0.5 * (hem_y - crotch)
    knee = {"skinny": 0.17, "straight": 0.23, "wide": 0.32, "flared": 0.18, "tapered": 0.26}[silhouette]
    foot = {"skinny": 0.13, "straight": 0.22, "wide": 0.40, "flared": 0.37, "tapered": 0.14}[silhouette]
    centre = apart + 0.11
    if hem_y - crotch < 0.3:
        foot = max(foot, 0.24) if silhouette != "wide" else 0.4
        knee = foot
    inner_knee = max(0.012, centre - 0.45 * knee + 0.02)
    inner_foot = max(0.015, centre + apart - 0.42 * foot)
    leg = path(
        (-0.01, top),
        (waist, top),
        (hip + 0.02, top + 0.2, hip, crotch - 0.03),
        (hip, crotch + 0.3 * (knee_y - crotch), inner_knee + knee, knee_y),
        (inner_knee + knee, knee_y + 0.3 * (hem_y - knee_y), inner_foot + foot, hem_y),
        (inner_foot, hem_y + 0.012),
        (inner_knee, knee_y + 0.15 * (hem_y - knee_y), 0.0, crotch),
        (-0.01, crotch),
    )
    canvas.fill(both_sides(leg), look.fabric, puff=13)
    seam = darker(look.first, 0.5)
    canvas.line(line((0, top), (0, crotch)), seam, 0.012)
    if silhouette in ("straight", "wide", "flared"):
        middle = path((waist * 0.55, top + 0.1), (inner_knee + knee / 2, knee_y), (inner_foot + foot / 2, hem_y))
        for crease in both_sides(middle):
            canvas.line(crease, seam, 0.007, alpha=0.5)
    hem = line((inner_foot + foot, hem_y), (inner_foot, hem_y + 0.012))
    side = path(
        (hip - 0.02, top + 0.2),
        (hip - 0.02, crotch),
        (inner_knee + knee - 0.02, knee_y),
        (inner_foot + foot - 0.025, hem_y - 0.02),
    )
    if silhouette == "tapered":
        cuff = path(
            (inner_foot + foot + 0.012, hem_y - 0.06),
            (inner_foot + foot + 0.006, hem_y + 0.02),
            (inner_foot - 0.006, hem_y + 0.03),
            (inner_foot - 0.012, hem_y - 0.05),
        )
        canvas.fill(both_sides(cuff), look.trim, puff=4)
    elif look["pattern"] == "solid":
        for edge in both_sides(hem - np.array([0, 0.014])):
            canvas.line(edge, look.second, 0.022)
    if look["material"] == "denim":
        for edge in both_sides(side):
            canvas.dashes(edge, STITCH, 0.009, 0.045)
    return [hem, flip(hem)[::-1]], both_sides(side)


def draw_pants(canvas: Canvas, look: Look) -> Anchors:
    """Trousers with waistband, fly and pockets."""
    top = -0.72
    hem_y = {"short": 0.0, "medium": 0.46, "long": 0.86}[look["length"]]
    hems, sides = draw_legs(canvas, look, look["silhouette"], 0.31, top, hem_y)
    canvas.fill(
        [mirrored(path((0, top - 0.1), (0.3, top - 0.1), (0.322, top + 0.02), (0, top + 0.03)))],
        look.trim,
        puff=4,
        cast=0.25,
    )
    for x in (-0.2, 0.2):
        canvas.blob(box(x - 0.014, top - 0.11, x + 0.014, top + 0.04), darker(look.first, 0.6))
    stitched = look["material"] == "denim"
    for pocket in both_sides(path((0.17, top + 0.03), (0.2, top + 0.17, 0.36, top + 0.2))):
        if stitched:
            canvas.dashes(pocket, STITCH, 0.011, 0.04)
        canvas.line(pocket, darker(look.first, 0.5), 0.009)
    fly = path((0.055, top + 0.03), (0.055, top + 0.2), (0.05, top + 0.27, 0, top + 0.29))
    canvas.line(fly, STITCH if stitched else darker(look.first, 0.6), 0.009)
    return Anchors((0.2, top + 0.36), 0.08, hems, sides, line((0, top - 0.04), (0, top + 0.26)))
