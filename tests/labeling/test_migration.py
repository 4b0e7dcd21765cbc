"""A votes.db of the first likewise becomes one of today's, with every vote in it."""

import sqlite3
from pathlib import Path

import polars as pl
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, create_engine, text

from likewise.errors import LikewiseError
from likewise.labeling import add_votes, open_votes, read_votes
from likewise.labeling.store import read_events
from likewise.labeling.store.models import Base
from likewise.labeling.store.schema import LATEST_VERSION
from tests.databases import KINDS, empty_database

FIRST_SCHEMA = """
CREATE TABLE votes (
    id {serial} NOT NULL, query TEXT NOT NULL, candidate TEXT NOT NULL, expert TEXT NOT NULL,
    answer VARCHAR(16) NOT NULL, time VARCHAR(32), source TEXT NOT NULL, PRIMARY KEY (id),
    CONSTRAINT votes_once UNIQUE (query, candidate, expert),
    CONSTRAINT votes_answer CHECK (answer IN ('similar', 'not similar', 'cannot tell'))
)
"""
OLD = [
    ("q1", "a", "ann", "similar", "2026-01-05T08:00:00.000Z", "import a.csv"),
    ("q1", "b", "ann", "not similar", None, "import a.csv"),
    ("q1", "a", "bob", "cannot tell", "2026-01-06T08:00:00.000Z", "simulated seed=0"),
    ("q2", "ä b/c.png", "bob", "similar", None, "simulated seed=0"),
]


def old_database(url: str) -> None:
    """As the first likewise left it: one table, no version."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        serial = "INTEGER" if engine.dialect.name == "sqlite" else "SERIAL"
        connection.execute(text(FIRST_SCHEMA.format(serial=serial)))
        connection.execute(text("CREATE INDEX ix_votes_expert ON votes (expert)"))
        for row in OLD:
            names = ("query", "candidate", "expert", "answer", "time", "source")
            values = dict(zip(names, row, strict=True))
            insert = f"INSERT INTO votes ({', '.join(names)}) VALUES ({', '.join(':' + name for name in names)})"
            connection.execute(text(insert), values)
    engine.dispose()


@pytest.mark.parametrize("kind", KINDS)
def test_old_votes_become_events_and_none_is_lost(kind: str, tmp_path: Path) -> None:
    url = empty_database(kind, tmp_path)
    old_database(url)
    for _ in range(2):  # the second time there is nothing to do
        engine = open_votes(url)
        kept = read_votes(engine).rows()
        assert kept == sorted((row[:5] for row in OLD), key=lambda row: row[:3])
        assert read_votes(engine).height == len(OLD)
        assert read_events(engine)["revision"].to_list() == [1] * len(OLD)
        engine.dispose()
    engine = open_votes(url)
    more = pl.DataFrame({"query": "q1", "candidate": "a", "expert": "ann", "answer": "not similar"})
    with pytest.raises(LikewiseError, match="answered the pair"):
        add_votes(engine, more, "later")
    assert add_votes(engine, more.with_columns(expert=pl.lit("cid")), "later").added == 1
    engine.dispose()


def test_the_migrations_make_the_tables_that_the_code_expects(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() == LATEST_VERSION


def test_a_migration_that_fails_leaves_the_old_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = empty_database("sqlite", tmp_path)
    old_database(url)
    from likewise.labeling.store.migrations.versions import v0002_events

    broken = v0002_events.STANDING.replace("FROM events e", "FROM nowhere e")
    source = Path(v0002_events.__file__).read_text().replace(v0002_events.STANDING, broken)
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    home = Path(v0002_events.__file__).parent
    (folder / "env.py").write_text((home.parent / "env.py").read_text())
    for version in home.glob("v*.py"):
        (folder / "versions" / version.name).write_text(version.read_text())
    (folder / "versions" / "v0002_events.py").write_text(source)
    with monkeypatch.context() as patch:
        patch.setattr("likewise.labeling.store.schema.MIGRATIONS", folder)
        with pytest.raises(LikewiseError, match="nothing was stored"):
            open_votes(url)
    connection = sqlite3.connect(tmp_path / "votes.db")
    assert connection.execute("SELECT count(*) FROM votes").fetchone() == (len(OLD),)
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'events'").fetchone() == (0,)
    connection.close()
    assert read_votes(open_votes(url)).height == len(OLD)
