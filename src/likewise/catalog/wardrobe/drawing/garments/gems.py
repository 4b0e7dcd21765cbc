"""Small precious things shared by jewellery, watches, hair wear and brooches: stones, beads, chains."""

import math

import numpy as np

from likewise.catalog.wardrobe.drawing.canvas import Canvas
from likewise.catalog.wardrobe.drawing.geometry import Points, along, ellipse, ribbon
from likewise.catalog.wardrobe.drawing.look import Look
from likewise.catalog.wardrobe.drawing.paint import Colour, darker, flat, lighter


def stone(canvas: Canvas, x: float, y: float, radius: float, colour: Colour, *, tall: float = 1.0) -> None:
    """A faceted stone: a dark rim, a bright table, light and dark facets."""
    outer = ellipse(x, y, radius, radius * tall, 12)
    canvas.fill([outer], flat(colour, "gloss"), puff=max(3.0, radius * 50), edge=0.5)
    table = ellipse(x, y, radius * 0.55, radius * tall * 0.55, 8)
    canvas.blob(table, lighter(colour, 0.3))
    for i in range(0, 12, 2):
        facet = np.array([outer[i], outer[i + 1], table[(i * 8 // 12) % 8]])
        canvas.blob(facet, lighter(colour, 0.55) if i in (6, 8) else darker(colour, 0.7))
    canvas.dot(x - 0.25 * radius, y - 0.3 * radius * tall, 0.16 * radius, (255, 255, 255))


def beads(canvas: Canvas, look: Look, polyline: Points, radius: float) -> None:
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
    outer, inner = [], []
    for i, ((x, y), (nx, ny)) in enumerate(zip(spots, normals, strict=True)):
        thin = 0.8 if i % 2 else 0.42
        ring = ellipse(0, 0, link, link * thin, 14)
        angle = math.atan2(-float(nx), float(ny))
        turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        outer.append(ring @ turn + np.array([x, y]))
        inner.append((ring * 0.52) @ turn + np.array([x, y]))
    canvas.fill(outer, look.plain, puff=max(2.5, link * 60), edge=0.5, holes=inner[1::2])


def wire(canvas: Canvas, look: Look, polyline: Points, width: float) -> None:
    """A rod of the item's material."""
    canvas.fill([ribbon(polyline, width)], look.plain, puff=max(3.0, width * 55), edge=0.4)
