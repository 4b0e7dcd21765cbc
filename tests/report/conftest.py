"""A small workspace that went the whole road: drawn pictures, two generators, a new model, three experts, results."""

import shutil
from pathlib import Path

import polars as pl
import pytest
from PIL import Image, ImageDraw

from likewise.catalog import make_catalog, read_catalog
from likewise.discovery.step import PoolSettings, make_pool, store_pool
from likewise.encoders import encode_catalog
from likewise.evaluation.budget import write_budget
from likewise.evaluation.step import evaluate
from likewise.labeling import NOT_SIMILAR, SIMILAR, add_votes, open_votes
from likewise.labeling.step import update_labels
from likewise.report import write_report
from likewise.workspace import WorkspaceFolder

HOSTILE = """a "b" & 'c' <script>alert(1)<b>.png"""
COLOURS = ("crimson", "orange", "navy", "green", "black", "hotpink", "teal", "gold")
SHAPES = ("round", "square", "tall")
SETTINGS = PoolSettings(("colour", "shape"), k=3, n_queries=9, seed=1, by_category=True, n_random=20)


def _draw(path: Path, shape: str, colour: str) -> None:
    picture = Image.new("RGB", (72, 96), "white")
    pen = ImageDraw.Draw(picture)
    box = {"round": (12, 24, 60, 72), "square": (16, 28, 56, 68), "tall": (28, 8, 44, 90)}[shape]
    (pen.ellipse if shape == "round" else pen.rectangle)(box, fill=colour)
    picture.save(path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once; tests get copies."""
    folder = tmp_path_factory.mktemp("report") / "small shop"
    pictures = folder / "images"
    pictures.mkdir(parents=True)
    rows = []
    for shape in SHAPES:
        for colour in COLOURS:
            name = HOSTILE if (shape, colour) == ("round", "navy") else f"{shape} {colour}.png"
            _draw(pictures / name, shape, colour)
            rows.append((name, f"{shape} & {colour}", shape))
    target = WorkspaceFolder(folder)
    make_catalog(target, pl.DataFrame(rows, schema=["image", "item", "category"], orient="row"), pictures, "folder")
    encode_catalog(target, ["colour", "layout", "shape"], workers=1)
    pool = make_pool(target, SETTINGS)
    store_pool(target, pool)
    _vote(target, pool.rows)
    evaluate(target, store=True)
    write_budget(target, PoolSettings(("colour", "shape"), k=4, n_queries=9, seed=1, by_category=True, n_random=0))
    return folder


def _vote(workspace: WorkspaceFolder, pool: pl.DataFrame) -> None:
    """Ann and Bob go by shape; the third one, with a name to be escaped, says yes to every other pair."""
    shape = dict(read_catalog(workspace).select("image", "category").iter_rows())
    pairs = pool.select("query", "candidate").unique().sort("query", "candidate")
    rows = []
    for number, (query, candidate) in enumerate(pairs.iter_rows()):
        alike = shape[query] == shape[candidate]
        for expert, yes in (("ann", alike), ("bob", alike), ("<i>cy</i>", number % 2 == 0)):
            rows.append((query, candidate, expert, SIMILAR if yes else NOT_SIMILAR))
    votes = pl.DataFrame(rows, schema=["query", "candidate", "expert", "answer"], orient="row")
    engine = open_votes(workspace)
    add_votes(engine, votes, "import votes.csv")
    engine.dispose()
    update_labels(workspace)


@pytest.fixture(scope="session")
def written(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an unchanged copy, for tests that only read it."""
    copy = tmp_path_factory.mktemp("written") / finished.name
    shutil.copytree(finished, copy)
    return write_report(WorkspaceFolder(copy))


@pytest.fixture
def shop(finished: Path, tmp_path: Path) -> WorkspaceFolder:
    copy = tmp_path / finished.name
    shutil.copytree(finished, copy)
    return WorkspaceFolder(copy)
