"""Asking experts about pairs that somebody picked while looking: they are labelled, and judge no model.

Which pairs a person picks depends on what models find, so measures that counted their labels would favour or punish
models. Pairs that the pool proposes, or that its design drew, count as before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from sqlalchemy import Engine

from likewise.catalog import read_catalog
from likewise.discovery.proposals import pick_pairs
from likewise.errors import LikewiseError
from likewise.explore.labels import LabelReader
from likewise.labeling.imports import refuse_unknown_images
from likewise.labeling.store.assignment import assign_all_pairs
from likewise.labeling.store.pairs import add_pairs, pair_ids
from likewise.labeling.votes import PAIR
from likewise.workspace import WorkspaceFolder, read_parquet


@dataclass(frozen=True)
class AskedPairs:
    """How many pairs experts will see that they would not have seen, how many of all belong to the pool."""

    asked: int
    known: int
    in_pool: int

    @property
    def sentence(self) -> str:
        new = f"{self.asked:,} {'pair goes' if self.asked == 1 else 'pairs go'} to the experts"
        known = f", {self.known:,} already did" if self.known else ""
        outside = self.asked + self.known - self.in_pool
        counts = (
            f" {outside:,} of them {'is' if outside == 1 else 'are'} not part of the pool's design: "
            "such labels find similar pairs, and no measure of a model counts them."
            if outside
            else ""
        )
        return f"{new}{known}.{counts}"


def ask_experts(workspace: WorkspaceFolder, engine: Engine, pairs: Sequence[Sequence[str]]) -> AskedPairs:
    """Put pairs (query, candidate) before the experts; those outside of the pool are remembered as picked."""
    wanted = pl.DataFrame(list(pairs), schema={"query": pl.String, "candidate": pl.String}, orient="row").unique()
    wanted = wanted.filter(pl.col("query") != pl.col("candidate")).sort("query", "candidate")
    if wanted.is_empty():
        raise LikewiseError("there is no pair to ask about: choose at least two different images.")
    refuse_unknown_images(wanted, set(read_catalog(workspace)["image"]), "the page names")
    in_pool = wanted.clear()
    if workspace.pool_file.exists():
        pool = read_parquet(workspace.pool_file, f"likewise discover {workspace.path}")
        in_pool = wanted.join(pool, on=PAIR, how="semi")
    keys = list(wanted.iter_rows())
    known = pl.DataFrame(list(pair_ids(engine, keys)), schema=wanted.schema, orient="row")
    labels = LabelReader(workspace).table()
    new = wanted.join(in_pool, on=PAIR, how="anti").join(known, on=PAIR, how="anti")
    pick_pairs(workspace, new if labels is None else new.join(labels, on=PAIR, how="anti"))
    added = add_pairs(engine, wanted)
    assign_all_pairs(engine)
    return AskedPairs(added.added, added.known, len(in_pool))
