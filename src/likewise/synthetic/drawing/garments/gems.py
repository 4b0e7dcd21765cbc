"""Small precious things shared by jewellery, watches, hair wear and brooches: stones, beads, chains."""

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.geometry import Points, along, ellipse, ribbon
from likewise.synthetic.drawing.look import Look
from likewise.synthetic.drawing.paint import Colour, darker, flat, lighter, mix


def stone(canvas: Canvas, x: float, y: float, radius: float, colour: Colour, *, tall: float = 1.0) -> None:
    """A faceted stone: a dark rim, facets from light (towards the upper left) to dark, a bright table, a glint."""
    outer = ellipse(x, y, radius, radius * tall, 10)
    table = ellipse(x, y, radius * 0.55, radius * tall * 0.55, 10)
    canvas.blob(ellipse(x, y, radius * 1.13, radius * tall * 1.13, 14), darker(colour, 0.4))
    for i in range(10):
        j = (i + 1) % 10
        facet = np.array([outer[i], outer[j], table[j], table[i]])
        canvas.blob(facet, mix(darker(colour, 0.62), lighter(colour, 0.6), _FACETS[i]))
    canvas.blob(table, lighter(colour, 0.22))
    canvas.blob(table[[5, 6, 7, 8]], lighter(colour, 0.6))
    canvas.dot(x - 0.2 * radius, y - 0.25 * radius * tall, 0.13 * radius, (255, 255, 255))


# Brightness of the ten facets, clockwise from the right.
_FACETS = (0.25, 0.1, 0.35, 0.05, 0.4, 0.65, 0.95, 0.7, 0.9, 0.45)


def draw_beads(canvas: Canvas, look: Look, polyline: Points, radius: float) -> None:
    """A strand: every fourth bead is in the second colour, the others in the item's material or colour."""
    spots, _ = along(polyline, 2.05 * radius)
    main = [ellipse(float(x), float(y), radius, steps=14) for i, (x, y) in enumerate(spots) if i % 4 != 2]
    accent = [ellipse(float(x), float(y), radius, steps=14) for i, (x, y) in enumerate(spots) if i % 4 == 2]
    canvas.fill(main, look.plain, puff=max(3.0, radius * 90), edge=0.45)
    for i, (x, y) in enumerate(spots):
        if i % 4 == 0:
            canvas.dot(float(x), float(y), radius * 0.34, look.first)
        if i % 4 != 2:
            canvas.dot(float(x) - 0.3 * radius, float(y) - 0.35 * radius, 0.2 * radius, (255, 255, 255), alpha=0.7)
    if accent:
        canvas.fill(accent, flat(look.second, "gloss"), puff=max(3.0, radius * 90), edge=0.45)


def chain(canvas: Canvas, look: Look, polyline: Points, link: float) -> None:
    """Links of the item's material."""
    spots, normals = along(polyline, 1.5 * link)
    angle = np.arctan2(-normals[:, 0], normals[:, 1])
    cos, sin = np.cos(angle), np.sin(angle)
    turn = np.stack([np.stack([cos, sin], axis=1), np.stack([-sin, cos], axis=1)], axis=1)
    rings = np.stack([ellipse(0, 0, link, link * thin, 14) for thin in (0.42, 0.8)])[np.arange(len(spots)) % 2]
    outer = rings @ turn + spots[:, None]
    inner = (rings[1::2] * 0.52) @ turn[1::2] + spots[1::2, None]
    canvas.fill(list(outer), look.plain, puff=max(2.5, link * 60), edge=0.5, holes=list(inner))


def wire(canvas: Canvas, look: Look, polyline: Points, width: float) -> None:
    """A rod of the item's material."""
    canvas.fill([ribbon(polyline, width)], look.plain, puff=max(3.0, width * 55), edge=0.4)
