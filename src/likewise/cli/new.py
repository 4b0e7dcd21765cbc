"""`likewise new`: a workspace from a folder, a table, a data set or the drawn wardrobe."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import AsJson, Seed, echo, echo_json, progress_bars, to_records
from likewise.errors import LikewiseError
from likewise.progress import ProgressCallback
from likewise.workspace import WARDROBE, WorkspaceFolder, quoted

if TYPE_CHECKING:
    import polars as pl

    from likewise.catalog.readers import Coverage, Reading

MAX_PROBLEMS_SHOWN = 8


def new(
    workspace: Annotated[Path, typer.Argument(metavar="WORKSPACE", help="The folder to make.", show_default=False)],
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="A folder of images (sub-folders are categories), a CSV, Parquet or JSONL with a column `image`, "
            "or a data set in the layout that --reader names.",
            show_default=False,
        ),
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option(help="Layout of the source: folder, table, inshop, cub …; `likewise list readers` shows all."),
    ] = None,
    root: Annotated[Path | None, typer.Option(help="Where the image paths start, if not at the source.")] = None,
    truth: Annotated[
        Path | None, typer.Option(help="If the true similarity is known: a table of similar items, item_a and item_b.")
    ] = None,
    item_pattern: Annotated[
        str | None,
        typer.Option(
            help="Items by file names: a regular expression over names without their ending, whose first group is the "
            "item. '(.+)_[0-9]+' makes shoe12_1.jpg and shoe12_2.jpg one."
        ),
    ] = None,
    wardrobe: Annotated[bool, typer.Option("--wardrobe", help="Draw the built-in synthetic wardrobe instead.")] = False,
    items: Annotated[int, typer.Option(help="Wardrobe: number of items.")] = 600,
    views: Annotated[int, typer.Option(help="Wardrobe: shop images per item.")] = 3,
    wild: Annotated[float, typer.Option(help="Wardrobe: wild photos per item.")] = 0.0,
    seed: Seed = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the catalog of an existing workspace.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a workspace: one catalog row per image, every picture checked.

    Example: `likewise new shoes ~/photos/shoes`, `likewise new shop --reader inshop ~/data/inshop`
    """
    from likewise.catalog import make_catalog
    from likewise.catalog.item_names import suggest_pattern
    from likewise.catalog.make import already_there
    from likewise.catalog.readers import choose_catalog_reader, with_items
    from likewise.catalog.readers.table import read_table
    from likewise.files import finish_writing
    from likewise.labeling.pool import project_follows
    from likewise.neighbours.leaks import count_copies

    if (source is None) != wardrobe:
        raise LikewiseError("give either a folder or table of images, or --wardrobe: `likewise new shoes ~/photos`.")
    if truth is not None and wardrobe:
        raise LikewiseError("the truth of the wardrobe is known already: leave --truth out.")
    target = WorkspaceFolder(workspace)
    finish_writing(target.path)
    if target.settings_file.exists() and not replace:
        raise LikewiseError(already_there(target, source))
    reading: Reading | None = None
    similar = None if truth is None else read_table(truth)
    settings: dict[str, Any]
    if source is not None:
        name = choose_catalog_reader(source, reader)
        reading = with_items(_read_source(target, source, name, root, as_json), item_pattern)
        rows, pictures = reading.rows, reading.root
        settings = reading.settings(source, root, item_pattern)
    with progress_bars("images") as update:
        if reading is None:
            name, pictures = WARDROBE, workspace / "images"
            settings = {"items": items, "views": views, "wild": wild, "seed": seed}
            rows, similar = _draw_wardrobe(pictures, settings, update)
        made = make_catalog(
            target,
            rows,
            pictures,
            name,
            source_settings=settings,
            tables=None if reading is None else reading.tables,
            truth=similar,
            replace=replace,
            on_progress=update,
        )
    if replace:
        project_follows(target)
    copies, across = count_copies(target, made.catalog)
    tables = {} if reading is None else {table: len(content) for table, content in reading.tables.items()}
    if as_json:
        echo_json(
            {
                **({"coverage": reading.coverage.as_dict()} if reading else {}),
                "images": len(made.catalog),
                "items": made.catalog["item"].n_unique(),
                "left_out": made.n_left_out,
                "copies": {"images": copies, "across_items": across},
                "tables": tables,
                "problems": to_records(made.problems),
            }
        )
        return
    from rich.markup import escape

    from likewise.report.formatting import plural

    n_items, n_categories = made.catalog["item"].n_unique(), made.catalog["category"].n_unique()
    echo(
        f"[bold]{escape(str(workspace))}[/]: {plural(len(made.catalog), 'image')} of {plural(n_items, 'item')} in "
        f"{plural(n_categories, 'category', 'categories')}, {made.n_left_out} left out"
    )
    if (
        source
        and made.catalog["item"].n_unique() == len(made.catalog)
        and (pattern := suggest_pattern(made.catalog["image"]))
    ):
        again = f"`likewise new {quoted(workspace)} {quoted(source)} --item-pattern '{pattern}' --replace`"
        echo(f"  names look like several pictures of one item: {escape(again)} makes these items")
    if copies:
        look = f"`likewise encode {quoted(workspace)}`, then `likewise explore {quoted(workspace)}` shows them"
        echo(f"  {copies:,} images have a copy, exact or near{of_another_item(copies, across)}: {escape(look)}")
    for table, n_rows in tables.items():
        echo(f"  {target.tables_folder / f'{table}.parquet'}: {n_rows:,} rows")
    for problem in made.problems.head(MAX_PROBLEMS_SHOWN).iter_rows(named=True):
        mark = "kept" if problem["kept"] else "[red]left out[/]"
        what = escape(f"{problem['image']}: {problem['problem']} ({problem['detail']})")
        echo(f"  row {problem['row']}, {what}, {mark}")
    if len(made.problems) > MAX_PROBLEMS_SHOWN:
        echo(f"  … {len(made.problems) - MAX_PROBLEMS_SHOWN} more in {target.problems_file}")
    echo(f"[dim]next: likewise encode {escape(quoted(workspace))}[/]")


