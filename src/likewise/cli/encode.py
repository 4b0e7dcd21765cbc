"""`likewise encode` and `likewise list encoders`: pictures to vectors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import (
    AsJson,
    WorkspacePath,
    console,
    echo,
    echo_json,
    open_workspace,
    parse_names,
    progress_bars,
)
from likewise.cli.engines import Address, Engine, on_ray

if TYPE_CHECKING:
    from likewise.encoders.storage.files import EncodingResult
    from likewise.workspace import WorkspaceFolder

MAX_LEFT_OUT_SHOWN = 5


def encode(
    workspace: WorkspacePath,
    encoders: Annotated[
        str | None,
        typer.Option("--with", help="Encoders, comma-separated; a network and four descriptors by default."),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; one per core by default.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Discard the vectors of the encoders named, and compute them again.")
    ] = False,
    vectors: Annotated[
        str | None,
        typer.Option(
            "--import",
            help="Bring in vectors: npy, npz, Parquet, safetensors; a folder of Parquet files, a .lance table, "
            "qdrant://HOST:6333/COLLECTION, postgresql://HOST/DATABASE?table=NAME (pgvector).",
        ),
    ] = None,
    keys: Annotated[Path | None, typer.Option(help="With --import: the image of each row, where needed.")] = None,
    name: Annotated[str | None, typer.Option(help="With --import: what to call the vectors.")] = None,
    by: Annotated[str, typer.Option(help="With --import: whether its keys are images or items.")] = "image",
    engine: Engine = "local",
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Turn every image into a vector, once per encoder; goes on where it stopped.

    An encoder may have options, as in `efficientnet-lite0?flip=1&size=256`, and several joined by `+` make one.
    `likewise list encoders` lists what there is. Without --with: efficientnet-lite0, colour, texture, shape, layout.

    Example: `likewise encode shoes --with efficientnet-lite0,colour,hf:facebook/dinov2-base`

    Example: `likewise encode shoes --import mine.npy --keys keys.csv --name mine`

    Example: `likewise encode shoes --import "qdrant://localhost:6333/shoes?key=image"`

    Example: `likewise encode shoes --engine ray --address ray-head:6379`
    """
    from functools import partial

    from likewise.encoders.model_cards import DEFAULT_ENCODERS
    from likewise.encoders.running.encode import encode_catalog
    from likewise.encoders.running.pipeline import EncodingEngine as Runs
    from likewise.encoders.running.pipeline import run_locally
    from likewise.encoders.storage.table_import import import_source

    target = open_workspace(workspace)
    through: Runs = run_locally
    if on_ray(engine, address):
        from likewise.scale.encoding import run_on_ray

        through = partial(run_on_ray, address=address)
    if vectors is not None:
        with progress_bars("images") as update:
            done = [import_source(target, vectors, name=name, keys=keys, by=by, force=force, on_progress=update)]
    else:
        with progress_bars("images") as update:
            done = encode_catalog(
                target,
                parse_names(encoders) or list(DEFAULT_ENCODERS),
                workers=workers,
                force=force,
                on_progress=update,
                engine=through,
            )
    _print_encoded(target, done, as_json)


def _print_encoded(workspace: "WorkspaceFolder", done: "list[EncodingResult]", as_json: bool) -> None:
    from likewise.encoders.storage.reading import left_out_images

    if as_json:
        echo_json(
            [
                {
                    "encoder": one.encoder,
                    "dim": one.dim,
                    "images": one.images,
                    "new_images": one.new_images,
                    "left_out": one.left_out,
                    "left_out_images": [each.image for each in left_out_images(workspace, one.encoder)],
                    "seconds": one.seconds,
                    **({"note": one.note} if one.note else {}),
                }
                for one in done
            ]
        )
        return
    for one in done:
        what = f"{one.new_images:,} images encoded" if one.new_images else "already encoded"
        left_out = f", [red]{one.left_out} left out[/]" if one.left_out else ""
        echo(f"[bold]{one.encoder}[/]: {what}, {one.dim} dimensions{left_out}")
        if one.note:
            echo(f"  [red]{one.note}[/]")
        for each in left_out_images(workspace, one.encoder)[:MAX_LEFT_OUT_SHOWN]:
            console().print(f"  {each.image}: {each.why}", markup=False)
        if one.left_out > MAX_LEFT_OUT_SHOWN:
            echo(f"  [dim]and {one.left_out - MAX_LEFT_OUT_SHOWN} more, all in vectors/{one.encoder}/meta.json[/]")
