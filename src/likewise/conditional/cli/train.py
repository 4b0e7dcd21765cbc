"""`likewise condition two-tower`, `train` and `study`: encoders and Combiners that learn, and what makes them learn."""

from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

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
    format_duration,
    open_workspace,
    parse_names,
    progress_bars,
)
from likewise.workspace import quoted

if TYPE_CHECKING:
    import polars as pl

Encoder = Annotated[
    str, typer.Option("--with", help="A two-tower encoder: two-tower:FOLDER, clip, hf:FOLDER, ...", show_default=False)
]
TrainingTriplets = Annotated[
    str,
    typer.Option(
        "--on",
        help="What to learn from: a folder of `condition mine`, a Parquet file, a set of templates, `official` (CIRR).",
        show_default=False,
    ),
]
Validation = Annotated[
    str | None,
    typer.Option(help="Templates for early stopping, or `official` (CIRR); a tenth of the references by default."),
]
Tune = Annotated[str | None, typer.Option(help="Towers of the encoder to train as well: image, text or image,text.")]
QUICK_STEPS = 300
STUDY_STEPS = 600
Steps = Annotated[int, typer.Option(help="Maximum number of training steps.")]
Batch = Annotated[int, typer.Option(help="Triplets per step.")]


def two_tower(
    workspace: WorkspacePath,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the encoder.", show_default=False)],
    columns: Annotated[str, typer.Option(help="Catalog columns with texts, comma-separated.")] = "caption",
    where: Annotated[str | None, typer.Option(help="Restrict the images, e.g. split=train.")] = None,
    half: HalfOption = None,
    base: Annotated[
        str, typer.Option(help="The network below the image tower; it is not trained.")
    ] = "efficientnet-lite0?pooling=stages",
    sentences: Annotated[
        str,
        typer.Option(
            "--text",
            help="A pre-trained sentence encoder below the text tower: minilm, or a folder; none by default.",
        ),
    ] = "",
    dim: Annotated[int, typer.Option(help="Dimensions of the vectors.")] = 128,
    steps: Steps = 1500,
    quick: Annotated[bool, typer.Option("--quick", help=f"At most {QUICK_STEPS} steps: a first look.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes; one per core by default.")] = None,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing encoder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train a small two-tower encoder (images and texts in one space) on the captions of a catalog.

    Takes a few minutes on two cores and needs no download; `two-tower:FOLDER` names it in other commands.

    Example: `likewise condition two-tower shop shop/tower`
    """
    from dataclasses import asdict

    from likewise.conditional.two_tower import TwoTowerSettings, train_two_tower

    n_steps = min(steps, QUICK_STEPS) if quick else steps
    settings = TwoTowerSettings(base, tuple(parse_names(columns)), sentences, where, half, dim, n_steps, seed=seed)
    with progress_bars("steps") as update:
        trained = train_two_tower(
            open_workspace(workspace),
            folder,
            settings,
            workers=workers,
            force=force,
            on_start=partial(_print_expected, quick=quick),
            on_progress=update,
        )
    if as_json:
        echo_json(asdict(trained))
        return
    echo(
        f"[bold]two-tower:{escape(folder)}[/] learned from {trained.n_images:,} images in {trained.seconds:,.0f} s; "
        f"{trained.n_held_out:,} held-out images find their own caption among {trained.n_captions:,} "
        f"in {100 * trained.recall_at_1:.1f} % of cases, among the first five in {100 * trained.recall_at_5:.1f} %"
    )
    if trained.n_captions:
        learned = "it has learned to read" if trained.above_chance else "it has not shown that it learned to read"
        echo(f"chance would find {100 / trained.n_captions:.1f} %: {learned} these captions")
    for note in trained.notes:
        echo(escape(note))


def _print_expected(seconds: float, quick: bool = False) -> None:
    """On standard error, as progress is: standard output may be JSON."""
    hint = "" if quick else "; --quick takes fewer steps"
    typer.echo(f"training takes about {format_duration(seconds)} on this machine{hint}", err=True)


def train(
    workspace: WorkspacePath,
    encoder: Encoder,
    triplets: TrainingTriplets,
    name: Annotated[str, typer.Option(help="Its name: combiners/NAME in the workspace.")] = "combiner",
    validate: Validation = None,
    half: HalfOption = None,
    tune: Tune = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="conjunctive, linear or gated (the paper's). [default: conjunctive for mined triplets, else gated]"
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Maximum number of training steps. [default: 1500; mined 200]")
    ] = None,
    batch: Batch = 256,
    rate: Annotated[
        float | None, typer.Option("--lr", help="Learning rate of the Combiner. [default: 0.0003; mined 0.0005]")
    ] = None,
    tune_rate: Annotated[float, typer.Option(help="Learning rate of the encoder's towers.")] = 3e-5,
    negatives_per_triplet: Annotated[
        int | None,
        typer.Option(
            "--negatives",
            help="Negatives per triplet and step beside those of the batch; 0: the batch only. [default: 16; mined 2]",
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(help="Temperature of the loss; 0.01 in the paper. [default: 0.01; linear 0.5, conjunctive 1]"),
    ] = None,
    dropout: Annotated[float, typer.Option(help="Dropout of a gated Combiner; 0.5 in the paper.")] = 0.5,
    patience: Annotated[int, typer.Option(help="Validations without improvement before stopping.")] = 6,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing Combiner.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train a Combiner: reference and condition to one query vector, on mined triplets or on templates.

    Example: `likewise condition train shop --with two-tower:shop/tower --on mined`
    """
    from dataclasses import replace

    from likewise.conditional.training import recommended_settings
    from likewise.conditional.workspace_methods import train_combiner

    best = recommended_settings(triplets, kind)
    settings = replace(
        best,
        tune=tuple(parse_names(tune)),
        steps=best.steps if steps is None else steps,
        batch=batch,
        learning_rate=best.learning_rate if rate is None else rate,
        tune_rate=tune_rate,
        temperature=best.temperature if temperature is None else temperature,
        negatives_per_triplet=best.negatives_per_triplet if negatives_per_triplet is None else negatives_per_triplet,
        patience=patience,
        dropout=dropout,
        seed=seed,
    )
    with progress_bars("steps") as update:
        done = train_combiner(
            open_workspace(workspace),
            encoder,
            triplets,
            name=name,
            validate=validate,
            half=half,
            settings=settings,
            force=force,
            on_progress=update,
        )
    trained, folder = done.trained, done.folder
    if as_json:
        echo_json(
            {
                "folder": str(folder),
                "encoder": trained.tower.spec,
                "n_triplets": trained.n_triplets,
                "n_validation": trained.n_templates,
                "best_step": trained.best_step,
                "validation_recall_at_1": trained.best_recall,
                "history": trained.history,
                "seconds": trained.seconds,
                "notes": list(trained.notes),
            }
        )
        return
    echo(
        f"[bold]{escape(folder)}[/] learned from {trained.n_triplets:,} triplets in {trained.seconds:,.0f} s; "
        f"Recall@1 {100 * trained.best_recall:.1f} % on {trained.n_templates:,} validation templates, "
        f"best at step {trained.best_step:,}"
    )
    for note in trained.notes:
        echo(escape(note))
    if trained.tower.spec != encoder:
        echo(f"use it with the encoder that was trained along: [bold]{escape(trained.tower.spec)}[/]")
    echo(
        f"next, on templates that it has not seen: [bold]likewise condition evaluate {escape(quoted(workspace))} "
        f"--with {escape(quote(trained.tower.spec))} --templates NAME "
        f"--methods {escape(quote(f'image+text,combiner:{folder}'))}[/]"
    )


def study(
    workspace: WorkspacePath,
    encoder: Encoder,
    triplets: TrainingTriplets,
    test: Annotated[str, typer.Option(help="Templates that every training is measured on.", show_default=False)],
    validate: Validation = None,
    half: HalfOption = None,
    unfiltered: Annotated[str | None, typer.Option(help="Triplets mined with `--concreteness none`.")] = None,
    other: Annotated[str | None, typer.Option(help="Triplets from another source.")] = None,
    backbones: Annotated[str | None, typer.Option(help="More two-tower encoders, comma-separated.")] = None,
    parts: Annotated[str, typer.Option(help="What to study, comma-separated.")] = "ablation,scaling,backbones",
    folder: Annotated[
        Path | None, typer.Option("--output", help="The folder of results; study/ in the workspace by default.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of trainings of each kind.")] = 3,
    steps: Annotated[
        int | None, typer.Option(help="Maximum number of training steps. [default: 600; of mined triplets 200]")
    ] = None,
    batch: Batch = 256,
    rate: Annotated[
        float | None, typer.Option("--lr", help="Learning rate of the Combiner. [default: 0.0003; of mined 0.0005]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Study the training of a Combiner: ablations, numbers of triplets and encoders, with several seeds and plots.

    Mined triplets train a conjunctive Combiner, others a gated one, as in `condition train`.
    Continues an interrupted run. Example:
    `likewise condition study shop --with two-tower:shop/tower --on mined --test built`
    """
    from dataclasses import replace

    from likewise.conditional import study as studies
    from likewise.conditional.report.study import write_study
    from likewise.conditional.training import recommended_settings
    from likewise.conditional.training_triplets import (
        is_mined,
        load_templates,
        read_training_triplets,
        read_validation,
        triplets_of_half,
    )
    from likewise.errors import LikewiseError

    target, wanted = open_workspace(workspace), parse_names(parts)
    unknown = set(wanted) - {studies.ABLATION, studies.SCALING, studies.BACKBONES}
    if unknown:
        raise LikewiseError(f"there is no part {sorted(unknown)[0]!r}: choose ablation, scaling, backbones.")
    place = folder or target.path / "study"

    def read(source: str) -> "pl.DataFrame":
        return triplets_of_half(read_training_triplets(source, target), target, half)

    learned, plain_mined = read(triplets), read(unfiltered) if unfiltered else None
    best = recommended_settings(triplets)
    settings = replace(
        best,
        steps=steps if steps is not None else best.steps if is_mined(triplets) else STUDY_STEPS,
        batch=batch,
        learning_rate=best.learning_rate if rate is None else rate,
    )
    arms: list[studies.Arm] = []
    if studies.ABLATION in wanted:
        second = read(other) if other else None
        arms += studies.ablation_arms(learned, encoder, settings, unfiltered=plain_mined, other=second)
    if studies.SCALING in wanted:
        arms += studies.scaling_arms(learned, encoder, settings, unfiltered=plain_mined)
    if studies.BACKBONES in wanted:
        arms += studies.backbone_arms(learned, [encoder, *parse_names(backbones)], settings)
    validation, templates = read_validation(validate, target), load_templates(test, target)
    with progress_bars("trainings") as update:
        found = studies.run_study(target, arms, validation, templates, place, seeds=seeds, on_progress=update)
    table = studies.summarize_study(found)
    page = write_study(place, found, table)
    if as_json:
        echo_json({"folder": str(place), "summary": table.to_dicts()})
        return
    _print(table)
    echo(f"plots and table in {escape(page)}")


def _print(table: "pl.DataFrame") -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    shown = Table(title="Average Recall@1 (%), mean over seeds", title_justify="left", box=SIMPLE)
    for name in ("part", "trained on", "triplets", "Recall@1", "sd", "seeds", "templates"):
        shown.add_column(name, justify="left" if name in ("part", "trained on") else "right")
    for row in table.iter_rows(named=True):
        spread = f"{100 * row['sd']:.1f}" if row["sd"] is not None else "–"
        n_triplets = f"{row['n_triplets']:,}" if row["n_triplets"] else "–"
        counts = (str(row["n_seeds"]), f"{row['n']:,}")
        shown.add_row(row["part"], row["arm"], n_triplets, f"{100 * row['mean']:.1f}", spread, *counts)
    console().print(shown)
