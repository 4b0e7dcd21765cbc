"""`likewise condition ask`: like this image, but with a condition."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import (
    AsJson,
    WorkspacePath,
    console,
    echo,
    echo_json,
    escape,
    open_workspace,
    parse_names,
    progress_bars,
    to_records,
)


def ask(
    workspace: WorkspacePath,
    image: Annotated[str | None, typer.Option(help="A picture file, or the key of an image of the catalog.")] = None,
    text: Annotated[str, typer.Option(help='The condition, such as "but in red".')] = "",
    encoder: Annotated[
        str | None,
        typer.Option("--with", help="A two-tower encoder; by default the one that has features in this workspace."),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="image+text or combiner:NAME; the workspace's Combiner if it has one.")
    ] = None,
    weight: Annotated[float, typer.Option("--text-weight", help="0: image only, 0.5: both, 1: text only.")] = 0.5,
    top_k: Annotated[int, typer.Option("--top", help="Number of images to find.")] = 12,
    keep: Annotated[
        str,
        typer.Option(
            help="Columns in which results are like an image of the catalog, comma-separated; `none` frees them."
        ),
    ] = "category",
    where: Annotated[str | None, typer.Option(help="Restrict the results, e.g. colour=red.")] = None,
    page: Annotated[
        Path | None, typer.Option(help="The page to write; asked.html in the workspace by default.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes for encoding; one per core by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find images similar to one of yours under a condition; prints them and writes a page with the pictures.

    Example: `likewise condition ask shop --image coat.jpg --text "but in red"`
    """
    from likewise.conditional.report.search_page import SearchQuery, write_search_page
    from likewise.conditional.search import Searcher, parse_condition

    target = open_workspace(workspace)
    with progress_bars("images") as update:
        searcher = Searcher.open(target, encoder, method, workers=workers, on_progress=update)
    kept = [] if keep == "none" else parse_names(keep)
    found = searcher.search(image, text, text_weight=weight, top_k=top_k, keep=kept, where=where)
    path = page or workspace / "asked.html"
    place = None if image is None else target.root / image if image in searcher.row_of else Path(image)
    query = SearchQuery(
        workspace.resolve().name,
        place,
        parse_condition(text),
        weight,
        searcher.tower.name,
        searcher.composer.name,
        len(searcher.images),
    )
    write_search_page(path, query, found, target.root)
    if as_json:
        echo_json({"page": str(path), "encoder": query.encoder, "method": query.method, "found": to_records(found)})
        return
    from rich.box import SIMPLE
    from rich.table import Table

    shown = Table(title=escape(query.title), title_justify="left", box=SIMPLE)
    for header in ("", "image", "category", "score"):
        shown.add_column(header, justify="right" if header in ("", "score") else "left", overflow="fold")
    for row in found.iter_rows(named=True):
        shown.add_row(str(row["rank"]), escape(row["image"]), escape(row["category"]), f"{row['score']:.3f}")
    console().print(shown)
    echo(
        f"[dim]{len(found)} of {query.n_images:,} images by {escape(query.method)} with {escape(query.encoder)}; "
        f"pictures: {escape(path)}[/]"
    )
