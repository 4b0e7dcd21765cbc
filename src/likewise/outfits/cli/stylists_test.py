"""`likewise outfits stylists-test` and `import-test`: tests of taste from a shop's outfits, or published elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import AsJson, Seed, WorkspacePath, echo, echo_json, escape, open_workspace
from likewise.outfits.bundle import OutfitTest
from likewise.outfits.cli.tests import TestPath


def stylists_test(
    workspace: WorkspacePath,
    test: TestPath,
    licence: Annotated[str, typer.Option(help="Terms under which others may use the pictures.")],
    outfits: Annotated[Path | None, typer.Option(help="A table `outfit, item`; by default the data set's.")] = None,
    n_lat: Annotated[int, typer.Option(min=0, help="Questions about the whole outfit.")] = 100,
    n_aat: Annotated[int, typer.Option(min=0, help="Questions about colour or fabric alone.")] = 100,
    seed: Seed = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite an existing test.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a test of taste from real outfits: five choices, what the stylists chose is right.

    Example: `likewise outfits stylists-test looks taste.zip --outfits outfits.csv --licence "not for others"`
    """
    from likewise.catalog.table import read_catalog
    from likewise.outfits.benchmark.folds import copy_groups
    from likewise.outfits.bundle import write_test
    from likewise.outfits.stylists_test import stylists_aat, stylists_lat
    from likewise.outfits.training.step import read_outfits

    target = open_workspace(workspace)
    catalog = read_catalog(target)
    known, _ = read_outfits(target, catalog, outfits)
    groups = copy_groups(target, catalog)
    questions = stylists_lat(known, n_lat, groups, seed) if n_lat else []
    questions += stylists_aat(known, catalog, n_aat, groups, seed) if n_aat else []
    made = write_test(
        test,
        questions,
        lambda image: (target.root / image).read_bytes(),
        title=f"Outfits of {target.path.name}",
        licence=licence,
        description="What stylists put together is right; LAT counts their choice as one person's.",
        made={"outfits": len(known), "seed": seed},
        overwrite=replace,
    )
    _print(made, as_json)


def import_test(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A folder or table of questions.")],
    test: TestPath,
    licence: Annotated[str, typer.Option(help="Terms of the published test.")],
    layout: Annotated[str, typer.Option(help="table, or a100: folders LAT/001/ and AAT/001/ of pictures.")] = "table",
    images: Annotated[Path | None, typer.Option(help="The folder of pictures; the table's own by default.")] = None,
    title: Annotated[str | None, typer.Option(help="Its name; that of SOURCE by default.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite an existing test.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take a published test: questions and pictures become a test that `outfits score` asks.

    Example: `likewise outfits import-test questions.csv taste.zip --images pictures --licence CC-BY-4.0`

    Example: `likewise outfits import-test A100 a100.zip --layout a100 --licence "research only"`
    """
    from likewise.outfits.bundle import write_test
    from likewise.outfits.import_test import read_published_test

    found = read_published_test(source, layout, images)
    made = write_test(
        test,
        found.questions,
        lambda image: (found.root / image).read_bytes(),
        title=title or source.stem,
        licence=licence,
        made={"imported_from": source.name, "layout": layout, "left_out": found.n_left_out},
        overwrite=replace,
    )
    _print(made, as_json)


def _print(made: OutfitTest, as_json: bool) -> None:
    if as_json:
        echo_json({key: made.card[key] for key in ("title", "sizes", "made", "checksum")})
        return
    kinds = ", ".join(f"{n} {kind}" for kind, n in made.card["sizes"]["kinds"].items())
    echo(f"{escape(made.path)}: [bold]{len(made.questions)} questions[/] ({kinds})")
    for name, value in made.card["made"].items():
        echo(f"  {name.replace('_', ' ')}: {escape(value)}")
    echo(f"  score models: `likewise outfits score {escape(made.path)} --model random --model mean-cosine:colour`")
