"""`likewise encode` and `likewise encoders`: pictures to vectors."""

from typing import Annotated

import typer

from likewise.cli.console import AsJson, WorkspacePath, console, names, opened, progress, say, say_json


def encode(
    workspace: WorkspacePath,
    encoders: Annotated[
        str | None, typer.Option("--with", help="Encoders, comma-separated; all built-in ones by default.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; one per core by default.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compute again what does not fit the catalog or version.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Turn every image into a vector, once per encoder; goes on where it stopped.

    Example: `likewise encode shoes --with colour,shape,blend`
    """
    from likewise.encoders.encode import encode_catalog
    from likewise.encoders.registry import BUILT_IN

    target = opened(workspace)
    with progress("images") as update:
        done = encode_catalog(
            target,
            names(encoders) or list(BUILT_IN),
            workers=workers,
            force=force,
            on_progress=lambda step: update(step.encoder, step.done_images, step.total_images),
        )
    if as_json:
        say_json(
            [
                {
                    "encoder": one.encoder,
                    "dim": one.dim,
                    "images": one.images,
                    "new_images": one.new_images,
                    "left_out": one.left_out,
                    "seconds": one.seconds,
                }
                for one in done
            ]
        )
        return
    for one in done:
        what = f"{one.new_images:,} images encoded" if one.new_images else "already there"
        left_out = f", [red]{one.left_out} left out[/] (see its meta.json)" if one.left_out else ""
        say(f"[bold]{one.encoder}[/]: {what}, {one.dim} dimensions{left_out}")


def encoders(as_json: AsJson = False) -> None:
    """List the encoders that can be named after --with.

    Example: `likewise encoders`
    """
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.encoders.registry import available

    if as_json:
        say_json([{"name": one.name, "dim": one.dim, "description": one.description} for one in available()])
        return
    table = Table("encoder", "dimensions", "what it sees", box=SIMPLE)
    for one in available():
        table.add_row(one.name, str(one.dim), one.description)
    console().print(table)
