"""`likewise label sheet`: pairs for an expert who answers without the site."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import Seed, WorkspacePath, echo, open_workspace, progress_bars
from likewise.errors import LikewiseError
from likewise.workspace import quoted, read_parquet, write_text

if TYPE_CHECKING:
    import polars as pl


def sheet(
    workspace: WorkspacePath,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.html|FILE.csv",
            help="A page with the pictures that works offline, or a table with the pictures in a folder beside it.",
            show_default=False,
        ),
    ],
    expert: Annotated[str, typer.Option(help="The expert who will fill it in.")],
    pairs: Annotated[
        Path | None, typer.Option(help="A file of pairs instead of the pool, such as results/next_pairs.parquet.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Write the pairs this expert has not answered yet; no model, rank, score or file name is shown.

    Example: `likewise label sheet shoes anna.html --expert anna`, then `likewise label import shoes anna.csv`
    """
    import polars as pl

    from likewise.catalog import read_catalog
    from likewise.labeling import voting_sheet
    from likewise.labeling.pairs_file import read_pairs_file
    from likewise.labeling.pool import project_follows
    from likewise.labeling.sheet import blind_name, write_pictures
    from likewise.labeling.state import read_votes_behind_labels
    from likewise.labeling.store import opened_votes
    from likewise.labeling.store.assignment import is_repeated, queued_pairs
    from likewise.labeling.store.location import remembered_database
    from likewise.labeling.store.project import Project, read_project
    from likewise.report.sheet_page import sheet_page
    from likewise.spreadsheets import csv_text

    target = open_workspace(workspace)
    if output.suffix.lower() not in (".html", ".csv"):
        raise LikewiseError(f"{output} should end in .html (a page with the pictures) or .csv (a table).")
    pictures = output.with_name(f"{output.stem}_pictures")
    if output.exists():
        raise LikewiseError(f"{output} already exists, perhaps with answers in it: choose another name.")
    catalog = read_catalog(target)
    project, queue = Project(), None
    if target.votes_file.exists() or remembered_database(target):
        project_follows(target)
        with opened_votes(target) as engine:
            project, queue = read_project(engine), queued_pairs(engine, expert)
    if pairs is not None:
        table = voting_sheet(
            read_pairs_file(pairs, set(catalog["image"])), expert, seed, read_votes_behind_labels(target)
        )
    elif queue is not None:  # as the site would ask: the expert's share, control pairs, hidden repeats
        table = voting_sheet(
            queue.filter(pl.col("asking") == 0), expert, seed, repeats=queue.filter(pl.col("asking") > 0)
        )
    else:
        pool = read_parquet(target.pool_file, f"likewise discover {quoted(workspace)}")
        again = [is_repeated(project, *pair) for pair in pool.select("query", "candidate").rows()]
        repeats = pool.filter(pl.Series(again, dtype=pl.Boolean))
        table = voting_sheet(pool, expert, seed, read_votes_behind_labels(target), repeats)
    if table.is_empty():
        raise LikewiseError(f"{expert} has answered every one of these pairs: there is nothing left to ask.")
    if output.suffix.lower() == ".html":
        with progress_bars("pictures") as update:
            page = sheet_page(table, catalog, target.root, expert, project.guidelines, update)
        write_text(page, output)
        echo(
            f"{output}: {_count(table)} for {expert}, {len(page) / 1e6:.1f} MB; send the page, get a CSV back, "
            f"then run `likewise label import {quoted(workspace)} {expert}.csv`"
        )
        return
    write_pictures(sorted({*table["query"], *table["candidate"]}), target.root, pictures)
    blind = table.with_columns(
        pl.Series(column, [blind_name(image) for image in table[column]]) for column in ("query", "candidate")
    )
    write_text(csv_text(blind), output)
    echo(
        f"{output}: {_count(table)} for {expert}, their pictures in {pictures}; write similar, not similar or "
        "cannot tell in the last column"
    )


def _count(sheet: "pl.DataFrame") -> str:
    """`461 pairs, 25 of them twice`."""
    pairs = sheet.select("query", "candidate").n_unique()
    return f"{pairs:,} pairs" + (f", {len(sheet) - pairs:,} of them twice" if len(sheet) > pairs else "")
