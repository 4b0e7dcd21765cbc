"""`likewise condition train-text`: a composed search learned from captions alone."""

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
    progress_bars,
)
from likewise.conditional.cli.train import Encoder


def train_text(
    workspace: WorkspacePath,
    encoder: Encoder,
    name: Annotated[str, typer.Option(help="Its name: pseudo_words/NAME in the workspace.")] = "pseudo-words",
    columns: Annotated[str, typer.Option(help="Catalog columns with texts, comma-separated.")] = "caption",
    where: Annotated[str | None, typer.Option(help="Restrict the images, e.g. split=train.")] = None,
    half: HalfOption = None,
    steps: Annotated[int, typer.Option(help="Number of training steps.")] = 400,
    batch: Annotated[int, typer.Option(help="Captions per step.")] = 64,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing one.")] = False,
    as_json: AsJson = False,
) -> None:
    """Learn pseudo-words from captions alone (as LinCIR does): a picture becomes a word in a sentence.

    Example: `likewise condition train-text shop --with two-tower:shop/tower`
    """
    from likewise.conditional.protocol import check_name
    from likewise.conditional.pseudo_words import PSEUDO_WORDS_FOLDER
    from likewise.conditional.text_training import TextTrainingSettings, train_pseudo_words
    from likewise.conditional.towers import TwoTower

    target = open_workspace(workspace)
    settings = TextTrainingSettings(tuple(parse_names(columns)), where, half, steps, batch, seed=seed)
    folder = target.path / PSEUDO_WORDS_FOLDER / check_name(name, "pseudo-words")
    with progress_bars("steps") as update:
        done = train_pseudo_words(
            target, TwoTower.from_spec(encoder), folder, settings, force=force, on_progress=update
        )
    if as_json:
        echo_json(
            {
                "folder": str(folder),
                "n_captions": done.n_captions,
                "best_step": done.best_step,
                "history": done.history,
                "seconds": done.seconds,
            }
        )
        return
    first, best = done.history[0]["held_out"], min(row["held_out"] for row in done.history)
    echo(
        f"[bold]{escape(folder)}[/] learned from {done.n_captions:,} captions in {done.seconds:,.0f} s; held-out loss "
        f"{first:.3f} before, {best:.3f} at step {done.best_step}"
    )
    echo(f"next: `likewise condition evaluate ... --methods image+text,pseudo-words:{escape(folder)}`")
