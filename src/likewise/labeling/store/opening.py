"""Opening the votes of a workspace: the schema is brought up to date, and the keys to the catalog of now."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from sqlalchemy import Engine

from likewise.labeling.store.engine import (
    CONNECTIONS_SERVING,
    StoreError,
    connect_database,
    error_text,
    write_transaction,
)
from likewise.labeling.store.follow import follow_catalog
from likewise.labeling.store.location import database_url, remember_database, without_password
from likewise.labeling.store.schema import upgrade_schema
from likewise.workspace import WorkspaceFolder


def open_votes(where: WorkspaceFolder | str, *, serving: bool = False) -> Engine:
    """The votes of a workspace, wherever it keeps them, or of a database URL; made or updated if need be.

    `serving` keeps connections open and gives up sooner when the database is busy.
    """
    url = where if isinstance(where, str) else database_url(where)
    engine = connect_database(url, serving=serving)
    try:
        with write_transaction(engine) as connection:
            upgrade_schema(connection)
            if isinstance(where, WorkspaceFolder):
                follow_catalog(connection, where)
    except StoreError as error:
        if isinstance(where, WorkspaceFolder) and where.votes_location_file.exists():
            why = error_text(error.__cause__)
            raise StoreError(
                f"the votes of {where.path} are kept in {without_password(url)}, which cannot be opened ({why}): "
                "add `--database URL` with its password, or set LIKEWISE_DATABASE."
            ) from error
        raise
    if serving:
        with ExitStack() as opened:  # so that the first experts need not wait for them
            for _ in range(CONNECTIONS_SERVING):
                opened.enter_context(engine.connect())
    return engine


@contextmanager
def opened_votes(workspace: WorkspaceFolder) -> Iterator[Engine]:
    """The votes of a workspace, closed at the end."""
    engine = open_votes(workspace)
    try:
        yield engine
    finally:
        engine.dispose()


def use_database(workspace: WorkspaceFolder, url: str | None) -> None:
    """From now on the votes of a workspace are in this database, which must answer; None changes nothing."""
    if url is not None:
        open_votes(url).dispose()
        remember_database(workspace, url)
