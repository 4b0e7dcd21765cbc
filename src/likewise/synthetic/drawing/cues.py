"""Style, season and occasion as things one can point at, drawn where the garment's anchors say.

=============  ==================================================================
style          cue
=============  ==================================================================
modern         one clean bar of colour at the emblem's spot, nothing else
streetwear     a box logo with bold lettering
vintage        a cream scalloped lace edging on every hem
sweet          a ribbon bow
sporty         two racing stripes along the sides
elegant        a row of pearls on the main hem
rock           metal studs on every hem
boho           a fringe hanging from the hems
-------------  ------------------------------------------------------------------
season         cue
-------------  ------------------------------------------------------------------
spring         an embroidered sprig with a blossom
summer         a row of eyelets (holes) above the main hem
autumn         a stitched leather patch
winter         a fluffy white trim on every hem
-------------  ------------------------------------------------------------------
occasion       cue
-------------  ------------------------------------------------------------------
formal         a satin piping, black with a light edge, along the sides
cocktail       sequins scattered around the emblem's spot
smart casual   a row of buttons along the front
casual         visible cream topstitching along hems and front
outdoor        a zip with a bright pull along the front
=============  ==================================================================
"""

import math
from dataclasses import replace

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.geometry import Points, along, flip, jagged, line, path, ribbon, rounded
from likewise.synthetic.drawing.look import Anchors, Look
from likewise.synthetic.drawing.paint import Colour, contrast, darker, flat

_CREAM = (246, 238, 218)
_FLUFF = flat((250, 248, 242))


def draw_cues(canvas: Canvas, look: Look, anchors: Anchors) -> None:
    """Season first (it lies on the cloth), then occasion, then style on top."""
    both = [anchors]
    if anchors.paired:
        x, y = anchors.spot
        both.append(replace(anchors, spot=(-x, y), front=flip(anchors.front), hems=[], sides=[]))
    for part in both:
        if "season" in look.values:
            _season(canvas, look, part)
        _occasion(canvas, look, part)
        _style(canvas, look, part)
    canvas.flush()


def _season(canvas: Canvas, look: Look, anchors: Anchors) -> None:
    season = look["season"]
    x, y = _beside(anchors)
    r = anchors.spot_size
    if season == "winter" and anchors.hems:
        bands = [jagged(ribbon(hem, 0.085), canvas.rng, 0.035, 0.03) for hem in anchors.hems]
        canvas.fill(bands, _FLUFF, puff=5, edge=0.22)
    elif season == "summer" and anchors.hems:
        spots, normals = along(anchors.hems[0], 0.075)
        inner = spots[1:-1] + 0.055 * anchors.inside * normals[1:-1]
        canvas.dots(inner, 0.02, contrast(look.first))
        canvas.dots(inner + 0.004 * normals[1:-1], 0.012, (252, 250, 246))
    elif season == "autumn":
        patch = rounded(x - 0.8 * r, y - 0.62 * r, x + 0.8 * r, y + 0.62 * r, 0.3 * r)
        canvas.fill([patch], flat((142, 88, 46), "semi"), puff=4)
        canvas.dashes(
            np.concatenate([patch, patch[:1]]) * 0.82 + 0.18 * np.array([x, y]), (236, 204, 150), 0.009, 0.035
        )
    elif season == "spring":
        stem = path((x - 0.5 * r, y + 1.0 * r), (x - 0.2 * r, y + 0.2 * r, x, y))
        canvas.line(stem, (70, 140, 72), 0.018)
        canvas.blob(
            path(
                (x - 0.42 * r, y + 0.7 * r),
                (x + 0.2 * r, y + 0.5 * r, x + 0.4 * r, y + 0.8 * r),
                (x, y + 1.0 * r, x - 0.42 * r, y + 0.7 * r),
            ),
            (84, 158, 80),
        )
        for i in range(5):
            a = math.radians(72 * i - 90)
            canvas.dot(x + 0.42 * r * math.cos(a), y + 0.42 * r * math.sin(a), 0.34 * r, (248, 176, 204))
        canvas.dot(x, y, 0.24 * r, (250, 214, 80))


