"""`likewise explore`: look at a catalog through its models, in the browser."""

from typing import Annotated

import typer

from likewise.cli.console import WorkspacePath, echo, open_workspace


def explore(
    workspace: WorkspacePath,
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8010,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Open a page to look through the catalog: neighbours under several models, copies, disagreements, a map.

    Only this machine can connect, and nothing can be changed without the owner's link.

    Example: `likewise explore shoes`
    """
    import webbrowser

    from likewise.explore.gallery import Gallery
    from likewise.web.serve import prepare, refuse_used_port, serve
    from likewise.web.settings import SiteSettings

    target = open_workspace(workspace)
    Gallery(target).choose_encoders(())  # without vectors there is nothing to look through
    refuse_used_port("127.0.0.1", port)
    settings = prepare(SiteSettings(target, port=port, explore_without_login=True))
    page = f"{settings.base_url}/explore"
    echo(f"explore: [bold]{page}[/]  (Ctrl+C stops it)")
    if settings.owner_key:
        typer.echo(f"as the owner (asks experts, marks copies): {settings.base_url}/owner/enter/{settings.owner_key}")
    if browser:
        webbrowser.open(page)
    serve(settings)
