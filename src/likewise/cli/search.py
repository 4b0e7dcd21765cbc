"""`likewise search`: what every model finds for a picture, before any label exists."""

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import AsJson, WorkspacePath, console, echo, echo_json, escape, parse_names, to_records
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder, write_atomically

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
    others = (
        []
        if encoders
        else [name for name in WorkspaceFolder(workspace).encoders() if name not in set(found.table["encoder"])]
    )
    if others:
        echo(f"not shown: {escape(', '.join(sorted(others)))}; choose up to four with --with")
    if save is not None:
        echo(f"drawn in {escape(save)}")


def _figure_kind(path: Path) -> str:
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FIGURE_KINDS:
        raise LikewiseError(f"{path} is no kind of figure: end its name in .{', .'.join(FIGURE_KINDS)}.")
    return kind


def _print_side_by_side(table: "pl.DataFrame") -> None:
    """A column per encoder, 80 characters in all: the part of each key that tells it apart, and the category."""
    from rich.table import Table

    lists = table.partition_by("encoder", maintain_order=True)
    width = (WIDTH - 4) // max(1, len(lists)) - 2
    names = short_names(table["candidate"].unique(maintain_order=True).to_list(), width - SCORE_WIDTH)
    shown = Table(box=None, pad_edge=False, show_edge=False)
    shown.add_column("", justify="right")
    for each in lists:
        shown.add_column(_end_of(each["encoder"][0], width), no_wrap=True, width=width)
    for rank in range(max((len(each) for each in lists), default=0)):
        shown.add_row(f"[dim]{rank + 1}[/]", *(_cell(each, rank, width, names) for each in lists))
    console().print(shown)
    if table.is_empty():
        echo("nothing was found: no other item meets the condition.")
    elif len(lists) > 1:
        echo(f"[dim]{ONLY_ONE} only this encoder lists that item; the numbers are cosine similarities.[/]")


def _cell(found: "pl.DataFrame", rank: int, width: int, names: dict[str, str]) -> str:
    if rank >= len(found):
        return ""
    row = found.row(rank, named=True)
    mark = f"[bold]{ONLY_ONE}[/]" if row["only_here"] else " "
    category = str(row["category"] or "")
    if len(category) > width:
        category = f"{category[: width - 1]}…"
    name = f"{names[row['candidate']]:<{width - SCORE_WIDTH}}"
    return f"{escape(name)}[dim]{row['score']:>6.3f}[/]{mark}\n[dim]{escape(category)}[/]"


def short_names(keys: Sequence[str], width: int) -> dict[str, str]:
    """Keys in at most `width` characters, different for different keys wherever that can be: without the folder and the
    ending that all share, then by their end, their beginning, or both."""
    short = {key: key for key in keys}
    endings, folders = {PurePath(key).suffix for key in keys}, {str(PurePath(key).parent) for key in keys}
    if len(endings) == 1:
        short = {key: text.removesuffix(next(iter(endings))) for key, text in short.items()}
    if len(folders) == 1 and folders != {"."}:
        short = {key: text.removeprefix(f"{next(iter(folders))}/") for key, text in short.items()}
    tried = [
        {
            key: text if len(text) <= width else f"{text[:start]}…{text[len(text) - end :]}"
            for key, text in short.items()
        }
        for start, end in ((0, width - 1), (width - 1, 0), (width // 2, (width - 1) // 2))
    ]
    return max(tried, key=lambda names: len(set(names.values())))


def _end_of(text: str, width: int) -> str:
    return text if len(text) <= width else f"…{text[len(text) - width + 1 :]}"
