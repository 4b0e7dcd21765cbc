"""`likewise condition mine`: training triplets from captions."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import AsJson, HalfOption, Seed, console, echo, echo_json, escape, parse_names, progress_bars


def mine(
    captions: Annotated[
        Path,
        typer.Argument(
            metavar="CAPTIONS", help="A TSV (caption, image), a table with image and caption, or a workspace."
        ),
    ],
    ratings: Annotated[
        str | None,
        typer.Option(
            "--concreteness", help="The file of concreteness ratings (Brysbaert et al. 2014), which some filters need."
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            "--filter",
            help="none: attributes and relations, whatever their concreteness; soft: those that can be seen; "
            "genecis: relations between very concrete things, as published.",
        ),
    ] = "none",
    columns: Annotated[str, typer.Option(help="Columns with captions, comma-separated.")] = "caption",
    where: Annotated[str | None, typer.Option(help="Restrict a workspace's images, e.g. split=train.")] = None,
    folder: Annotated[Path, typer.Option("--output", help="The folder to write to.")] = Path("mined"),
    n_triplets: Annotated[int, typer.Option(help="Maximum number of triplets.")] = 1_600_000,
    threshold: Annotated[
        float | None, typer.Option(help="Mean concreteness of a triplet's four words; the filter's by default.")
    ] = None,
    relation_threshold: Annotated[
        float | None, typer.Option(help="Mean concreteness of one relation's two words; the filter's by default.")
    ] = None,
    min_images: Annotated[int, typer.Option(help="Minimum number of images of a subject.")] = 5,
    min_objects: Annotated[int, typer.Option(help="Minimum number of different objects of a subject.")] = 2,
    half: HalfOption = None,
    parser: Annotated[
        str | None,
        typer.Option(
            help="`textblob`, or a spaCy model, whose dependency tree is read; the default if one is installed."
        ),
    ] = None,
    pictures: Annotated[Path | None, typer.Option(help="The folder of pictures, for the page.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; one per core by default.")] = None,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Discard what was mined with other settings.")] = False,
    as_json: AsJson = False,
) -> None:
    """Mine training triplets (reference, condition, target) from captions, with a page that shows every step.

    A caption gives relations (subject, relation, object) and attributes ("a red wool coat"). Those with frequent
    subjects are paired: same subject, different object, different image. Continues an interrupted run.

    Example: `likewise condition mine shop --columns title --output mined`
    """
    from dataclasses import asdict, replace

    from likewise.conditional.mining.filters import get_filter
    from likewise.conditional.mining.step import mine_triplets
    from likewise.conditional.report.mining import write_mining_page
    from likewise.errors import LikewiseError
    from likewise.workspace import WorkspaceFolder

    preset_rules = get_filter(preset)
    rules = replace(
        preset_rules,
        concreteness=preset_rules.concreteness if threshold is None else threshold,
        relation_concreteness=preset_rules.relation_concreteness if relation_threshold is None else relation_threshold,
        min_images=min_images,
        min_objects=min_objects,
    )
    if rules.needs_ratings and ratings is None:
        raise LikewiseError(
            f"the filter {preset} needs concreteness ratings: give the file of Brysbaert et al. (2014) with "
            "`--concreteness FILE`, or mine with `--filter none`."
        )
    with progress_bars("") as update:
        mined = mine_triplets(
            captions,
            folder,
            ratings=None if ratings in (None, "none") else Path(ratings),
            rules=rules,
            n_triplets=n_triplets,
            seed=seed,
            half=half,
            where=where,
            columns=parse_names(columns),
            parser=parser,
            workers=workers,
            force=force,
            on_progress=update,
        )
        root = pictures or (WorkspaceFolder(captions).root if (captions / "workspace.json").exists() else None)
        page = write_mining_page(folder, root, seed=seed, on_progress=update)
    if as_json:
        steps = [asdict(step) for step in mined.funnel]
        echo_json({"folder": str(folder), "n_triplets": mined.n_triplets, "funnel": steps, "seconds": mined.seconds})
        return
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE)
    for column in ("left after", "n", "", "because"):
        table.add_column(column, justify="right" if column == "n" else "left")
    for step in mined.funnel:
        table.add_row(step.step, f"{step.n:,}", step.unit, step.why)
    console().print(table)
    echo(f"[bold]{mined.n_triplets:,} triplets[/] in {escape(folder)}; look at them in {escape(page)}")