def of_another_item(n_copies: int, n_across: int) -> str:
    """Whose the copies are, after "… have a copy"."""
    if not n_across:
        return ""
    if n_across < n_copies:
        return f", {n_across:,} of them {'one ' if n_across == 1 else ''}of another item"
    return ", of another item"


def _draw_wardrobe(
    pictures: Path, settings: dict[str, Any], update: ProgressCallback
) -> "tuple[pl.DataFrame, pl.DataFrame]":
    """The rows of a wardrobe, and its truth."""
    from likewise.synthetic import build_wardrobe
    from likewise.synthetic.truth import similar_item_pairs

    rows = build_wardrobe(
        pictures,
        n_items=settings["items"],
        views_per_item=settings["views"],
        wild_per_item=settings["wild"],
        seed=settings["seed"],
        on_progress=update,
    )
    return rows, similar_item_pairs(rows)


def _read_source(target: WorkspaceFolder, source: Path, name: str, root: Path | None, as_json: bool) -> "Reading":
    """Read the source and say how much of it is there, before anything else; without pictures there is no catalog."""
    from likewise.catalog.readers import layouts, read

    if root is None and layouts()[name].writes_pictures:
        root = target.path / "images"
    reading = read(source, name, root)
    if not as_json:
        _print_coverage(reading.coverage)
    if "image" in reading.rows.columns and not reading.coverage.found:
        tables = ", ".join(f"{table} ({len(content):,} rows)" for table, content in reading.tables.items())
        instead = f"; its tables can be read in Python with read_tables: {tables}" if tables else ""
        n_named = reading.coverage.images
        why = (
            f"none of the {n_named:,} that it names is under {reading.root}: unpack them there, or give their --root"
            if n_named
            else f"the files under {reading.root} name none"
        )
        raise LikewiseError(f"{source} has no picture for a catalog, {why}{instead}.")
    return reading


def _print_coverage(coverage: "Coverage") -> None:
    from rich.markup import escape

    for file in coverage.files[:MAX_PROBLEMS_SHOWN]:
        echo(f"{escape(file.file)}: {file.rows:,} rows")
    if len(coverage.files) > MAX_PROBLEMS_SHOWN:
        echo(f"… {len(coverage.files) - MAX_PROBLEMS_SHOWN} more files, {coverage.rows:,} rows in all")
    missing = (
        f", [red]{len(coverage.missing):,} missing[/] (first: {escape(coverage.missing[0])})"
        if coverage.missing
        else ""
    )
    all_there = 0 < coverage.found == coverage.images
    count = f"{coverage.images:,} pictures" if all_there else f"{coverage.images:,} pictures named, {coverage.found:,}"
    echo(f"{count} found under {escape(str(coverage.root))}{missing}")
    if coverage.malformed:
        echo(f"[red]{len(coverage.malformed):,} malformed, left out:[/]")
    for line in coverage.malformed[:MAX_PROBLEMS_SHOWN]:
        echo(f"  {escape(str(line))}")
    if len(coverage.malformed) > MAX_PROBLEMS_SHOWN:
        echo(f"  … {len(coverage.malformed) - MAX_PROBLEMS_SHOWN} more")
    for remark in coverage.remarks:
        echo(f"note: {escape(remark)}")
