"""`likewise bundle run`, `vectors` and `encoder`: a model's ranked lists, its vectors, or itself, as a file."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import AsJson, WorkspacePath, echo, echo_json, open_workspace
from likewise.cli.exchange import Output, refuse_existing


def export_run(
    workspace: WorkspacePath,
    output: Output,
    encoder: Annotated[str, typer.Option("--with", help="The encoder whose lists to write.")],
    candidates: Annotated[
        str,
        typer.Option(
            help="best-image-per-item (as P@k counts), every-image, or judged-pairs (for areas: judged pairs and "
            "items drawn from the gallery)."
        ),
    ] = "best-image-per-item",
    depth: Annotated[int, typer.Option(help="Candidates per query.")] = 1000,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write one model's lists as a TREC run, for trec_eval and similar tools.

    Example: `likewise bundle run shoes colour.run --with colour`
    """
    from likewise.evaluation.exchange.run_export import export_run as write

    target = open_workspace(workspace)
    refuse_existing(output, replace=replace)
    done = write(target, encoder, output, candidates=candidates, depth=depth)
    if as_json:
        echo_json({"file": str(output), "n_lines": done.n_lines, "n_queries": done.n_queries, "tag": done.tag})
        return
    echo(f"{output}: {done.n_lines:,} candidates of {done.n_queries:,} queries, tag {done.tag}")


def bundle_vectors(
    workspace: WorkspacePath,
    output: Output,
    encoder: Annotated[str, typer.Option("--with", help="The encoder whose vectors to write.")],
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write one encoder's vectors as npz, npy, Parquet or safetensors, with their keys and what the model learned from.

    Example: `likewise bundle vectors shoes mine.npz --with run:perceptual`
    """
    from likewise.encoders.storage.exporting import export_vectors

    target = open_workspace(workspace)
    refuse_existing(output, replace=replace)
    done = export_vectors(target, encoder, output)
    if as_json:
        beside = [str(path) for path in done.beside]
        echo_json({"file": str(output), "images": done.images, "dim": done.dim, "beside": beside})
        return
    echo(f"{output}: {done.images:,} vectors of {done.dim} dimensions")
    for path in done.beside:
        echo(f"  belongs to it: {path}")


def bundle_encoder(
    encoder: Annotated[str, typer.Argument(metavar="ENCODER", help="A torch encoder, such as efficientnet-lite0.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The ONNX file to write.")],
    as_json: AsJson = False,
) -> None:
    """Write a torch encoder as an ONNX file, with its preprocessing beside it, and compare the two.

    Example: `likewise bundle encoder efficientnet-lite0 lite0.onnx`
    """
    from dataclasses import asdict

    from likewise.encoders.running.export import export_encoder

    result = export_encoder(encoder, file)
    if as_json:
        echo_json({"file": str(file)} | asdict(result))
        return
    echo(f"[bold]{file}[/]: largest difference {result.max_difference:.1e} in batches of 1, 3 and 4")
    echo(
        f"  one core: torch {result.torch_images_per_second:,.0f} images/s, "
        f"onnxruntime {result.onnx_images_per_second:,.0f}"
    )
