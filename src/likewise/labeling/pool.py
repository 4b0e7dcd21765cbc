"""The project follows its workspace: pictures that a new catalog does not have, and pairs that a new pool does not ask.

A running site sees both without a restart. What is withdrawn keeps its votes, and the log says how many pairs it was.
"""

from dataclasses import dataclass

import polars as pl
from sqlalchemy import Connection, Engine

from likewise.catalog import read_catalog
from likewise.chain import table_digest
from likewise.discovery.pool import IMPORTED, PICKED
from likewise.discovery.proposals import picked_pairs
from likewise.labeling.store.assignment import assign_all_pairs
from likewise.labeling.store.engine import read_transaction, write_transaction
from likewise.labeling.store.follow import follow_catalog
from likewise.labeling.store.location import remembered_database
from likewise.labeling.store.opening import opened_votes
from likewise.labeling.store.pairs import PairKey, add_pairs_within
from likewise.labeling.store.project import add_log_entry, read_setting, write_setting
from likewise.labeling.store.withdrawn import ask_again, pairs_to_withdraw, withdraw_pairs
from likewise.labeling.votes import PAIR
from likewise.workspace import WorkspaceFolder, read_parquet

POOL_SETTING = "pool_taken"


@dataclass(frozen=True)
class PoolChange:
    """What another pool did to the project: pairs that are new, pairs withdrawn, and how many of these are answered.

    `voted` counts those of the new ones that have votes already, from a file.
    """

    added: int = 0
    withdrawn: int = 0
    answered: int = 0
    voted: int = 0

    @property
    def sentence(self) -> str:
        kept = f", {self.answered:,} of them answered: their votes are kept" if self.answered else ""
        return f"{self.added:,} pairs were added, {self.withdrawn:,} of an earlier pool withdrawn{kept}"


def follow_workspace(engine: Engine, workspace: WorkspaceFolder) -> PoolChange:
    """Let a project ask what its workspace says now, and nothing else: the pool's pairs, in every expert's queue."""
    with write_transaction(engine) as connection:
        follow_catalog(connection, workspace)
    change = sync_pool(engine, workspace)
    assign_all_pairs(engine)
    return change


def project_follows(workspace: WorkspaceFolder) -> PoolChange:
    """The same for a workspace whose votes may not have begun: nothing then."""
    if not workspace.votes_file.exists() and remembered_database(workspace) is None:
        return PoolChange()
    with opened_votes(workspace) as engine:
        return follow_workspace(engine, workspace)


def sync_pool(engine: Engine, workspace: WorkspaceFolder) -> PoolChange:
    """Ask about every pair of the workspace's pool and no more about those of an earlier one, once for every pool."""
    if not workspace.pool_file.exists():
        return PoolChange()
    pool = read_parquet(workspace.pool_file, "likewise discover")
    images = read_catalog(workspace)["image"].implode()
    pool = pool.filter(pl.all_horizontal(pl.col(PAIR).is_in(images)))  # a pool of another catalog asks of nothing else
    mark = table_digest(pool)
    with read_transaction(engine) as connection:
        if read_setting(connection, POOL_SETTING) == mark:
            return PoolChange()
    with write_transaction(engine) as connection:
        change = _take_in(connection, pool, set(picked_pairs(workspace).iter_rows()))
        write_setting(connection, POOL_SETTING, mark)
    return change


def _take_in(connection: Connection, pool: pl.DataFrame, picked: set[PairKey]) -> PoolChange:
    asked = set(pool.select(PAIR).unique().iter_rows())
    gone = pairs_to_withdraw(connection, asked | picked, (PICKED, IMPORTED))
    answered = withdraw_pairs(connection, gone)
    added, ids = add_pairs_within(connection, pool)
    ask_again(connection, ids)
    change = PoolChange(added.added, len(gone), answered, added.voted)
    if gone:
        add_log_entry(connection, f"The pool was replaced: {change.sentence}.")
    return change
