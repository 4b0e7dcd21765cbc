"""`likewise condition mine`: training triplets from captions."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import AsJson, HalfOption, Seed, console, echo, echo_json, escape, progress_bars


def mine(
    captions: Annotated[
        Path,
        typer.Argument(
            metavar="CAPTIONS", help="A TSV (caption, image), a table with image and caption, or a workspace."
        ),
    ],
    ratings: Annotated[
        str,
        typer.Option("--concreteness", help="The file of concreteness ratings (Brysbaert et al. 2014), or `none`."),
    ],
    folder: Annotated[Path, typer.Option("--output", help="The folder to write to.")] = Path("mined"),
    n_triplets: Annotated[int, typer.Option(help="Maximum number of triplets.")] = 1_600_000,
    threshold: Annotated[float, typer.Option(help="Mean concreteness of a triplet's four words.")] = 4.8,
    relation_threshold: Annotated[float, typer.Option(help="Mean concreteness of one relation's two words.")] = 4.0,
    min_images: Annotated[int, typer.Option(help="Minimum number of images of a subject.")] = 5,
    min_objects: Annotated[int, typer.Option(help="Minimum number of different objects of a subject.")] = 2,
    half: HalfOption = None,
    parser: Annotated[
        str | None, typer.Option(help="`textblob`, or a spaCy model; a spaCy model by default if one is installed.")
    ] = None,
    pictures: Annotated[Path | None, typer.Option(help="The folder of pictures, for the page.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; one per core by default.")] = None,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Discard what was mined with other settings.")] = False,
    as_json: AsJson = False,
) -> None:
    """Mine training triplets (reference, condition, target) from captions, with a page that shows every step.

    A caption gives relations (subject, relation, object). Relations of concrete things with frequent subjects are
    paired: same subject, different object, different image. Continues an interrupted run.

    Example: `likewise condition mine captions.tsv --concreteness ratings.txt --output mined`
    """
    from dataclasses import asdict

    from likewise.conditional.mining.filters import MiningThresholds
    from likewise.conditional.mining.step import mine_triplets
    from likewise.conditional.report.mining import write_mining_page
    from likewise.workspace import WorkspaceFolder

    with progress_bars("") as update:
        mined = mine_triplets(
            captions,
            folder,
            ratings=None if ratings == "none" else Path(ratings),
            rules=MiningThresholds(threshold, relation_threshold, min_images, min_objects),
            n_triplets=n_triplets,
            seed=seed,
            half=half,
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
