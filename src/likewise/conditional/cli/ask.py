"""`likewise condition ask`: like this image, but with conditions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    import polars as pl

    from likewise.conditional.conditional_query import ConditionalQuery
    from likewise.workspace import WorkspaceFolder


def ask(
    workspace: WorkspacePath,
    image: Annotated[str | None, typer.Option(help="A picture file, or the key of an image of the catalog.")] = None,
    text: Annotated[
        list[str] | None, typer.Option(help='A condition, such as "but in red"; again for further ones.')
    ] = None,
    more: Annotated[list[str] | None, typer.Option(help="Key of an image to be more like; again for others.")] = None,
    less: Annotated[list[str] | None, typer.Option(help="Key of an image to be less like; again for others.")] = None,
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
        typer.Option(help="Columns in which results are like the image, comma-separated; `none` frees them."),
    ] = "category",
    where: Annotated[str | None, typer.Option(help="Restrict the results, e.g. colour=red.")] = None,
    page: Annotated[
        Path | None, typer.Option(help="The page to write; asked.html in the workspace by default.")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="List what was asked before, and ask nothing.")] = False,
    again: Annotated[int | None, typer.Option(help="Ask a question of the history again, by its number.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes for encoding; one per core by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find images similar to one of yours under conditions; prints them and writes a page with the pictures.

    Example: `likewise condition ask shop --image coat.jpg --text "but in red" --text "with a hood"`
    """
    from likewise.conditional.conditional_query import ConditionalQuery, parse_conditions
    from likewise.conditional.report.search_page import SearchQuery, write_search_page
    from likewise.conditional.search import Searcher
    from likewise.conditional.search_history import add_search_to_history

    target = open_workspace(workspace)
    if history:
        _print_history(target, as_json)
        return
    kept = () if keep == "none" else tuple(parse_names(keep))
    asked = (
        _asked_before(target, again)
        if again is not None
        else ConditionalQuery(
            image,
            parse_conditions(text or ()),
            weight,
            tuple(more or ()),
            tuple(less or ()),
            kept,
            tuple((where or "").split(",")) if where else (),
            top_k,
        )
    )
    with progress_bars("images") as update:
        searcher = Searcher.open(target, encoder, method, workers=workers, on_progress=update)
    found = searcher.answer(asked)
    path = page or workspace / "asked.html"
    own = None if asked.image is None else searcher.own_row(asked.image)
    file = None if asked.image is None else Path(str(asked.image))
    place = file if own is None else target.root / searcher.images[own]
    query = SearchQuery(
        workspace.resolve().name,
        place,
        " and ".join(asked.conditions),
        asked.text_weight,
        searcher.tower.name,
        searcher.composer.name,
        len(searcher.images),
    )
    write_search_page(path, query, found, target.root)
    add_search_to_history(target, asked)  # last: a command that was ended and is run again asks once
    values = searcher.kept_values(asked)
    weak = [condition for condition in asked.conditions if searcher.text_check.is_weak(condition)]
    if as_json:
        told = {"page": str(path), "encoder": query.encoder, "method": query.method, "kept": values, "weak": weak}
        echo_json(told | {"found": to_records(found)})
        return
    _print_found(query.title, found)
    said = ", ".join(f"{column} {value}" for column, value in values.items())
    echo(
        f"[dim]{len(found)} of {query.n_images:,} images{f', {escape(said)} kept' if said else ''}, by "
        f"{escape(query.method)} with {escape(query.encoder)}; pictures: {escape(path)}[/]"
    )
    for condition in weak:
        echo(
            f"[yellow]“{escape(condition)}” finds nothing more clearly than random letters would: no word of it is in "
            "the catalog.[/]"
        )


def _print_found(title: str, found: "pl.DataFrame") -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    known = any(row["met"] or row["not_met"] for row in found.iter_rows(named=True))
    shown = Table(title=escape(title), title_justify="left", box=SIMPLE)
    for header in ("", "image", "category", "score", *(["condition"] if known else [])):
        shown.add_column(header, justify="right" if header in ("", "score") else "left", overflow="fold")
    for row in found.iter_rows(named=True):
        told = [f"[green]✓[/] {escape(each)}" for each in row["met"]] + [f"✗ {escape(each)}" for each in row["not_met"]]
        cells = [str(row["rank"]), escape(row["image"]), escape(row["category"]), f"{row['score']:.3f}"]
        shown.add_row(*cells, *(["  ".join(told)] if known else []))
    console().print(shown)


def _print_history(target: "WorkspaceFolder", as_json: bool) -> None:
    from likewise.conditional.search_history import read_history

    before = read_history(target)
    if as_json:
        echo_json([{"number": number, "date": each.date, "asked": each.title} for number, each in enumerate(before, 1)])
        return
    for number, each in enumerate(before, 1):
        echo(f"{number:>4}  [dim]{each.date[:16].replace('T', ' ')}[/]  {escape(each.title)}")
    if not before:
        echo(f"nothing was asked yet: `likewise condition ask {escape(target.quoted)} --text 'a red bag'`")


def _asked_before(target: "WorkspaceFolder", number: int) -> "ConditionalQuery":
    from likewise.conditional.search_history import read_history
    from likewise.errors import LikewiseError

    before = read_history(target)
    if not 1 <= number <= len(before):
        raise LikewiseError(f"the history has no question {number}: it has {len(before)}, see `--history`.")
    return before[number - 1].request
