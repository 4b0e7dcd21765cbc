"""Opening the votes database, and the one way to write to it.

SQLite in WAL mode lets readers read while one writer writes. Writers take the lock when they begin (BEGIN IMMEDIATE),
so that nobody finds "database is locked" halfway through; within a process they queue on a lock of ours, which is
fairer and faster than SQLite's busy waiting.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from likewise.errors import LikewiseError
from likewise.labeling.store.models import Base
from likewise.workspace import Workspace

BUSY_SECONDS = 30
WRITING = {"likewise_writing": True}
_write_lock = threading.Lock()


def open_votes(where: Workspace | str) -> Engine:
    """The votes of a workspace (`votes.db`), or of a database URL (PostgreSQL or SQLite); made when new."""
    if isinstance(where, Workspace):
        where = f"sqlite:///{where.votes_file}"
    engine = _sqlite(where) if where.startswith("sqlite") else _postgresql(where)
    with writing(engine) as connection:
        Base.metadata.create_all(connection)
    return engine


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that writes: all of it is stored, or nothing."""
    try:
        with _write_lock, engine.connect().execution_options(**WRITING) as connection, connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('likewise votes'))"))
            yield connection
    except DBAPIError as error:
        raise LikewiseError(
            f"the votes database {_name(engine)} could not be written ({error.orig}): nothing was stored; "
            "check the file, its rights and the free space, then run the step again."
        ) from error


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """One transaction that reads: a single state of the database, whatever others write meanwhile."""
    try:
        with engine.connect() as connection, connection.begin():
            yield connection
    except DBAPIError as error:
        raise LikewiseError(
            f"the votes database {_name(engine)} could not be read ({error.orig}): check the file and its rights."
        ) from error


def _sqlite(url: str) -> Engine:
    file = make_url(url).database
    if not file or file == ":memory:":
        raise LikewiseError(f"{url} names no file: votes are kept in one, as sqlite:///votes.db.")
    if not Path(file).parent.is_dir():
        raise LikewiseError(f"the folder of {file} does not exist: make the workspace first (`likewise new`).")
    # Without a pool every connection is closed after its use, which empties the write-ahead log into votes.db:
    # whoever copies that one file copies every vote.
    engine = create_engine(url, poolclass=NullPool, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # or the driver would begin transactions of its own
        connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        connection.execute("PRAGMA foreign_keys = ON")
        _use_write_ahead_log(connection)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("likewise_writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _use_write_ahead_log(connection: Any) -> None:
    """Switch to WAL; SQLite does not wait for other connections here, so we do."""
    for attempts_left in reversed(range(BUSY_SECONDS * 20)):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or not attempts_left:
                raise
            time.sleep(0.05)


def _postgresql(url: str) -> Engine:
    """Any postgres URL, through psycopg 3."""
    scheme, _, rest = url.partition("://")
    if scheme not in ("postgres", "postgresql", "postgresql+psycopg") or not rest:
        raise LikewiseError(f"votes cannot be kept at {scheme}://...: give a postgresql:// or sqlite:/// URL.")
    try:
        return create_engine(f"postgresql+psycopg://{rest}", pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise LikewiseError('votes in PostgreSQL need psycopg: pip install "psycopg[binary]".') from error
    except ArgumentError as error:
        raise LikewiseError(f"the database URL is not valid ({error}): postgresql://user@host/name.") from error


def _name(engine: Engine) -> str:
    return engine.url.database or engine.url.render_as_string(hide_password=True)
