"""`likewise outfits rules`, `generate` and `check`: valid outfits, made of a catalog's items or brought along."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import (
    AsJson,
    HalfOption,
    Seed,
    WorkspacePath,
    echo,
    echo_json,
    escape,
    open_workspace,
    parse_names,
)
from likewise.errors import LikewiseError

MapOption = Annotated[str | None, typer.Option("--map", help="Names of your categories: `sandals=shoes,jumper=tops`.")]


def rules(as_json: AsJson = False) -> None:
    """Print the twenty categories and the rules of a valid outfit.

    Example: `likewise outfits rules`
    """
    from likewise.outfits.rules import GROUPS, RULES

    if as_json:
        echo_json({"groups": GROUPS, "rules": {rule.name: rule.reason for rule in RULES}})
        return
    for group, categories in GROUPS.items():
        echo(f"[bold]{group}[/]: {', '.join(categories)}")
    for rule in RULES:
        echo(f"  {rule.name}: {rule.reason}")


def generate(
    workspace: WorkspacePath,
    n: Annotated[int, typer.Option("--n", help="Number of different outfits.")] = 50_000,
    where: Annotated[str | None, typer.Option(help="Restrict the images, e.g. domain=shop.")] = None,
    half: HalfOption = None,
    map_: MapOption = None,
    output: Annotated[
        Path | None, typer.Option(help="The file to write; WORKSPACE/outfits/outfits.parquet by default.")
    ] = None,
    seed: Seed = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite existing outfits.")] = False,
    as_json: AsJson = False,
) -> None:
    """Generate valid outfits from the catalog's items, every one checked against every rule.

    Example: `likewise outfits generate shoes --n 50000 --where domain=shop`
    """
    from likewise.outfits.step import generate_outfits, outfits_file

    if n < 1:
        raise LikewiseError(f"the number of outfits must be at least 1, not {n}.")
    target = open_workspace(workspace)
    path = output or outfits_file(target)
    report = generate_outfits(target, n, where, dict_of(map_), path, seed, half=half, replace=replace).report
    if as_json:
        echo_json(asdict(report) | {"file": str(path)})
        return
    echo(f"{escape(path)}: [bold]{report.n_outfits:,} outfits[/], all of them valid")
    echo("  length: " + ", ".join(f"{length}: {count:,}" for length, count in report.lengths.items()))
    for name, about in report.categories.items():
        echo(f"  {name:<10} {about.n_items:>7,} items, in {100 * about.share_of_outfits:5.1f} % of the outfits")
    if report.left_out:
        words = ", ".join(f"{escape(word)} ({count:,})" for word, count in list(report.left_out.items())[:8])
        echo(f"  left out, as none of the twenty categories: {words}")


def check(
    table: Annotated[Path, typer.Argument(metavar="OUTFITS", help="A table `outfit, item, category, …`.")],
    map_: MapOption = None,
    as_json: AsJson = False,
) -> None:
    """Check which outfits of a table are valid, and why the others are not.

    Example: `likewise outfits check mine.csv`
    """
    from likewise.outfits.step import check_outfit_file

    checked = check_outfit_file(table, dict_of(map_))
    if as_json:
        echo_json(asdict(checked))
        return
    echo(f"{checked.n_valid:,} of {checked.n_outfits:,} outfits are valid")
    for reason, count in checked.reasons.items():
        echo(f"  {count:,}: {reason}")
    for outfit, reasons in list(checked.refused.items())[:10]:
        echo(f"  {escape(outfit)}: {reasons}")


def dict_of(text: str | None) -> dict[str, str]:
    """`a=b,c=d` as a dictionary."""
    pairs = [part.partition("=") for part in parse_names(text)]
    if wrong := [part for part, equals, _ in pairs if not equals]:
        raise LikewiseError(f"write WORD=CATEGORY, not {wrong[0]!r}.")
    return {word.strip(): value.strip() for word, _, value in pairs}
