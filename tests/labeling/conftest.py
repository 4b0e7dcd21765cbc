"""Every test that uses `engine` runs on SQLite and on PostgreSQL."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from likewise.labeling import open_votes
from tests.databases import database

__all__ = ["database"]


@pytest.fixture
def engine(database: str) -> Iterator[Engine]:
    opened = open_votes(database)
    yield opened
    opened.dispose()