def _beside(anchors: Anchors) -> tuple[float, float]:
    """The mirror place of the emblem's spot, or below it when that lies on the axis."""
    x, y = anchors.spot
    if abs(x) < 0.08:
        return (x - 2.1 * anchors.spot_size, y)
    return (-x, y) if abs(x) < 0.3 else (x - 1.9 * anchors.spot_size, y + 0.2 * anchors.spot_size)


def _occasion(canvas: Canvas, look: Look, anchors: Anchors) -> None:
    occasion = look["occasion"]
    front = anchors.front
    if occasion == "formal":
        for side in anchors.sides:
            canvas.line(side, (18, 18, 22), 0.034)
            canvas.line(side + np.array([0.006, 0]), (214, 214, 222), 0.009)
    elif occasion == "cocktail":
        _sequins(canvas, anchors)
    elif occasion == "smart casual":
        spots, _ = along(front, 0.14)
        rim = contrast(look.first)
        face = look.second if look.second != look.first else rim
        buttons = spots[:: max(1, len(spots) // 5)]
        for radius, colour in ((0.031, rim), (0.024, face), (0.008, darker(face, 0.4))):
            canvas.dots(buttons, radius, colour)
    elif occasion == "casual":
        for hem in anchors.hems:
            inner, normals = along(hem, 0.05)
            canvas.dashes(inner + 0.045 * anchors.inside * normals, (250, 226, 160), 0.016, 0.06)
        canvas.dashes(front + np.array([0.03, 0]), (250, 226, 160), 0.014, 0.06)
    else:
        canvas.line(front, (40, 42, 46), 0.036)
        spots, _ = along(front, 0.028)
        teeth = np.where(np.arange(len(spots)) % 2, 0.009, -0.009)
        canvas.dots(spots + np.stack([teeth, np.zeros(len(spots))], axis=1), 0.008, (214, 216, 220))
        px, py = float(front[0, 0]), float(front[0, 1])
        canvas.blob(rounded(px - 0.026, py, px + 0.026, py + 0.12, 0.02), (244, 122, 30))


def _sequins(canvas: Canvas, anchors: Anchors) -> None:
    x, y = anchors.spot
    golden = math.pi * (3 - math.sqrt(5))
    for i in range(22):
        radius = anchors.spot_size * (0.7 + 0.42 * math.sqrt(i))
        a = golden * i
        px, py = x + radius * math.cos(a), y + radius * math.sin(a)
        s = 0.013 + 0.012 * ((i * 7) % 3) / 2
        star = np.array(
            [
                (0, -2.1 * s),
                (0.5 * s, -0.5 * s),
                (2.1 * s, 0),
                (0.5 * s, 0.5 * s),
                (0, 2.1 * s),
                (-0.5 * s, 0.5 * s),
                (-2.1 * s, 0),
                (-0.5 * s, -0.5 * s),
            ]
        )
        canvas.blob(star * 1.25 + np.array([px, py]), (150, 120, 60))
        canvas.blob(star + np.array([px, py]), (255, 248, 214))


def _style(canvas: Canvas, look: Look, anchors: Anchors) -> None:
    x, y = anchors.spot
    r = anchors.spot_size
    style = look["style"]
    if style == "modern":
        canvas.blob(rounded(x - 0.9 * r, y - 0.2 * r, x + 0.9 * r, y + 0.2 * r, 0.1 * r), contrast(look.first))
    elif style == "streetwear":
        canvas.blob(rounded(x - 1.15 * r, y - 0.6 * r, x + 1.15 * r, y + 0.6 * r, 0.08 * r), contrast(look.first))
        _letters(canvas, x, y, r, (212, 44, 40))
    elif style == "vintage":
        for hem in anchors.hems:
            spots, normals = along(hem, 0.07)
            canvas.dots(spots + 0.012 * normals, 0.042, darker(_CREAM, 0.72))
            canvas.dots(spots + 0.010 * normals, 0.036, _CREAM)
            canvas.dots(spots + 0.022 * normals, 0.009, (150, 128, 104))
            canvas.line(hem - 0.012 * np.array([0, 1]), _CREAM, 0.03)
    elif style == "sweet":
        _bow(canvas, x, y, r)
    elif style == "sporty":
        stripe = contrast(look.first)
        for side in anchors.sides:
            inward = -np.sign(float(side[:, 0].mean())) if abs(float(side[:, 0].mean())) > 0.02 else 1.0
            canvas.line(side + np.array([0.03 * inward, 0]), stripe, 0.026)
            canvas.line(side + np.array([0.085 * inward, 0]), stripe, 0.026)
    elif style == "elegant" and anchors.hems:
        spots, normals = along(anchors.hems[0], 0.062)
        _beads(canvas, spots + 0.02 * anchors.inside * normals, ((150, 138, 120), (240, 230, 216), (255, 255, 252)))
    elif style == "rock":
        for hem in anchors.hems:
            spots, normals = along(hem, 0.082)
            _beads(canvas, spots + 0.03 * anchors.inside * normals, ((58, 60, 66), (170, 174, 182), (246, 248, 252)))
    elif style == "boho":
        thread = darker(look.second, 0.85)
        for hem in anchors.hems:
            spots, normals = along(hem, 0.034)
            for i, ((px, py), (nx, ny)) in enumerate(zip(spots, normals, strict=True)):
                reach = 0.11 + 0.015 * (i % 3)
                end = (float(px + reach * nx), float(py + reach * ny))
                canvas.line(line((float(px), float(py)), end), thread if i % 2 else (196, 148, 92), 0.016)


def _beads(canvas: Canvas, spots: Points, rim_body_glint: tuple[Colour, Colour, Colour]) -> None:
    """Small balls in a row: pearls or studs."""
    rim, body, glint = rim_body_glint
    canvas.dots(spots, 0.033, rim)
    canvas.dots(spots, 0.026, body)
    canvas.dots(spots - 0.008, 0.01, glint)


def _letters(canvas: Canvas, x: float, y: float, r: float, colour: tuple[float, float, float]) -> None:
    """Four bold letters, L K W S, as strokes."""
    strokes = (
        ((-0.9, -0.35), (-0.9, 0.35), (-0.6, 0.35)),
        ((-0.4, -0.35), (-0.4, 0.35)),
        ((-0.1, -0.35), (-0.4, 0.0), (-0.1, 0.35)),
        ((0.05, -0.35), (0.15, 0.35), (0.27, -0.1), (0.39, 0.35), (0.49, -0.35)),
        ((0.95, -0.33), (0.66, -0.33), (0.66, 0.0), (0.95, 0.0), (0.95, 0.33), (0.64, 0.33)),
    )
    for stroke in strokes:
        canvas.line(np.array(stroke) * r + np.array([x, y]), colour, 0.15 * r)


def _bow(canvas: Canvas, x: float, y: float, r: float) -> None:
    pink, deep = (246, 150, 186), (196, 84, 130)
    for side in (-1, 1):
        tail = np.array([(0, 0), (0.35 * side, 1.1), (0.6 * side, 0.95), (0.9 * side, 1.0), (0.3 * side, 0)])
        canvas.blob(tail * r + np.array([x, y]), deep)
        loop = path(
            (0, 0), (0.5 * side, -1.1, 1.25 * side, -0.6), (1.4 * side, 0.1, 1.2 * side, 0.5), (0.6 * side, 0.5, 0, 0)
        )
        canvas.blob(loop * r * 1.08 + np.array([x, y]), deep)
        canvas.blob(loop * r * 0.94 + np.array([x, y]), pink)
    canvas.dot(x, y, 0.3 * r, deep)
    canvas.dot(x - 0.05 * r, y - 0.05 * r, 0.2 * r, pink)
