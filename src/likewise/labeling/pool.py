"""The pool's pairs come into the project: once for every pool, not at every start."""

import polars as pl
from sqlalchemy import Engine

from likewise.chain import table_digest
from likewise.labeling.store.engine import read_transaction, write_transaction
from likewise.labeling.store.pairs import add_pairs
from likewise.labeling.store.project import read_setting, write_setting
from likewise.workspace import WorkspaceFolder

POOL_SETTING = "pool_taken"


def add_pool_pairs(engine: Engine, workspace: WorkspaceFolder) -> None:
    """Ask about every pair of the workspace's pool, unless this very pool was taken in before."""
    if not workspace.pool_file.exists():
        return
    pool = pl.read_parquet(workspace.pool_file, glob=False)
    mark = table_digest(pool)
    with read_transaction(engine) as connection:
        if read_setting(connection, POOL_SETTING) == mark:
            return
    add_pairs(engine, pool)
    with write_transaction(engine) as connection:
        write_setting(connection, POOL_SETTING, mark)
