"""`likewise brightness WORKSPACE`."""

from likewise.cli.console import AsJson, WorkspacePath, echo, echo_json, open_workspace


def brightness(workspace: WorkspacePath, as_json: AsJson = False) -> None:
    """Print how bright the pictures are on average."""
    from .measure import mean_brightness

    value = mean_brightness(open_workspace(workspace))
    if as_json:
        echo_json({"brightness": value})
    else:
        echo(f"{100 * value:.0f} % bright")
