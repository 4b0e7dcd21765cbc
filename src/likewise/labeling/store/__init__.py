"""Experts' answers in a database: SQLite in the workspace, or PostgreSQL by URL. One file per query family."""

from likewise.labeling.store.add import AddedVotes, add_votes
from likewise.labeling.store.engine import StoreError
from likewise.labeling.store.opening import open_votes, opened_votes, use_database
from likewise.labeling.store.read import read_answer_times, read_events, read_sourced_votes, read_votes

__all__ = [
    "AddedVotes",
    "StoreError",
    "add_votes",
    "open_votes",
    "opened_votes",
    "read_answer_times",
    "read_events",
    "read_sourced_votes",
    "read_votes",
    "use_database",
]
