"""`likewise outfits wardrobe-test`: a complete test of taste from the drawn wardrobe."""

from typing import Annotated

import typer

from likewise.cli.console import AsJson, Seed, echo, echo_json, escape, progress_bars
from likewise.outfits.cli.tests import TestPath


def wardrobe_test(
    test: TestPath,
    n_lat: Annotated[int, typer.Option(min=0, help="LAT questions, answered by simulated people.")] = 100,
    n_aat: Annotated[int, typer.Option(help="AAT questions, at least one for each of 27 sub-dimensions.")] = 100,
    n_items: Annotated[int, typer.Option(help="Items of the wardrobe that questions are made from.")] = 4000,
    only: Annotated[
        list[str] | None, typer.Option(help="Only AAT questions of this dimension; may be repeated.")
    ] = None,
    crowd: Annotated[int, typer.Option(help="Number of simulated people who answer the final test.")] = 200,
    seed: Seed = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite an existing test.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build a complete A100-like test from the drawn wardrobe, in seconds.

    Example: `likewise outfits wardrobe-test taste.zip --seed 7`
    """
    from likewise.synthetic.outfits.taste_test import Scale, make_wardrobe_test

    with progress_bars("pictures") as update:
        made = make_wardrobe_test(
            test,
            seed=seed,
            n_items=n_items,
            scale=Scale.of(n_lat, crowd),
            n_aat=n_aat,
            only=tuple(only or ()),
            overwrite=replace,
            on_progress=update,
        )
    if as_json:
        echo_json({key: made.card[key] for key in ("title", "sizes", "made", "checksum")})
        return
    kinds = ", ".join(f"{n} {kind}" for kind, n in made.card["sizes"]["kinds"].items())
    echo(f"{escape(test)}: [bold]{len(made.questions)} questions[/] ({kinds}), checksum {made.card['checksum'][:16]}…")
    echo(f"  score models: `likewise outfits score {escape(test)} --model random --model mean-cosine:colour`")
