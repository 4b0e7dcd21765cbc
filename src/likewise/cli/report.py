"""`likewise report`: everything a person would rather look at, in one page."""

from typing import Annotated

import typer

from likewise.cli.console import WorkspacePath, echo, escape, open_workspace, progress_bars


def report(
    workspace: WorkspacePath,
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write report/index.html, one self-contained page; evaluates first if that was not done yet.

    Example: `likewise report shoes --open`
    """
    from likewise.cli.bundle import read_command_line
    from likewise.evaluation.step import renew_results
    from likewise.evaluation.stored import results_are_current
    from likewise.report import write_report

    target = open_workspace(workspace)
    with progress_bars("steps") as update:
        if not results_are_current(target):
            renew_results(target, read_command_line(), update)
        path = write_report(target, on_progress=update)
    echo(f"report: [bold]{escape(path)}[/] ({path.stat().st_size / 1e6:.1f} MB)")
    if open_it:
        typer.launch(path.resolve().as_uri())
