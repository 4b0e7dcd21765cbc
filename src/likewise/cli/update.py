"""`likewise update`: bring a catalog up to date with its photos; votes, labels and vectors stay."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import AsJson, WorkspacePath, echo, echo_json, escape, open_workspace, progress_bars
from likewise.cli.new import of_another_item
from likewise.workspace import quoted

if TYPE_CHECKING:
    from likewise.update import CatalogUpdate

MAX_SHOWN = 3


def update(
    workspace: WorkspacePath,
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="All images as they are now: the folder, table or data set that the workspace was made from.",
            show_default=False,
        ),
    ] = None,
    reader: Annotated[str | None, typer.Option(help="Layout of the source, if not that of `new`.")] = None,
    root: Annotated[Path | None, typer.Option(help="Where the image paths start, if not at the source.")] = None,
    truth: Annotated[
        Path | None, typer.Option(help="A table of similar items, where the true similarity is known.")
    ] = None,
    name: Annotated[
        str, typer.Option(help="What to call this version, as in --as-of NAME; its date always works.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen; write nothing.")] = False,
    accept_removals: Annotated[
        bool, typer.Option("--accept-removals", help="Go on even if more than half of the pictures are gone.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the catalog up to date: images added, removed, changed, renamed or moved, found by their content.

    Vectors are made for new images only, by `encode`. Votes and labels stay and follow renames; those about an image
    that is gone are put aside, and come back when it does. Each update is a version that `--as-of` can name.

    Example: `likewise update shoes ~/photos/shoes --dry-run`
    """
    from likewise.update import update_workspace

    target = open_workspace(workspace)
    with progress_bars("images") as bars:
        done = update_workspace(
            target,
            source,
            reader=reader,
            root=root,
            truth=truth,
            name=name,
            dry_run=dry_run,
            accept_removals=accept_removals,
            on_progress=bars,
            before_writing=None if as_json else partial(print_changes, workspace),
        )
    if as_json:
        echo_json(done.to_dict())
        return
    if not done.written:
        print_changes(workspace, done)
    if done.changes.nothing:
        return
    if done.written:
        echo(f"written: version {done.version}{f', {escape(name)}' if name else ''}")
        echo(f"next: [bold]likewise status {escape(quoted(workspace))}[/]")
    else:
        echo("nothing was written (--dry-run)")
        if done.removes_most:
            echo("most images would be gone: give a source that has all images, or --accept-removals if that is meant")
            return
        given = (("--reader", reader), ("--root", root), ("--truth", truth), ("--name", name))
        words = [workspace, *([source] if source else []), *(word for pair in given if pair[1] for word in pair)]
        echo(f"next: [bold]likewise update {escape(' '.join(map(str, words)))}[/]")


def print_changes(workspace: Path, done: "CatalogUpdate") -> None:
    """What changed, and what it means for the work that is there."""
    changes = done.changes
    if changes.nothing:
        echo(f"[bold]{escape(workspace)}[/]: nothing has changed, {done.n_images_before:,} images")
        return
    echo(f"[bold]{escape(workspace)}[/]: {done.n_images_before:,} -> {len(done.checked.catalog):,} images")
    renamed = [f"{before} -> {after}" for before, after in changes.renamed]
    taken = set(done.checked.catalog["image"])
    removed = [f"{name} (another picture has its name now)" if name in taken else name for name in changes.removed]
    for title, names in (
        ("added", changes.added),
        ("came back", changes.returned),
        ("removed", removed),
        ("changed", changes.changed),
        ("renamed or moved", renamed),
        ("other attributes", changes.attributes),
    ):
        if names:
            echo(f"  {len(names):,} {title}: {escape(_some(names))}")
    if moved := [f"{image} ({was or 'none'} -> {now or 'none'})" for image, was, now in done.other_category]:
        echo(f"  {len(moved):,} of those renamed or moved with another category now: {escape(_some(moved))}")
    if done.checked.n_left_out:
        lost = done.checked.problems.filter(~done.checked.problems["kept"])
        named = [f"{row['image']}: {row['problem']}" for row in lost.iter_rows(named=True)]
        echo(f"  [red]{done.checked.n_left_out} left out[/]: {escape(_some(named))}")
    copies, across = done.copies
    if copies:
        have = "has" if copies == 1 else "have"
        look = escape(f"`likewise explore {quoted(workspace)}` shows {'it' if copies == 1 else 'them'}")
        of_others = of_another_item(copies, across)
        echo(f"  {copies:,} of the new pictures {have} a copy, exact or near{of_others}: {look}")
    pairs = done.pairs
    if pairs.n_kept or pairs.n_retired:
        echo(
            f"  pool: {pairs.n_kept:,} {'pair stays' if pairs.n_kept == 1 else 'pairs stay'}, {pairs.n_retired:,} "
            f"{'is put aside with its' if pairs.n_retired == 1 else 'are put aside with their'} votes"
            + (f", {pairs.n_back:,} {'comes' if pairs.n_back == 1 else 'come'} back" if pairs.n_back else "")
        )


def _some(names: Sequence[str]) -> str:
    more = f" … and {len(names) - MAX_SHOWN:,} more" if len(names) > MAX_SHOWN else ""
    return ", ".join(names[:MAX_SHOWN]) + more
