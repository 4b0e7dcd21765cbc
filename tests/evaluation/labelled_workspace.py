"""A labelled workspace in a second: 24 drawn pictures, two generators and a new model, three experts of one mind."""

from pathlib import Path

import polars as pl

from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.cli.app import app
from likewise.discovery.step import PoolSettings, make_pool, store_pool
from likewise.encoders import encode_catalog
from likewise.labeling import add_votes, open_votes
from likewise.labeling.step import update_labels
from likewise.workspace import WorkspaceFolder
from tests.conftest import write_shapes

ENCODERS = ["colour", "layout", "shape"]


EDS = PoolSettings(("colour", "shape"), k=3, n_queries=8, seed=1, n_random=25)
DRAWN = PoolSettings(("colour", "shape"), n_queries=12, seed=1, design="sampled", n_labels=72)


def make_wardrobe(folder: Path, n_items: int, n_queries: int, n_labels: int) -> WorkspaceFolder:
    """Drawn clothes, pairs drawn with known probabilities by three generators, labels of simulated experts."""
    target = folder / "wardrobe"
    for line in (
        f"new {target} --wardrobe --items {n_items} --views 1",
        f"encode {target} --with colour,shape,layout --workers 1",
        f"discover {target} --design sampled --n-queries {n_queries} --labels {n_labels}",
        f"label simulate {target} --experts 3",
    ):
        app(line.split(), standalone_mode=False)
    return WorkspaceFolder(target)


def make_labelled(folder: Path, settings: PoolSettings = EDS, n_unanswered: int = 0) -> WorkspaceFolder:
    """Everything up to labels; the experts call pictures similar when they show the same figure."""
    target = WorkspaceFolder(folder / "ws")
    reading = read(write_shapes(folder / "pictures"))
    make_catalog(target, reading.rows, reading.root, "table")
    encode_catalog(target, ENCODERS, workers=1)
    pool = make_pool(target, settings)
    store_pool(target, pool)
    votes = [
        (query, candidate, expert, "similar" if query.split("/")[0] == candidate.split("/")[0] else "not similar")
        for query, candidate in pool.rows.select("query", "candidate").unique().sort(pl.all()).rows()[n_unanswered:]
        for expert in ("anna", "ben", "carla")
    ]
    engine = open_votes(target)
    table = pl.DataFrame(votes, schema=["query", "candidate", "expert", "answer"], orient="row")
    add_votes(engine, table, "import anna-and-others.csv")
    engine.dispose()
    update_labels(target)
    return target
