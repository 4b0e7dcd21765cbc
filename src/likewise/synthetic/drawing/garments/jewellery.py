"""Earrings, necklaces, rings, bracelets: the material is the setting, the colours the stones and their accents."""

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.garments.gems import chain, draw_beads, stone, wire
from likewise.synthetic.drawing.geometry import Points, arc, ellipse, flip, line, path, ribbon
from likewise.synthetic.drawing.look import Anchors, Look
from likewise.synthetic.drawing.paint import Paint, flat

_REACH = {"short": 0.0, "medium": 0.24, "long": 0.5}


def draw_earrings(canvas: Canvas, look: Look) -> Anchors:
    """A pair, hanging; the length is how far it hangs."""
    apart = 0.36 + 0.1 * canvas.pose.spread
    drop = _REACH[look["length"]]
    for side in (-1, 1):
        _one_earring(canvas, look, side * apart, drop)
    cy, rx, ry = _earring_body(look["silhouette"], drop)
    hem = arc(apart, cy, rx, ry, 25, 155)
    rim = arc(apart, cy, rx - 0.05, ry - 0.05, 110, 245)
    front = line((apart, -0.52), (apart, cy - 0.4 * ry))
    return Anchors((apart, -0.6), 0.075, [hem, flip(hem)[::-1]], [rim, flip(rim)], front, paired=True)


def _earring_body(kind: str, drop: float) -> tuple[float, float, float]:
    """Height of the middle, half width and half height of the part that hangs."""
    if kind == "stud":
        return -0.1, 0.24 + 0.12 * drop, 0.24 + 0.12 * drop
    if kind == "hoop":
        r = 0.2 + 0.375 * drop
        return -0.52 + r * 1.1, r * 0.8 - 0.03, r * 1.1 - 0.03
    return (drop + 0.02, 0.15, 0.21) if kind == "drop" else (drop - 0.12, 0.19, 0.14)


def _one_earring(canvas: Canvas, look: Look, x: float, drop: float) -> None:
    kind = look["silhouette"]
    top = -0.58
    if kind == "stud":
        radius = 0.2 + 0.12 * drop
        canvas.fill([ellipse(x, -0.1, radius + 0.06, steps=32)], look.plain, puff=7)
        stone(canvas, x, -0.1, radius, look.first)
        for angle in range(0, 360, 45):
            a = np.radians(angle)
            canvas.dot(
                x + (radius + 0.03) * float(np.cos(a)), -0.1 + (radius + 0.03) * float(np.sin(a)), 0.022, look.second
            )
        wire(canvas, look, line((x, top), (x, -0.1 - radius)), 0.03)
        if drop:
            wire(canvas, look, line((x, -0.1 + radius), (x, 0.12 + drop * 0.8)), 0.02)
            stone(canvas, x, 0.16 + drop * 0.8, 0.07, look.second)
        return
    canvas.fill([ellipse(x, top, 0.055, steps=14)], look.plain, puff=4)
    if kind == "hoop":
        r = 0.2 + 0.5 * drop * 0.75
        cy = top + 0.06 + r * 1.1
        canvas.fill(
            [ellipse(x, cy, r * 0.8, r * 1.1, 40)],
            look.plain,
            puff=6,
            holes=[ellipse(x, cy, r * 0.8 - 0.065, r * 1.1 - 0.065, 40)],
        )
        for angle in (50, 90, 130):
            a = np.radians(angle)
            stone(
                canvas,
                x + (r * 0.8 - 0.03) * float(np.cos(a)),
                cy + (r * 1.1 - 0.03) * float(np.sin(a)),
                0.055,
                look.first if angle == 90 else look.second,
            )
        return
    end = -0.1 + drop
    chain(canvas, look, line((x, top + 0.08), (x, end - 0.14)), 0.032)
    if kind == "drop":
        tear = path(
            (x, end - 0.18),
            (x + 0.2, end + 0.06, x + 0.15, end + 0.2),
            (x, end + 0.36, x - 0.15, end + 0.2),
            (x - 0.2, end + 0.06, x, end - 0.18),
        )
        canvas.fill([tear], look.plain, puff=8)
        stone(canvas, x, end + 0.13, 0.105, look.first, tall=1.25)
        stone(canvas, x, end - 0.17, 0.045, look.second)
        return
    canvas.fill([arc(x, end - 0.14, 0.2, 0.16, 0, 180)], look.plain, puff=6)
    stone(canvas, x, end - 0.1, 0.06, look.second)
    for i, dx in enumerate((-0.17, -0.085, 0.0, 0.085, 0.17)):
        tall = 0.16 - 0.05 * abs(i - 2)
        wire(canvas, look, line((x + dx, end - 0.06), (x + dx, end + tall)), 0.02)
        stone(canvas, x + dx, end + tall + 0.05, 0.045, look.first)


