"""Where a workspace keeps its votes: votes.db, or the database that `--database` named, remembered in votes.json.

A password is not remembered. Where one is needed it comes again with `--database`, from LIKEWISE_DATABASE, or from the
database's own means (PostgreSQL's password file).
"""

import os
from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from likewise.errors import LikewiseError
from likewise.labeling.store.engine import sqlite_file
from likewise.workspace import WorkspaceFolder, read_json, write_json

ENVIRONMENT = "LIKEWISE_DATABASE"
SECRETS = ("password", "sslpassword")
_given: dict[str, str] = {}  # URLs with their passwords, for as long as this process lives


def database_url(workspace: WorkspaceFolder) -> str:
    """The URL to open, with the password that this process was given or LIKEWISE_DATABASE has."""
    known = remembered_database(workspace)
    if known is None:
        return own_database_url(workspace)
    from_environment = os.environ.get(ENVIRONMENT)
    if from_environment and without_password(from_environment) == known:
        return from_environment
    return _given.get(known, known)


def remembered_database(workspace: WorkspaceFolder) -> str | None:
    """The database beside votes.db that the votes are kept in, without its password; None for votes.db itself."""
    return str(read_json(workspace.votes_location_file)["database"]) if workspace.votes_location_file.exists() else None


def remember_database(workspace: WorkspaceFolder, url: str) -> None:
    """From now on the votes are in this database; the URL of votes.db brings them home."""
    known = without_password(url)
    _given[known] = url
    if known == without_password(own_database_url(workspace)):
        workspace.votes_location_file.unlink(missing_ok=True)
    elif known != remembered_database(workspace):
        write_json({"database": known}, workspace.votes_location_file)


def own_database_url(workspace: WorkspaceFolder) -> str:
    return f"sqlite:///{workspace.votes_file}"


def without_password(url: str) -> str:
    """The same database, with a file's whole path and without secrets."""
    if url.startswith("sqlite") and (file := sqlite_file(url)):
        return f"sqlite:///{Path(file).resolve()}"
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise LikewiseError(f"the database URL is not valid ({error}): postgresql://user@host/name.") from error
    return _without_secrets(parsed).render_as_string(hide_password=False)


def _without_secrets(url: URL) -> URL:
    bare = URL.create(url.drivername, url.username, None, url.host, url.port, url.database, url.query)
    return bare.difference_update_query(SECRETS)
