"""Asking experts about pairs that somebody picked while looking, through the design of the pool where there is one.

Which pairs a person picks depends on what models find, so measures that counted their labels would favour or punish
models. Pairs that the pool proposes, or that its design drew, count as before. A design that has a round to come takes
the others in with certainty when it draws that round (`discovery.rounds`), and then they count too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from sqlalchemy import Engine

from likewise.catalog import read_catalog
from likewise.discovery.proposals import pick_pairs, picked_pairs
from likewise.discovery.rounds import rows_of_next_round
from likewise.discovery.step import pool_part, read_pool
from likewise.errors import LikewiseError
from likewise.explore.labels import LabelReader
from likewise.labeling.imports import refuse_unknown_images
from likewise.labeling.store.assignment import assign_all_pairs
from likewise.labeling.store.pairs import add_pairs, pair_ids
from likewise.labeling.votes import PAIR
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class AskedPairs:
    """How many pairs experts will see that they would not have seen, how many of all belong to the pool.

    `joining`: not drawn yet, and certain to be in the next round of the design.
    """

    asked: int
    known: int
    in_pool: int
    joining: int = 0

    @property
    def sentence(self) -> str:
        new = f"{self.asked:,} {'pair goes' if self.asked == 1 else 'pairs go'} to the experts"
        known = f", {self.known:,} already did" if self.known else ""
        joining = (
            f" {self.joining:,} of them {'joins' if self.joining == 1 else 'join'} the next round of the design: "
            "measures count such labels from then on."
            if self.joining
            else ""
        )
        outside = self.asked + self.known - self.in_pool - self.joining
        counts = (
            f" {outside:,} of them {'is' if outside == 1 else 'are'} not part of the pool's design: "
            "such labels find similar pairs, and no measure of a model counts them."
            if outside
            else ""
        )
        return f"{new}{known}.{joining}{counts}"


def ask_experts(workspace: WorkspaceFolder, engine: Engine, pairs: Sequence[Sequence[str]]) -> AskedPairs:
    """Put pairs (query, candidate) before the experts; those outside of the pool are remembered as picked."""
    wanted = pl.DataFrame(list(pairs), schema={"query": pl.String, "candidate": pl.String}, orient="row").unique()
    wanted = wanted.filter(pl.col("query") != pl.col("candidate")).sort("query", "candidate")
    if wanted.is_empty():
        raise LikewiseError("there is no pair to ask about: choose at least two different images.")
    refuse_unknown_images(wanted, set(read_catalog(workspace)["image"]), "the page names")
    pool = read_pool(workspace) if pool_part(workspace).usable else None
    in_pool = wanted.clear() if pool is None else wanted.join(pool.rows, on=PAIR, how="semi")
    keys = list(wanted.iter_rows())
    known = pl.DataFrame(list(pair_ids(engine, keys)), schema=wanted.schema, orient="row")
    labels = LabelReader(workspace).table()
    new = wanted.join(in_pool, on=PAIR, how="anti").join(known, on=PAIR, how="anti")
    pick_pairs(workspace, new if labels is None else new.join(labels, on=PAIR, how="anti"))
    added = add_pairs(engine, wanted)
    assign_all_pairs(engine)
    joining = 0 if pool is None else len(rows_of_next_round(pool, picked_pairs(workspace)).join(wanted, on=PAIR))
    return AskedPairs(added.added, added.known, len(in_pool), joining)
