"""One template over the drawn shapes."""

import polars as pl

from likewise.conditional.protocol import TEMPLATE_SCHEMA
from tests.conftest import COLOURS, SHAPES


def templates_of_shapes() -> pl.DataFrame:
    """Like the red circle, but blue: fifteen candidates."""
    others = [f"{shape}/{colour}-{view}.png" for shape in SHAPES for colour in COLOURS for view in (0, 1)]
    gallery = [image for image in others if image not in ("circle/red-0.png", "circle/blue-0.png", "circle/blue-1.png")]
    row = (0, "change_attribute", "blue", "circle/red-0.png", "circle/blue-0.png", gallery[:14])
    return pl.DataFrame([row], schema=TEMPLATE_SCHEMA, orient="row")
