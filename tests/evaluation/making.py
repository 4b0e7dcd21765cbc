"""A labelled workspace in a second: 24 drawn pictures, two generators and a new model, three experts of one mind."""

from pathlib import Path

import polars as pl

from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.discovery.step import PoolSettings, make_pool, store_pool
from likewise.encoders import encode_catalog
from likewise.labeling import add_votes, open_votes
from likewise.labeling.step import update_labels
from likewise.workspace import WorkspaceFolder
from tests.conftest import write_shapes

ENCODERS = ["colour", "layout", "shape"]


def make_labelled(folder: Path) -> WorkspaceFolder:
    """Everything up to labels; the experts call pictures similar when they show the same figure."""
    target = WorkspaceFolder(folder / "ws")
    reading = read(write_shapes(folder / "pictures"))
    make_catalog(target, reading.rows, reading.root, "table")
    encode_catalog(target, ENCODERS, workers=1)
    pool = make_pool(target, PoolSettings(("colour", "shape"), k=3, n_queries=8, seed=1, n_random=25))
    store_pool(target, pool)
    votes = [
        (query, candidate, expert, "similar" if query.split("/")[0] == candidate.split("/")[0] else "not similar")
        for query, candidate in pool.rows.select("query", "candidate").unique().rows()
        for expert in ("anna", "ben", "carla")
    ]
    engine = open_votes(target)
    table = pl.DataFrame(votes, schema=["query", "candidate", "expert", "answer"], orient="row")
    add_votes(engine, table, "import anna-and-others.csv")
    engine.dispose()
    update_labels(target)
    return target
