"""A folder of photos that changes like a shop's, with votes on its first pool."""

import shutil
from pathlib import Path

import polars as pl
import pytest

from likewise.api.workspace import Workspace
from tests.conftest import draw_shape

COLOURS = ("red", "orange", "blue", "green", "purple", "brown")
SHAPES = ("circle", "square", "triangle")


def save_shape(photos: Path, shape: str, colour: str, view: int) -> str:
    name = f"{shape}/{colour}-{view}.png"
    (photos / shape).mkdir(parents=True, exist_ok=True)
    draw_shape(shape, colour, view).save(photos / name)
    return name


def shape_of(image: str) -> str:
    """What the simulated experts see, whatever the file is called."""
    return next(shape for shape in SHAPES if shape in image)


def vote(workspace: Workspace) -> int:
    """Three experts answer every pair of the pool that has no vote yet; how many pairs that were."""
    pairs = pl.read_parquet(workspace.pool_file).select("query", "candidate").unique().sort("query", "candidate")
    if workspace.votes_file.exists():
        pairs = pairs.join(workspace.labels().table, on=["query", "candidate"], how="anti")
    rows = [
        (query, candidate, expert, "similar" if shape_of(query) == shape_of(candidate) else "not similar")
        for query, candidate in pairs.iter_rows()
        for expert in ("ada", "ben", "eve")
    ]
    if rows:
        file = workspace.path / "new_votes.csv"
        pl.DataFrame(rows, schema=["query", "candidate", "expert", "answer"], orient="row").write_csv(file)
        workspace.import_votes(file)
    return len(pairs)


@pytest.fixture(scope="session")
def first_season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """36 photos, two encoders, a pool, votes: made once."""
    place = tmp_path_factory.mktemp("season")
    for shape in SHAPES:
        for colour in COLOURS:
            for view in (0, 1):
                save_shape(place / "photos", shape, colour, view)
    workspace = Workspace(place / "shoes")
    workspace.new(place / "photos")
    workspace.encode("colour", "shape")
    workspace.discover(k=3, n_queries=12, n_random=40)
    vote(workspace)
    return place


@pytest.fixture
def shop(first_season: Path, tmp_path: Path) -> Path:
    """A copy of the first season: `photos` and the workspace `shoes` (whose root is moved along)."""
    shutil.copytree(first_season, tmp_path / "shop")
    settings = tmp_path / "shop" / "shoes" / "workspace.json"
    settings.write_text(settings.read_text().replace(str(first_season), str(tmp_path / "shop")))
    return tmp_path / "shop"


def change_photos(photos: Path) -> None:
    """Two added, three removed, two renamed (one of them moved), one changed."""
    save_shape(photos, "circle", "gold", 0)
    save_shape(photos, "square", "gold", 1)
    for gone in ("circle/red-0.png", "square/blue-1.png", "triangle/green-0.png"):
        (photos / gone).unlink()
    (photos / "circle/blue-0.png").rename(photos / "circle/azure.png")
    (photos / "attic").mkdir()
    (photos / "square/red-0.png").rename(photos / "attic/square.png")
    draw_shape("triangle", "black", 1).save(photos / "triangle/red-1.png")
