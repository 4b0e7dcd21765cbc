"""The part of a picture that the catalog points at: columns x1, y1, x2, y2 (or x_1, ..), or one column bbox.

Boxes are in pixels of the upright picture; one that is decoded at a fraction of its size scales them along.
"""

from collections.abc import Mapping, Sequence
from math import ceil, isfinite
from typing import Any

import polars as pl
from PIL import Image

from likewise.errors import LikewiseError

Box = tuple[float, float, float, float, int]
"""x1, y1, x2, y2, and the longer side of the whole picture."""

BOX_COLUMNS = (("x1", "y1", "x2", "y2"), ("x_1", "y_1", "x_2", "y_2"))


def catalog_boxes(catalog: pl.DataFrame) -> list[Box | None]:
    """For each row its box, None where it has none."""
    for names in BOX_COLUMNS:
        if set(names) <= set(catalog.columns):
            found: Sequence[Any] = catalog.select(names).rows()
            break
    else:
        if "bbox" not in catalog.columns:
            raise LikewiseError(
                "box=1 needs boxes in the catalog: columns x1, y1, x2, y2 (pixels), or bbox with those four."
            )
        found = catalog["bbox"].to_list()
    longest = catalog.select(pl.max_horizontal("width", "height")).to_series()
    rows = zip(catalog["image"], found, longest, strict=True)
    return [_box(image, value, side) for image, value, side in rows]


def _box(image: str, value: Any, longest: int) -> Box | None:
    if isinstance(value, Mapping):
        value = [value.get(name) for name in BOX_COLUMNS[0]]
    elif isinstance(value, str):
        value = value.strip("[]() ").replace(",", " ").split() or None
    if value is None or all(each is None for each in value):
        return None
    try:
        x1, y1, x2, y2 = (float(each) for each in value)
    except (TypeError, ValueError):
        raise LikewiseError(f"the catalog's box of {image} is {value!r}, not x1, y1, x2, y2: correct it.") from None
    if not all(map(isfinite, (x1, y1, x2, y2))) or x2 <= x1 or y2 <= y1:
        raise LikewiseError(f"the catalog's box of {image} is empty ({x1:g}, {y1:g}, {x2:g}, {y2:g}): correct it.")
    return x1, y1, x2, y2, longest


def pixels_for_box(pixels: int, box: Box | None) -> int:
    """How long the shorter side of the whole picture must be for its box to have `pixels`."""
    if box is None:
        return pixels
    x1, y1, x2, y2, longest = box
    return min(longest, ceil(pixels * longest / max(1.0, min(x2 - x1, y2 - y1))))


def crop_box(picture: Image.Image, box: Box) -> Image.Image:
    """The box, as far as it lies in the picture."""
    x1, y1, x2, y2, longest = box
    scale = max(picture.size) / longest
    left, top = max(0, int(x1 * scale)), max(0, int(y1 * scale))
    right, bottom = min(picture.width, ceil(x2 * scale)), min(picture.height, ceil(y2 * scale))
    if right <= left or bottom <= top:
        raise ValueError(f"its box ({x1:g}, {y1:g}, {x2:g}, {y2:g}) lies outside the picture")
    return picture.crop((left, top, right, bottom))