def _hanging(width: float, low: float) -> Points:
    tall = low + 0.86
    return path(
        (-width * 0.5, -0.86),
        (-width * 1.05, -0.86 + 0.55 * tall, -width * 0.62, low - 0.16 * tall),
        (-width * 0.3, low, 0, low),
        (width * 0.3, low, width * 0.62, low - 0.16 * tall),
        (width * 1.05, -0.86 + 0.55 * tall, width * 0.5, -0.86),
    )


def draw_necklace(canvas: Canvas, look: Look) -> Anchors:
    """Laid out as worn; the length is how far it hangs."""
    kind = look["silhouette"]
    low = {"short": -0.12, "medium": 0.22, "long": 0.56}[look["length"]]
    width = 0.62 + 0.12 * canvas.pose.spread
    strand = _hanging(width, low)
    spot = (0.0, low + 0.16)
    if kind == "beaded":
        draw_beads(canvas, look, strand, 0.058)
    elif kind == "collar":
        plate = ribbon(strand, [0.05, 0.12, 0.26, 0.12, 0.05])
        canvas.fill([plate], look.plain, puff=9)
        for t in (0.3, 0.4, 0.5, 0.6, 0.7):
            x, y = strand[round(t * (len(strand) - 1))]
            stone(
                canvas,
                float(x),
                float(y),
                0.075 if t == 0.5 else 0.05,
                look.first if t in (0.3, 0.5, 0.7) else look.second,
            )
    elif kind == "pendant":
        chain(canvas, look, strand, 0.026)
        canvas.fill([ellipse(0, low + 0.16, 0.15, 0.17)], look.plain, puff=8)
        stone(canvas, 0, low + 0.16, 0.11, look.first, tall=1.15)
        stone(canvas, 0, low - 0.03, 0.04, look.second)
        spot = (0.0, low + 0.28)
    else:
        chain(canvas, look, strand, 0.05)
        stone(canvas, 0, low, 0.065, look.first)
        for x, y in (strand[len(strand) // 2 - 5], strand[len(strand) // 2 + 5]):
            stone(canvas, float(x), float(y), 0.045, look.second)
    middle = len(strand) // 2
    hem = strand[middle - 8 : middle + 9][::-1] + np.array([0, 0.05])
    side = strand[2:10]
    return Anchors(spot, 0.085, [hem], [side, flip(side)], strand[10:18])


def draw_ring(canvas: Canvas, look: Look) -> Anchors:
    """Standing up, seen a little from above."""
    kind = look["silhouette"]
    tilt = 0.9 - 0.12 * canvas.pose.spread
    cy, r = 0.2, 0.55
    thick = {"band": 0.17, "solitaire": 0.085, "signet": 0.13, "cluster": 0.1}[kind]
    back = [ellipse(0, cy - 0.05, r - 0.02, r * tilt, 44)]
    canvas.fill(back, look.plain, puff=6, shade=0.7, holes=[ellipse(0, cy - 0.05, r - thick, (r - thick) * tilt, 44)])
    canvas.fill(
        [ellipse(0, cy, r, r * tilt, 44)],
        look.plain,
        puff=7,
        holes=[ellipse(0, cy - 0.02, r - thick, (r - thick) * tilt, 44)],
    )
    top = cy - r * tilt
    if kind == "solitaire":
        canvas.fill(
            [path((-0.16, top - 0.1), (0.16, top - 0.1), (0.06, top + 0.1), (-0.06, top + 0.1))], look.plain, puff=4
        )
        stone(canvas, 0, top - 0.14, 0.22, look.first, tall=0.9)
        for x in (-0.24, 0.24):
            stone(canvas, x, top + 0.03, 0.055, look.second)
    elif kind == "signet":
        canvas.fill([ellipse(0, top + 0.02, 0.3, 0.21)], look.plain, puff=7)
        canvas.fill([ellipse(0, top + 0.02, 0.23, 0.15)], _enamel(look), puff=5)
        canvas.line(path((-0.1, top + 0.06), (0, top - 0.1, 0.1, top + 0.06)), look.second, 0.03)
    elif kind == "cluster":
        for angle in range(0, 360, 60):
            a = np.radians(angle)
            stone(canvas, 0.19 * float(np.cos(a)), top - 0.06 + 0.15 * float(np.sin(a)), 0.085, look.second)
        stone(canvas, 0, top - 0.06, 0.13, look.first)
    else:
        canvas.fill([ribbon(arc(0, cy, r - thick / 2, (r - thick / 2) * tilt, 205, 335), 0.075)], _enamel(look), puff=3)
        for angle in (245, 270, 295):
            a = np.radians(angle)
            stone(
                canvas,
                (r - thick / 2) * float(np.cos(a)),
                cy + (r - thick / 2) * tilt * float(np.sin(a)),
                0.05,
                look.second,
            )
    low = arc(0, cy, r - thick / 2, (r - thick / 2) * tilt, 20, 160)
    side = arc(0, cy, r - thick / 2, (r - thick / 2) * tilt, 150, 200)
    return Anchors(
        (0.0, cy + (r - thick / 2) * tilt),
        0.08,
        [low],
        [side, flip(side)],
        arc(0, cy, r - thick / 2, (r - thick / 2) * tilt, -15, 30),
    )


def _enamel(look: Look) -> Paint:
    """Glossy enamel in the item's colour."""
    return flat(look.first, "gloss")


def draw_bracelet(canvas: Canvas, look: Look) -> Anchors:
    """Lying on a table, seen from above at an angle."""
    kind = look["silhouette"]
    tilt = 0.6 + 0.16 * canvas.pose.spread
    rx = 0.74
    ring = ellipse(0, 0, rx, rx * tilt, 60)
    loop = np.concatenate([ring, ring[:1]])
    if kind == "beaded":
        draw_beads(canvas, look, loop, 0.085)
    elif kind == "chain":
        chain(canvas, look, loop, 0.085)
        for t in (9, 15, 21):
            x, y = ring[t]
            stone(canvas, float(x), float(y) + 0.07, 0.085, look.first if t == 15 else look.second)
    elif kind == "cuff":
        outer = ellipse(0, -0.12, rx, rx * tilt, 60)
        canvas.fill([outer], look.plain, puff=9, shade=0.62, holes=[ellipse(0, -0.03, rx - 0.05, rx * tilt - 0.1, 60)])
        band = np.concatenate([arc(0, -0.12, rx, rx * tilt, 0, 180, 40), arc(0, 0.2, rx * 0.98, rx * tilt, 180, 0, 40)])
        canvas.fill([band], look.plain, puff=12)
        middle = arc(0, 0.03, rx * 0.99, rx * tilt, 8, 172, 40)
        canvas.fill([ribbon(middle, 0.09)], _enamel(look), puff=4)
        for t in (12, 20, 28):
            stone(canvas, float(middle[t, 0]), float(middle[t, 1]), 0.06, look.second)
    else:
        canvas.fill([ring], look.plain, puff=8, holes=[ellipse(0, 0, rx - 0.11, (rx - 0.11) * tilt, 60)])
        canvas.fill([ribbon(arc(0, 0, rx - 0.055, (rx - 0.055) * tilt, 20, 160, 30), 0.06)], _enamel(look), puff=3)
        for t in (45, 90, 135):
            a = np.radians(t)
            stone(canvas, (rx - 0.055) * float(np.cos(a)), (rx - 0.055) * tilt * float(np.sin(a)), 0.06, look.second)
    low = arc(0, 0.03, rx - 0.03, rx * tilt, 15, 165)
    side = arc(0, 0, rx - 0.05, (rx - 0.05) * tilt, 150, 205)
    return Anchors(
        (0.0, rx * tilt + 0.02), 0.1, [low], [side, flip(side)], arc(0, 0, rx - 0.05, (rx - 0.05) * tilt, 300, 345)
    )
