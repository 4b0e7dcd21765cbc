"""`likewise new`: a workspace from a folder, a table, a data set, or the drawn wardrobe."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import AsJson, Seed, progress, records, say, say_json
from likewise.errors import LikewiseError
from likewise.workspace import WARDROBE, Workspace

SHOWN_PROBLEMS = 8


def new(
    workspace: Annotated[Path, typer.Argument(metavar="WORKSPACE", help="The folder to make.", show_default=False)],
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="A folder of images (sub-folders are categories), or a CSV, Parquet or JSONL with a column `image`.",
            show_default=False,
        ),
    ] = None,
    reader: Annotated[str | None, typer.Option(help="Layout of the source: folder, table, inshop.")] = None,
    root: Annotated[Path | None, typer.Option(help="Where the table's image paths start, if not at the table.")] = None,
    wardrobe: Annotated[bool, typer.Option("--wardrobe", help="Draw the built-in fashion world instead.")] = False,
    items: Annotated[int, typer.Option(help="Wardrobe: how many items.")] = 600,
    views: Annotated[int, typer.Option(help="Wardrobe: shop images per item.")] = 3,
    wild: Annotated[float, typer.Option(help="Wardrobe: wild photos per item.")] = 0.0,
    seed: Seed = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the catalog of an existing workspace.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a workspace: one catalog row per image, every picture checked.

    Example: `likewise new shoes ~/photos/shoes`
    """
    from likewise.catalog import make_catalog
    from likewise.catalog.readers import read

    if (source is None) != wardrobe:
        raise LikewiseError("give either a folder or table of images, or --wardrobe: `likewise new shoes ~/photos`.")
    target = Workspace(workspace)
    if target.settings_file.exists() and not replace:
        raise LikewiseError(
            f"{workspace} already holds a workspace: choose another folder, or replace its catalog with --replace."
        )
    settings: dict[str, float] = {}
    with progress("images") as update:
        if source is None:
            from likewise.catalog.wardrobe import build_wardrobe

            pictures = workspace / "images"
            rows = build_wardrobe(
                pictures,
                n_items=items,
                views_per_item=views,
                wild_per_item=wild,
                seed=seed,
                on_progress=lambda done, total: update("drawing", done, total),
            )
            name, settings = WARDROBE, {"items": items, "views": views, "wild": wild, "seed": seed}
        else:
            reading = read(source, reader, root)
            rows, pictures, name = reading.rows, reading.root, reader or ("folder" if source.is_dir() else "table")
        made = make_catalog(
            target,
            rows,
            pictures,
            name,
            source_settings=settings,
            replace=replace,
            on_progress=lambda done, total: update("checking", done, total),
        )
    if as_json:
        say_json(
            {
                "images": len(made.catalog),
                "items": made.catalog["item"].n_unique(),
                "left_out": made.n_left_out,
                "problems": records(made.problems),
            }
        )
        return
    categories = made.catalog["category"].n_unique()
    say(
        f"[bold]{workspace}[/]: {len(made.catalog):,} images of {made.catalog['item'].n_unique():,} items "
        f"in {categories} categories, {made.n_left_out} left out"
    )
    for problem in made.problems.head(SHOWN_PROBLEMS).iter_rows(named=True):
        mark = "kept" if problem["kept"] else "[red]left out[/]"
        say(f"  row {problem['row']}, {problem['image']}: {problem['problem']} ({problem['detail']}), {mark}")
    if len(made.problems) > SHOWN_PROBLEMS:
        say(f"  … {len(made.problems) - SHOWN_PROBLEMS} more in {target.problems_file}")
