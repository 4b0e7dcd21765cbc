"""Connecting to the votes database, and the one way to write to it.

SQLite in WAL mode lets readers read while one writer writes. Writers take the lock when they begin (BEGIN IMMEDIATE),
so that nobody finds "database is locked" halfway through; within a process they queue on a lock of ours, which is
fairer and faster than SQLite's busy waiting. On PostgreSQL experts write side by side, each one's answers in turn.
`synchronous = FULL`: a vote is on the disk, not in its cache, before anyone is told that it is saved.
"""

import sqlite3
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import ArgumentError, DBAPIError, TimeoutError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, QueuePool

from likewise.errors import LikewiseError

BUSY_SECONDS = 30
BUSY_SECONDS_SERVING = 5  # a browser would rather try again than wait
CONNECT_SECONDS = 10
CONNECTIONS_SERVING = 12
WRITING = {"likewise_writing": True}
LOCK_ALL_ID = 7_264_001  # numbers of our advisory locks in PostgreSQL
LOCK_EXPERT_ID = 7_264_002
LOCK_ALL = text("SELECT pg_advisory_xact_lock(:everything)")
LOCK_EXPERTS = text(
    "SELECT pg_advisory_xact_lock_shared(:everything), pg_advisory_xact_lock(CAST(:one AS int), who) "
    "FROM unnest(CAST(:who AS int[])) AS who"
)
_write_lock = threading.Lock()


class StoreError(LikewiseError):
    """The database cannot be used just now (locked, disk full, connection lost): nothing was stored, try again."""


def connect_database(url: str, *, serving: bool = False) -> Engine:
    """SQLite or PostgreSQL by URL; `serving` keeps connections open and gives up sooner when the database is busy."""
    return _sqlite(url, serving) if url.startswith("sqlite") else _postgresql(url, serving)


@contextmanager
def write_transaction(engine: Engine, *experts: int) -> Iterator[Connection]:
    """One transaction that writes: all of it is stored, or nothing. With `experts`, only answers of theirs."""
    try:
        if engine.dialect.name == "postgresql":
            with engine.connect() as connection, connection.begin():
                _acquire_locks(connection, experts)
                yield connection
        else:
            if not _write_lock.acquire(timeout=BUSY_SECONDS):
                raise StoreError(f"the votes database {_database_name(engine)} is busy: nothing was stored, try again.")
            try:
                with engine.connect().execution_options(**WRITING) as connection, connection.begin():
                    yield connection
            finally:
                _write_lock.release()
    except (DBAPIError, TimeoutError) as error:
        raise StoreError(
            f"the votes database {_database_name(engine)} could not be written ({error_text(error)}): "
            "nothing was stored; check the file, its rights and the free space, then try again."
        ) from error


@contextmanager
def read_transaction(engine: Engine) -> Iterator[Connection]:
    """One transaction that reads: a single state of the database, whatever others write meanwhile."""
    try:
        with engine.connect() as connection, connection.begin():
            yield connection
    except (DBAPIError, TimeoutError) as error:
        raise StoreError(
            f"the votes database {_database_name(engine)} could not be read ({error_text(error)}): "
            "check the file and its rights."
        ) from error


@contextmanager
def read_once(engine: Engine) -> Iterator[Connection]:
    """For one statement that reads: PostgreSQL is spared the round trips that begin and end a transaction."""
    with read_transaction(engine.execution_options(isolation_level="AUTOCOMMIT")) as connection:
        yield connection


def _acquire_locks(connection: Connection, experts: Collection[int]) -> None:
    """Experts write beside each other but each in turn; whoever writes more than answers of theirs writes alone."""
    if not experts:
        connection.execute(LOCK_ALL, {"everything": LOCK_ALL_ID})
    else:  # in one order everywhere, so that nobody waits for one who waits for him
        who = sorted({expert % 2**31 for expert in experts})
        connection.execute(LOCK_EXPERTS, {"everything": LOCK_ALL_ID, "one": LOCK_EXPERT_ID, "who": who})


def sqlite_file(url: str) -> str:
    """The path in a URL of SQLite, letter by letter: `?`, `#` and `%` may stand in the name of a folder."""
    return url.partition(":///")[2]


