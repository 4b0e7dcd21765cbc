"""All votes and what belongs to them in one file, and back: any database of ours into any other.

The file is a zip: `backup.json` says format, schema version and the number of rows of each table; `TABLE.jsonl` has
its rows. Everything is there but sessions (browsers log in again): events, experts with the hashes of their links,
settings, the owner's password hash, questions and notes. So keep it as private as the database.
"""

import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import Connection, Engine, Table, func, insert, select, text
from sqlalchemy.exc import SQLAlchemyError

from likewise.errors import LikewiseError
from likewise.labeling.store.clock import store_time_now
from likewise.labeling.store.engine import read_transaction, write_transaction
from likewise.labeling.store.models import Base
from likewise.labeling.store.schema import LATEST_VERSION
from likewise.untrusted.archives import UNREADABLE_ZIP, refuse_large_archive
from likewise.workspace import write_atomically

FORMAT = "likewise-votes"
NOTE = "backup.json"
WITHOUT = {"sessions"}
ROWS_AT_ONCE = 2000
DAMAGED = (*UNREADABLE_ZIP, KeyError, TypeError, OverflowError, SQLAlchemyError)
"""What reading a file that is no backup, or storing what it says, may raise."""


@dataclass(frozen=True)
class VotesBackup:
    """What a backup holds: rows by table."""

    rows: dict[str, int]

    @property
    def n_events(self) -> int:
        return self.rows["events"]


def backup_votes(engine: Engine, path: Path) -> VotesBackup:
    """Write the state of one moment, whatever others store meanwhile."""
    counted: dict[str, int] = {}

    def write(file: BinaryIO) -> None:
        with _snapshot(engine) as connection, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for table in _tables():
                with archive.open(f"{table.name}.jsonl", "w") as part:
                    counted[table.name] = 0
                    for row in connection.execute(select(table).order_by(*table.primary_key.columns)):
                        part.write(json.dumps(list(row), ensure_ascii=False).encode() + b"\n")
                        counted[table.name] += 1
            columns = {table.name: list(table.columns.keys()) for table in _tables()}
            note = {
                "format": FORMAT,
                "schema": LATEST_VERSION,
                "time": store_time_now(),
                "rows": counted,
                "columns": columns,
            }
            with archive.open(NOTE, "w") as part:
                part.write(json.dumps(note, indent=2).encode())

    write_atomically(path, write)
    os.chmod(path, 0o600)  # noqa: PTH101  hashes of passwords and links are in it
    return VotesBackup(counted)


def restore_votes(engine: Engine, path: Path, *, replace: bool = False) -> VotesBackup:
    """Put a backup into a database that has no votes; with `replace`, in the place of what it has. All or nothing."""
    try:
        with zipfile.ZipFile(path) as archive:
            refuse_large_archive(archive, path)
            note = json.loads(archive.read(NOTE))
            if not isinstance(note, dict) or note.get("format") != FORMAT:
                raise LikewiseError(f"{path} is no backup of votes: give a file that `likewise label backup` wrote.")
            if note["schema"] != LATEST_VERSION:
                raise LikewiseError(
                    f"{path} is of schema {note['schema']}, and this likewise has {LATEST_VERSION}: restore it with "
                    "the likewise that wrote it, then open that database with this one."
                )
            with write_transaction(engine) as connection:
                _empty(connection, replace=replace)
                for table in _tables():
                    found = _insert(connection, table, archive, note["columns"][table.name])
                    if found != note["rows"][table.name]:
                        raise LikewiseError(
                            f"{path} has {found} rows of {table.name} and should have {note['rows'][table.name]}: it "
                            "is damaged; nothing was restored."
                        )
                _continue_numbers(connection)
            return VotesBackup(note["rows"])
    except DAMAGED as error:
        if isinstance(error, OSError) and error.strerror is not None:
            raise LikewiseError(f"{path} cannot be read ({error.strerror}): check its path.") from error
        why = next(iter(str(error).splitlines()), type(error).__name__)[:200]
        raise LikewiseError(f"{path} is damaged or no backup of votes ({why}): nothing was restored.") from error


def _tables() -> list[Table]:
    """In an order in which each finds what it refers to."""
    return [table for table in Base.metadata.sorted_tables if table.name not in WITHOUT]


@contextmanager
def _snapshot(engine: Engine) -> Iterator[Connection]:
    """One state of the whole database; PostgreSQL must be asked for it."""
    if engine.dialect.name != "postgresql":
        with read_transaction(engine) as connection:
            yield connection
        return
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection, connection.begin():
        yield connection


def _empty(connection: Connection, *, replace: bool) -> None:
    events = Base.metadata.tables["events"]
    n_events = connection.execute(select(func.count()).select_from(events)).scalar_one()
    if n_events and not replace:
        raise LikewiseError(
            f"this database has {n_events:,} answers already: add `--replace` to put the backup in their place (back "
            "them up first)."
        )
    for table in reversed(Base.metadata.sorted_tables):
        connection.execute(table.delete())


def _insert(connection: Connection, table: Table, archive: zipfile.ZipFile, columns: list[str]) -> int:
    rows: list[dict[str, Any]] = []
    n_rows = 0
    with archive.open(f"{table.name}.jsonl") as part:
        for line in part:
            rows.append(dict(zip(columns, json.loads(line), strict=True)))
            if len(rows) == ROWS_AT_ONCE:
                connection.execute(insert(table), rows)
                n_rows, rows = n_rows + len(rows), []
    if rows:
        connection.execute(insert(table), rows)
    return n_rows + len(rows)


def _continue_numbers(connection: Connection) -> None:
    """PostgreSQL counts by itself: the next number is the one after the last restored."""
    if connection.dialect.name != "postgresql":
        return
    for table in _tables():
        for column in table.primary_key.columns:
            name = connection.execute(
                text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": table.name, "column": column.name}
            ).scalar_one()
            if name is not None:
                highest = connection.execute(select(func.max(column))).scalar_one()
                connection.execute(
                    text("SELECT setval(:name, :value, :used)"),
                    {"name": name, "value": highest or 1, "used": highest is not None},
                )
