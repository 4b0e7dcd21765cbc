"""Small real workspaces for the tests: coloured shapes on white, several pictures per item."""

from pathlib import Path

import hypothesis
import numpy as np
import pytest
from PIL import Image, ImageDraw

from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.workspace import WorkspaceFolder

hypothesis.settings.register_profile("likewise", deadline=None)  # no test depends on the clock
hypothesis.settings.load_profile("likewise")

COLOURS = ("red", "orange", "blue", "green")
SHAPES = ("circle", "square", "triangle")
VIEWS = 2


def draw_shape(shape: str, colour: str, view: int) -> Image.Image:
    """A coloured figure; the view moves and resizes it a little."""
    picture = Image.new("RGB", (64, 64), "white")
    pen = ImageDraw.Draw(picture)
    left, size = 12 + 4 * view, 36 - 4 * view
    box = (left, left, left + size, left + size)
    if shape == "circle":
        pen.ellipse(box, fill=colour)
    elif shape == "square":
        pen.rectangle(box, fill=colour)
    else:
        pen.polygon([(left, left + size), (left + size, left + size), (left + size / 2, left)], fill=colour)
    return picture


def write_shapes(folder: Path) -> Path:
    """Draw every shape in every colour from two sides, and a table that says which item each picture shows."""
    lines = ["image,item,category,domain"]
    for shape in SHAPES:
        (folder / shape).mkdir(parents=True)
        for colour in COLOURS:
            for view in range(VIEWS):
                name = f"{shape}/{colour}-{view}.png"
                draw_shape(shape, colour, view).save(folder / name)
                lines.append(f"{name},{shape}-{colour},{shape},{'shop' if view == 0 else 'wild'}")
    table = folder / "catalog.csv"
    table.write_text("\n".join(lines) + "\n")
    return table


@pytest.fixture
def shapes_table(tmp_path: Path) -> Path:
    return write_shapes(tmp_path / "pictures")


@pytest.fixture
def workspace(tmp_path: Path, shapes_table: Path) -> WorkspaceFolder:
    """A workspace whose catalog holds the 24 shape pictures (12 items, 3 categories)."""
    target = WorkspaceFolder(tmp_path / "ws")
    reading = read(shapes_table)
    make_catalog(target, reading.rows, reading.root, "table")
    return target


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
