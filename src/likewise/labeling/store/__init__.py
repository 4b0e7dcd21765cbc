"""Experts' answers in a database: SQLite in the workspace, or PostgreSQL by URL. One file per query family."""

from likewise.labeling.store.add import AddedVotes, add_votes
from likewise.labeling.store.engine import StoreError, open_votes
from likewise.labeling.store.read import count_votes_by_source, read_events, read_votes

__all__ = [
    "AddedVotes",
    "StoreError",
    "add_votes",
    "count_votes_by_source",
    "open_votes",
    "read_events",
    "read_votes",
]
