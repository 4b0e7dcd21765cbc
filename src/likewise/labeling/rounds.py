"""Dealing the next round of an adaptive design: the command `discover`, run again, and the site both ask here."""

from dataclasses import dataclass
from typing import Literal

import polars as pl
from sqlalchemy import Engine

from likewise.discovery.rounds import extend_by_round, last_round, rounds_done
from likewise.discovery.step import Pool, read_pool, store_pool
from likewise.labeling.pool import follow_workspace
from likewise.labeling.state import read_votes_or_reason
from likewise.labeling.step import read_labels_if_any
from likewise.labeling.votes import PAIR
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

RoundState = Literal["drawn", "open", "finished"]


@dataclass(frozen=True)
class NextRound:
    """What became of the wish for another round.

    `drawn`: it is in the pool now; `open`: `n_open` pairs of round `number` wait for a first answer; `finished`: that
    was the last round, and it is answered.
    """

    state: RoundState
    pool: Pool
    number: int
    n_open: int = 0


def next_round(workspace: WorkspaceFolder, on_progress: ProgressCallback | None = None) -> NextRound:
    """Draw the next round where every pair of the last one has an answer, and add it to the pool.

    Answers that come later change the labels, not the probabilities with which pairs were drawn.
    """
    pool = read_pool(workspace)
    number = last_round(pool)
    waiting = _open_pairs(workspace, pool, number)
    if waiting:
        return NextRound("open", pool, number, waiting)
    if rounds_done(pool) >= pool.settings.n_rounds:
        return NextRound("finished", pool, number)
    labels = read_labels_if_any(workspace)
    assert labels is not None  # or pairs would be open
    longer = extend_by_round(workspace, pool, labels, on_progress)
    store_pool(workspace, longer, replace=True)
    return NextRound("drawn", longer, number + 1)


def deal_next_round(engine: Engine, workspace: WorkspaceFolder) -> bool:
    """The next round into every expert's queue, where there is one to deal; for the site."""
    if not workspace.pool_file.exists() or read_pool(workspace).settings.design != "adaptive":
        return False
    if next_round(workspace).state != "drawn":
        return False
    follow_workspace(engine, workspace)
    return True


def _open_pairs(workspace: WorkspaceFolder, pool: Pool, number: int) -> int:
    """How many pairs of a round have neither a vote (of whatever answer) nor a label."""
    asked = pool.rows.filter(pl.col("round") == number).select(PAIR).unique()
    votes, labels = read_votes_or_reason(workspace).votes, read_labels_if_any(workspace)
    for answered in (votes, labels):
        if answered is not None:
            asked = asked.join(answered.select(PAIR).unique(), on=PAIR, how="anti")
    return len(asked)
