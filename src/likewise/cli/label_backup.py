"""`likewise label backup | restore`: all votes as one file, and back."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import AsJson, WorkspacePath, echo, echo_json, open_workspace
from likewise.cli.exchange import refuse_existing
from likewise.cli.label_site import Database, open_votes_database


def backup(
    workspace: WorkspacePath,
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="The file to write.", show_default=False)],
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the file.")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write all votes, experts and settings to one file; the site may go on meanwhile. Keep the file private.

    Example: `likewise label backup shoes votes-2026-11-18.zip`
    """
    from likewise.labeling.store.backup import backup_votes

    refuse_existing(file, replace=replace)
    with open_votes_database(open_workspace(workspace), database) as engine:
        made = backup_votes(engine, file)
    if as_json:
        echo_json({"file": str(file), "rows": made.rows})
    else:
        echo(f"[bold]{file}[/]: {made.n_events:,} answers of {made.rows['experts']:,} experts")


def restore(
    workspace: WorkspacePath,
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="A file that `label backup` wrote.")],
    replace: Annotated[bool, typer.Option("--replace", help="Put it in the place of answers that are there.")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Put a backup back, into votes.db or any database: everything, or nothing. Stop the site first.

    Example: `likewise label restore shoes votes-2026-11-18.zip`
    """
    from likewise.labeling.store.backup import restore_votes

    with open_votes_database(open_workspace(workspace), database) as engine:
        made = restore_votes(engine, file, replace=replace)
    if as_json:
        echo_json({"file": str(file), "rows": made.rows})
    else:
        echo(f"restored {made.n_events:,} answers of {made.rows['experts']:,} experts; browsers must log in again")
