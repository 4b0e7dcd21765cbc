"""A data set's further tables inside a workspace: `tables/<name>.parquet`."""

import polars as pl

from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder


def read_stored_table(workspace: WorkspaceFolder, name: str) -> pl.DataFrame:
    """One table by its name, or a sentence that says which there are."""
    file = workspace.tables_folder / f"{name}.parquet"
    if not file.exists():
        there = ", ".join(sorted(other.stem for other in workspace.tables_folder.glob("*.parquet"))) or "none"
        raise LikewiseError(
            f"{workspace.path} has no table {name!r} (it has: {there}): "
            "make the workspace with a reader that gives it (`likewise list readers` lists them)."
        )
    return pl.read_parquet(file, glob=False)
