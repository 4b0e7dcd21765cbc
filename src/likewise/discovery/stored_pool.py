"""What pool.json says of a stored pool: for whoever needs a fact about it and not its pairs."""

from dataclasses import dataclass, replace
from typing import Any

from likewise.discovery.pool import read_pool_note
from likewise.discovery.step import PoolSettings, stored_settings
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class StoredPool:
    """A pool that may be behind its catalog: settings, versions, queries of now and every one it ever had, rounds."""

    settings: PoolSettings
    versions: tuple[int, ...]
    queries: tuple[str, ...]
    query_pictures: tuple[str, ...]
    update_rounds: tuple[int, ...]
    n_all_pairs: int
    """How many pairs somebody would label who labels all."""


def read_stored_pool(workspace: WorkspaceFolder) -> StoredPool | None:
    """None where there is no pool."""
    if not workspace.pool_settings_file.exists():
        return None
    note = read_pool_note(workspace)
    return StoredPool(
        stored_settings(note),
        versions=tuple(note.get("versions", ())),
        queries=tuple(note.get("queries", ())),
        query_pictures=tuple(note.get("query_pictures", ())),
        update_rounds=tuple(note.get("update_rounds", ())),
        n_all_pairs=int(note.get("n_all_pairs", 0)),
    )


def budget_settings(workspace: WorkspaceFolder, k: int, **asked: Any) -> PoolSettings:
    """Settings for looking at every k up to this one: what is asked for (not None), and otherwise the stored pool's.

    The queries, and with them the labels, are then the pool's own; its budgets and its index are left aside.
    """
    pool = read_stored_pool(workspace)
    given = {name: value for name, value in asked.items() if value is not None}
    settings = replace(
        PoolSettings(()) if pool is None else pool.settings,
        k=k,
        n_random=0,
        per_query_budget=None,
        total_budget=None,
        index=None,
        design="eds",
        n_labels=None,
        n_rounds=1,
        purpose=None,
        **given,
    )
    return settings if settings.generators else replace(settings, generators=tuple(workspace.encoders()))
