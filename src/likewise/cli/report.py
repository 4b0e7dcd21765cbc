"""`likewise report`: everything a person would rather look at, in one page."""

from typing import Annotated

import typer

from likewise.cli.console import WorkspacePath, echo, escape, open_workspace, progress_bars
from likewise.cli.label_site import Database


def report(
    workspace: WorkspacePath,
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    database: Database = None,
) -> None:
    """Write report/index.html, one self-contained page; stale labels and results are updated first.

    Example: `likewise report shoes --open`
    """
    from likewise.cli.bundle import read_command_line
    from likewise.cli.status import print_stale
    from likewise.labeling.store import use_database
    from likewise.report import make_report
    from likewise.status import workspace_status

    target = open_workspace(workspace)
    use_database(target, database)
    print_stale(workspace_status(target), ("labels", "results"))
    with progress_bars("steps") as update:
        path = make_report(target, read_command_line(), update)
    echo(f"report: [bold]{escape(path)}[/] ({path.stat().st_size / 1e6:.1f} MB)")
    if open_it:
        typer.launch(path.resolve().as_uri())
