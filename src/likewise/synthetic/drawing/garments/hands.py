"""Gloves and legwear: pairs of soft tubes, the cuff in the second colour."""

import numpy as np

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.geometry import Points, box, flip, line, path, rotate, rounded
from likewise.synthetic.drawing.look import Anchors, Look
from likewise.synthetic.drawing.paint import darker


def _hand(kind: str, cuff_y: float) -> Points:
    """The outline of a right-hand glove: fingers up, thumb to the left."""
    wrist = 0.2 if kind != "gauntlet" else 0.19
    end = 0.22 if kind != "gauntlet" else 0.34
    if kind == "mitten":
        return path(
            (-wrist, 0.1),
            (-0.3, 0.0, -0.44, -0.22),
            (-0.44, -0.34, -0.34, -0.32),
            (-0.26, -0.2, -0.2, -0.16),
            (-0.24, -0.76, 0.02, -0.8),
            (0.3, -0.78, 0.27, -0.3),
            (0.26, 0.0, wrist, 0.1),
            (end, cuff_y),
            (-end, cuff_y),
        )
    cut = kind == "fingerless"
    tips = [-0.5, -0.54, -0.52, -0.46] if cut else [-0.7, -0.8, -0.76, -0.62]
    roots = -0.34
    outline: list[tuple[float, ...]] = [(-0.28, 0.02, -0.42, -0.14)]
    outline += [(-0.48, -0.2), (-0.38, -0.26)] if cut else [(-0.56, -0.34, -0.46, -0.36), (-0.4, -0.36, -0.32, -0.2)]
    outline += [(-0.24, -0.14, -0.23, -roots * -1.0)]
    x = -0.24
    for tip in tips:
        w = 0.118
        if cut:
            outline += [(x, tip), (x + w, tip - 0.01)]
        else:
            outline += [(x - 0.01, tip + 0.05), (x + w / 2, tip - 0.09, x + w + 0.005, tip + 0.05)]
        outline += [(x + w, roots)]
        x += w + 0.008
    outline += [(0.28, -0.1, wrist, 0.12), (end, cuff_y), (-end, cuff_y)]
    return path((-wrist, 0.12), *outline)


def draw_gloves(canvas: Canvas, look: Look) -> Anchors:
    """A pair, side by side."""
    kind = look["silhouette"]
    cuff_y = {"short": 0.3, "medium": 0.56, "long": 0.88}[look["length"]]
    apart = 0.44
    lean = 4 + 8 * canvas.pose.spread
    at = np.array([apart, 0.0])
    shape = rotate(_hand(kind, cuff_y), lean) + at
    canvas.fill([shape, flip(shape)], look.fabric, puff=9)
    end = 0.225 if kind != "gauntlet" else 0.35
    cuff = rotate(box(-end, cuff_y - 0.1, end, cuff_y + 0.01), lean) + at
    canvas.fill([cuff, flip(cuff)], look.trim, puff=5, cast=0.2)
    for x in (-0.1, 0.02, 0.14):
        seam = rotate(line((x, -0.3), (x * 0.8, -0.08)), lean) + at
        canvas.line(seam, darker(look.first, 0.55), 0.01)
        canvas.line(flip(seam), darker(look.first, 0.55), 0.01)
    hem = rotate(line((end, cuff_y), (-end, cuff_y)), lean) + at
    side = rotate(line((0.17, 0.1), (0.18, cuff_y - 0.12)), lean) + at
    spot = rotate(line((0.02, 0.06)), lean)[0] + at
    front = rotate(line((-0.1, 0.12), (-0.1, cuff_y - 0.04)), lean) + at
    return Anchors(
        (float(spot[0]), float(spot[1])), 0.085, [hem, flip(hem)[::-1]], [side, flip(side)], front, paired=True
    )


def draw_legwear(canvas: Canvas, look: Look) -> Anchors:
    """Socks and stockings, toes to the right; the length is how far up the leg they reach."""
    kind = look["silhouette"]
    top = {"short": 0.1, "medium": -0.4, "long": -0.86}[look["length"]]
    gap = 0.2 + 0.08 * canvas.pose.spread
    anchors: Anchors | None = None
    for at, shade in ((np.array([0.16 + gap / 2, -0.04]), 0.8), (np.array([-0.16 - gap / 2, 0.06]), 1.0)):
        anchors = _sock(canvas, look, kind, top, at, shade)
    assert anchors is not None
    return anchors


def _sock(canvas: Canvas, look: Look, kind: str, top: float, at: Points, shade: float) -> Anchors:
    calf = 0.14 + 0.09 * min(1.0, max(0.0, 0.1 - top))
    wide = {"smooth": 0.0, "slouchy": 0.045, "cuffed": 0.01}[kind]
    left, right = -0.26 - wide, -0.26 + 0.27 + 2 * (calf - 0.14) + wide
    leg = path(
        (left, top),
        (right, top),
        (right + 0.02, 0.1, 0.02 + wide, 0.38),
        (0.06, 0.5, 0.26, 0.54),
        (0.46, 0.58, 0.46, 0.7),
        (0.44, 0.8, 0.28, 0.8),
        (0.0, 0.8, -0.12, 0.8),
        (-0.32, 0.78, -0.28, 0.56),
        (left - 0.03, 0.1, left, top),
    )
    canvas.fill([leg + at], look.fabric, puff=11, shade=shade)
    toe = path((0.3, 0.55), (0.48, 0.6, 0.46, 0.7), (0.44, 0.8, 0.3, 0.8), (0.24, 0.68, 0.3, 0.55))
    heel = path((-0.28, 0.54), (-0.14, 0.62, -0.1, 0.8), (-0.32, 0.8, -0.28, 0.54))
    canvas.fill([toe + at, heel + at], look.trim, puff=5, shade=shade, cast=0.0)
    middle = (left + right) / 2
    if kind == "slouchy":
        for i, y in enumerate(np.linspace(max(top + 0.08, 0.0), 0.42, 5)):
            fold = (
                path((left + 0.01, float(y)), (middle, float(y) + 0.1 * (-1) ** i, right - 0.05, float(y) - 0.02)) + at
            )
            canvas.line(fold, darker(look.first, 0.5), 0.022, alpha=0.6)
    if kind == "cuffed":
        canvas.fill(
            [rounded(left - 0.03, top - 0.02, right + 0.03, top + 0.16, 0.03) + at],
            look.trim,
            puff=6,
            shade=shade,
            cast=0.35,
        )
    else:
        canvas.fill(
            [box(left - 0.005, top - 0.01, right + 0.005, top + 0.06) + at], look.trim, puff=3, shade=shade, cast=0.1
        )
    hem = line((right, top + 0.02), (left, top + 0.02)) + at
    side = line((middle, top + 0.2), (middle - 0.02, 0.4)) + at
    spot = (middle - 0.02 + float(at[0]), 0.34 + float(at[1]))
    return Anchors(spot, 0.085, [hem], [side], line((right - 0.07, top + 0.1), (right - 0.09, 0.36)) + at, inside=1.0)
