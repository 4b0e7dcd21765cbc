"""Outlines as points: Bezier paths, mirrored halves, ellipses, and offsets along a line.

Garment units: x to the right, y down, the item lies within about -0.9 .. 0.9 in both.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
XY = tuple[float, float]
Segment = tuple[float, ...]

_STEPS = 9
_T = np.linspace(0.0, 1.0, _STEPS + 1)[1:, None]


def path(start: XY, *segments: Segment) -> Points:
    """A path from ``start``: (x, y) is a line, (cx, cy, x, y) a quadratic and six numbers a cubic curve."""
    pieces = [np.array([start], dtype=np.float64)]
    here = np.array(start, dtype=np.float64)
    for segment in segments:
        nodes = np.array(segment, dtype=np.float64).reshape(-1, 2)
        if len(nodes) == 1:
            pieces.append(nodes)
        elif len(nodes) == 2:
            pieces.append((1 - _T) ** 2 * here + 2 * (1 - _T) * _T * nodes[0] + _T**2 * nodes[1])
        else:
            pieces.append(
                (1 - _T) ** 3 * here
                + 3 * (1 - _T) ** 2 * _T * nodes[0]
                + 3 * (1 - _T) * _T**2 * nodes[1]
                + _T**3 * nodes[2]
            )
        here = nodes[-1]
    return np.concatenate(pieces)


def flip(points: Points) -> Points:
    """The mirror image about the vertical axis."""
    mirror: Points = points * (-1.0, 1.0)
    return mirror


def mirrored(right_half: Points) -> Points:
    """A closed symmetric outline from its right half, given from the top centre to the bottom centre."""
    return np.concatenate([right_half, flip(right_half)[::-1]])


def both_sides(points: Points) -> list[Points]:
    """The outline and its mirror image."""
    return [points, flip(points)]


@cache
def _circle(steps: int) -> Points:
    angle = np.linspace(0.0, 2 * math.pi, steps, endpoint=False)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def ellipse(cx: float, cy: float, rx: float, ry: float | None = None, steps: int = 28) -> Points:
    """A closed ellipse."""
    return _circle(steps) * (rx, rx if ry is None else ry) + (cx, cy)


def arc(cx: float, cy: float, rx: float, ry: float, start: float, stop: float, steps: int = 20) -> Points:
    """Part of an ellipse, angles in degrees, clockwise from the right (y points down)."""
    angle = np.radians(np.linspace(start, stop, steps))
    return np.stack([cx + rx * np.cos(angle), cy + ry * np.sin(angle)], axis=1)


def box(x0: float, y0: float, x1: float, y1: float) -> Points:
    """A rectangle."""
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], dtype=np.float64)


def rounded(x0: float, y0: float, x1: float, y1: float, r: float) -> Points:
    """A rectangle with round corners."""
    return path(
        (x0 + r, y0),
        (x1 - r, y0),
        (x1, y0, x1, y0 + r),
        (x1, y1 - r),
        (x1, y1, x1 - r, y1),
        (x0 + r, y1),
        (x0, y1, x0, y1 - r),
        (x0, y0 + r),
        (x0, y0, x0 + r, y0),
    )


def line(*points: XY) -> Points:
    """A polyline."""
    return np.array(points, dtype=np.float64)


def along(polyline: Points, step: float, *, offset: float = 0.0) -> tuple[Points, Points]:
    """Evenly spaced points on a polyline, moved by ``offset`` along the normal, and the unit normals.

    The normal points to the left of the direction of travel turned by 90 degrees (downwards for a line that
    runs from right to left).
    """
    delta = np.diff(polyline, axis=0)
    lengths = np.hypot(delta[:, 0], delta[:, 1])
    total = float(lengths.sum())
    count = max(2, round(total / step) + 1)
    at = np.linspace(0.0, total, count)
    knots = np.concatenate([[0.0], np.cumsum(lengths)])
    points = np.stack([np.interp(at, knots, polyline[:, axis]) for axis in (0, 1)], axis=1)
    index = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(delta) - 1)
    unit = delta[index] / np.maximum(lengths[index], 1e-9)[:, None]
    normals = np.stack([unit[:, 1], -unit[:, 0]], axis=1)
    return points + offset * normals, normals


def ribbon(polyline: Points, widths: float | Sequence[float]) -> Points:
    """A closed band around a polyline; ``widths`` are full widths at the start .. end."""
    points, normals = along(polyline, max(0.02, _length(polyline) / 24))
    ends = np.atleast_1d(np.asarray(widths, dtype=np.float64))
    half = np.interp(np.linspace(0, 1, len(points)), np.linspace(0, 1, len(ends)), ends)[:, None] / 2
    return np.concatenate([points + normals * half, (points - normals * half)[::-1]])


def _length(polyline: Points) -> float:
    delta = np.diff(polyline, axis=0)
    return float(np.hypot(delta[:, 0], delta[:, 1]).sum())


def rotate(points: Points, degrees: float, about: XY = (0.0, 0.0)) -> Points:
    """Turned clockwise (y points down)."""
    a = math.radians(degrees)
    turn = np.array([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])
    centre = np.array(about)
    turned: Points = (points - centre) @ turn + centre
    return turned


def jagged(points: Points, rng: np.random.Generator, depth: float, step: float = 0.028) -> Points:
    """The same closed outline with hair standing off it."""
    closed = np.concatenate([points, points[:1]])
    spread, normals = along(closed, step)
    area = np.sum(closed[:-1, 0] * closed[1:, 1] - closed[1:, 0] * closed[:-1, 1])
    outward = normals if area > 0 else -normals
    reach = rng.uniform(0.25, 1.0, len(spread)) * depth
    reach[::2] *= 0.15
    return spread + outward * reach[:, None]