def _sqlite(url: str, serving: bool) -> Engine:
    file = sqlite_file(url)
    address = URL.create("sqlite", database=file)
    if not file or file == ":memory:":
        raise LikewiseError(f"{url} names no file: votes are kept in one, as sqlite:///votes.db.")
    if not Path(file).parent.is_dir():
        raise LikewiseError(f"the folder of {file} does not exist: make the workspace first (`likewise new`).")
    seconds = BUSY_SECONDS_SERVING if serving else BUSY_SECONDS
    if serving:
        engine = create_engine(
            address,
            poolclass=QueuePool,
            pool_size=CONNECTIONS_SERVING,
            max_overflow=40,
            connect_args={"timeout": seconds, "check_same_thread": False},
        )
    else:
        # Without a pool every connection is closed after its use, which empties the write-ahead log into votes.db:
        # whoever copies that one file copies every vote.
        engine = create_engine(address, poolclass=NullPool, connect_args={"timeout": seconds})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # or the driver would begin transactions of its own
        connection.execute(f"PRAGMA busy_timeout = {seconds * 1000}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        _use_write_ahead_log(connection, seconds)

    _watch_file(engine, Path(file))

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("likewise_writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _watch_file(engine: Engine, file: Path) -> None:
    """Store nothing in a file that is not there any more: an open one can be written long after it was removed."""
    seen: list[tuple[int, int]] = []

    @event.listens_for(engine, "do_connect")
    def refuse_empty_one(*_: object) -> None:
        if seen and not file.exists():  # SQLite would make another
            raise _moved_error(file)

    @event.listens_for(engine, "connect")
    def remember(_: object, record: ConnectionPoolEntry) -> None:
        seen[:] = [_identity(file)]
        record.info["file"] = seen[0]

    @event.listens_for(engine, "begin")
    @event.listens_for(engine, "commit")
    def refuse_another(connection: Connection) -> None:
        if connection.info.get("file") != _identity(file):
            engine.dispose()  # the next connection is to the file that is there then
            raise _moved_error(file)


def _identity(file: Path) -> tuple[int, int]:
    try:
        facts = file.stat()
    except OSError:
        return 0, 0
    return facts.st_dev, facts.st_ino


def _moved_error(file: Path) -> StoreError:
    return StoreError(
        f"the votes database {file} was moved, removed or replaced while it was in use: nothing was stored; put it "
        "back, and never touch it while the site runs (`likewise label backup` copies it)."
    )


def _use_write_ahead_log(connection: Any, seconds: int) -> None:
    """Switch to WAL; SQLite does not wait for other connections here, so we do."""
    for attempts_left in reversed(range(seconds * 20)):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or not attempts_left:
                raise
            time.sleep(0.05)


def _postgresql(url: str, serving: bool) -> Engine:
    """Any postgres URL, through psycopg 3."""
    scheme, _, rest = url.partition("://")
    if scheme not in ("postgres", "postgresql", "postgresql+psycopg") or not rest:
        raise LikewiseError(f"votes cannot be kept at {scheme}://...: give a postgresql:// or sqlite:/// URL.")
    try:
        if not serving:
            waiting = {"connect_timeout": CONNECT_SECONDS}
            return create_engine(f"postgresql+psycopg://{rest}", pool_pre_ping=True, connect_args=waiting)
        # Without a ping before each use: after a restart of the database one request fails, and browsers repeat it.
        return create_engine(f"postgresql+psycopg://{rest}", pool_size=CONNECTIONS_SERVING, max_overflow=20)
    except ModuleNotFoundError as error:
        raise LikewiseError('votes in PostgreSQL need psycopg: pip install "psycopg[binary]".') from error
    except ArgumentError as error:
        raise LikewiseError(f"the database URL is not valid ({error}): postgresql://user@host/name.") from error


def _database_name(engine: Engine) -> str:
    return engine.url.database or engine.url.render_as_string(hide_password=True)


def error_text(error: BaseException | None) -> str:
    """The database's own words, on one line."""
    return " ".join(str(getattr(error, "orig", None) or error).split())
