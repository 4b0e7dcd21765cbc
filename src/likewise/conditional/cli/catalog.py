"""`likewise condition catalog`: how a shopper fares who searches the whole catalog with a condition."""

from typing import Annotated

import typer

from likewise.cli.console import (
    AsJson,
    HalfOption,
    Seed,
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


def catalog(
    workspace: WorkspacePath,
    encoder: Annotated[
        str | None, typer.Option("--with", help="A two-tower encoder; by default the one that has features.")
    ] = None,
    methods: Annotated[
        str, typer.Option(help="image, text, image+text, image+text:unscaled, combiner:NAME; comma-separated.")
    ] = "image,text,image+text",
    attributes: Annotated[
        str | None, typer.Option(help="Columns to ask about; by default every text column with few values.")
    ] = None,
    category: Annotated[str, typer.Option(help="The column that results should keep.")] = "category",
    where: Annotated[str | None, typer.Option(help="Restrict the catalog, e.g. split=test.")] = None,
    half: HalfOption = None,
    n: Annotated[int, typer.Option("--questions", help="Number of questions.")] = 500,
    top_k: Annotated[int, typer.Option("--top", help="Results a shopper looks at.")] = 12,
    workers: Annotated[int | None, typer.Option(help="Processes for encoding; one per core by default.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Search the whole catalog: share of the first 12 that keep the category, meet the condition, or both.

    Every method is measured as it is and with the category kept by its column. `three scores` adds the image's, the
    text's and the category's; its weights are chosen on other questions of the same kind.

    Example: `likewise condition catalog shop --attributes colour --half test`
    """
    from likewise.conditional.catalog_search import CatalogSearchSettings
    from likewise.conditional.catalog_step import search_catalog

    settings = CatalogSearchSettings(parse_names(attributes) or None, category, where, half, n, top_k, seed)
    with progress_bars("images") as update:
        found = search_catalog(
            open_workspace(workspace), settings, encoder, parse_names(methods), workers=workers, on_progress=update
        )
    if as_json:
        echo_json(to_records(found.table))
        return
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import with_interval
    from likewise.lineage.guard import MARK

    shown = Table(
        title=f"Of the first {top_k}, in % ({found.n_questions:,} questions)", title_justify="left", box=SIMPLE
    )
    for header in ("", "category kept", "condition met", "both"):
        shown.add_column(header, justify="right" if header else "left")
    for (method, kept), rows in found.table.group_by(["method", "kept"], maintain_order=True):
        marked = f"{method} {MARK}" if rows["learned"].any() else str(method)
        named = f"{marked}, {kept} kept" if kept else marked
        cells = [with_interval(row["value"], row["low"], row["high"]) for row in rows.iter_rows(named=True)]
        shown.add_row(escape(named), *cells)
    console().print(shown)
    for note in found.notes:
        echo(escape(note))
