"""Small drawn pictures, and a workspace made of them."""

import hashlib
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from likewise.workspace import WorkspaceFolder, write_json, write_parquet

Colour = tuple[int, int, int]
RED, ORANGE, BLUE, WHITE, BLACK = (200, 20, 30), (240, 130, 20), (30, 40, 200), (255, 255, 255), (0, 0, 0)


def square(colour: Colour, *, side: int = 100, size: int = 200, left: int = 50, top: int = 50) -> Image.Image:
    picture = Image.new("RGB", (size, size), WHITE)
    ImageDraw.Draw(picture).rectangle((left, top, left + side, top + side), fill=colour)
    return picture


def circle(colour: Colour, *, side: int = 110, left: int = 45, top: int = 45) -> Image.Image:
    picture = Image.new("RGB", (200, 200), WHITE)
    ImageDraw.Draw(picture).ellipse((left, top, left + side, top + side), fill=colour)
    return picture


def stripes(period: int = 16, phase: int = 0) -> Image.Image:
    picture = square(BLUE)
    draw = ImageDraw.Draw(picture)
    for y in range(50 + phase, 146, period):
        draw.rectangle((50, y, 150, y + period // 2 - 1), fill=WHITE)
    return picture


def dots(period: int = 16, phase: int = 0) -> Image.Image:
    picture = square(BLUE)
    draw = ImageDraw.Draw(picture)
    for y in range(52 + phase, 140, period):
        for x in range(52, 140, period):
            draw.ellipse((x, y, x + period // 2, y + period // 2), fill=WHITE)
    return picture


def random_picture(seed: int, width: int = 40, height: int = 30) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(pixels).resize((width, height), Image.Resampling.BICUBIC)


def make_workspace(folder: Path, n_images: int) -> WorkspaceFolder:
    """A workspace with `n_images` random PNG pictures."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True)
    for number in range(n_images):
        random_picture(number).save(pictures / f"{number:04d}.png")
    workspace = WorkspaceFolder(folder / "workspace")
    write_json({"format": 1, "root": "../pictures", "source": "folder"}, workspace.settings_file)
    write_catalog(workspace)
    return workspace


def write_catalog(workspace: WorkspaceFolder) -> None:
    paths = sorted(workspace.root.glob("*.png"))
    catalog = pl.DataFrame(
        {
            "image": [path.name for path in paths],
            "item": [path.stem for path in paths],
            "category": ["thing"] * len(paths),
            "width": [40] * len(paths),
            "height": [30] * len(paths),
            "digest": [hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest() for path in paths],
        }
    )
    write_parquet(catalog, workspace.catalog_file)


def images_of(workspace: WorkspaceFolder) -> list[str]:
    return sorted(path.name for path in workspace.root.glob("*.png"))


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its content."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def similarity(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(a.astype(np.float64) @ b.astype(np.float64))
