"""`likewise search`: what every model finds for a picture, before any label exists."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import AsJson, WorkspacePath, console, echo, echo_json, escape, parse_names, to_records
from likewise.errors import LikewiseError
from likewise.workspace import write_atomically

if TYPE_CHECKING:
    import polars as pl

WIDTH = 80
SCORE_WIDTH = 7  # " 0.999*"
ONLY_ONE = "*"
FIGURE_KINDS = ("png", "svg", "pdf")
DPI = 150
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same search gives the same file


def search(
    workspace: WorkspacePath,
    image: Annotated[str, typer.Option("--image", help="Any picture, or an image of the catalog by its key.")],
    encoders: Annotated[
        str | None, typer.Option("--with", help="Up to four encoders, comma-separated; the first four by default.")
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Number of items to find.")] = 10,
    where: Annotated[
        str | None, typer.Option(help="Only candidates that meet this: COLUMN=VALUE, comma-separated.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Also draw what was found: a .png, .svg or .pdf file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find the items nearest to a picture under several encoders, side by side; no labels are needed.

    Example: `likewise search shoes --image ~/x.jpg --with efficientnet-lite0,colour`

    Example: `likewise search shoes --image boots/b-17.jpg --where category=boots --save found.png`
    """
    from likewise.api.workspace import Workspace

    target = Workspace(workspace)
    target.settings()
    if save is not None:
        _figure_kind(save)
    found = target.search(parse_names(encoders), image, k=k, where=where)
    if save is not None:
        import matplotlib

        figure, kind = found.plot(), _figure_kind(save)
        with matplotlib.rc_context({"svg.hashsalt": "likewise"}):
            metadata = UNDATED.get(kind)
            write_atomically(save, lambda file: figure.savefig(file, format=kind, dpi=DPI, metadata=metadata))
    if as_json:
        echo_json(to_records(found.table))
        return
    _print_side_by_side(found.table)
    if save is not None:
        echo(f"drawn in {escape(save)}")


def _figure_kind(path: Path) -> str:
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FIGURE_KINDS:
        raise LikewiseError(f"{path} is no kind of figure: end its name in .{', .'.join(FIGURE_KINDS)}.")
    return kind


def _print_side_by_side(table: "pl.DataFrame") -> None:
    """A column per encoder, 80 characters in all; of long keys the end is shown, where they differ."""
    from rich.table import Table

    lists = table.partition_by("encoder", maintain_order=True)
    width = (WIDTH - 4) // max(1, len(lists)) - 2
    shown = Table(box=None, pad_edge=False, show_edge=False)
    shown.add_column("", justify="right")
    for each in lists:
        shown.add_column(_end_of(each["encoder"][0], width), no_wrap=True, width=width)
    for rank in range(max((len(each) for each in lists), default=0)):
        shown.add_row(f"[dim]{rank + 1}[/]", *(_cell(each, rank, width) for each in lists))
    console().print(shown)
    if table.is_empty():
        echo("nothing was found: no other item meets the condition.")
    elif len(lists) > 1:
        echo(f"[dim]{ONLY_ONE} only this encoder lists that item; the numbers are cosine similarities.[/]")


def _cell(found: "pl.DataFrame", rank: int, width: int) -> str:
    if rank >= len(found):
        return ""
    row = found.row(rank, named=True)
    name = _end_of(row["candidate"], width - SCORE_WIDTH)
    mark = f"[bold]{ONLY_ONE}[/]" if row["only_here"] else " "
    return f"{escape(name):<{width - SCORE_WIDTH}}[dim]{row['score']:>6.3f}[/]{mark}"


def _end_of(text: str, width: int) -> str:
    return text if len(text) <= width else f"…{text[len(text) - width + 1 :]}"
