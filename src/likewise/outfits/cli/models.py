"""`likewise outfits train`, `train-weakest` and `models`: compatibility models and their training."""

from functools import partial
from pathlib import Path
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
    open_workspace,
    progress_bars,
    single_progress_bar,
)
from likewise.cli.engines import Address, Engine, on_ray
from likewise.errors import LikewiseError

if TYPE_CHECKING:
    from likewise.outfits.models.card import OutfitModelCard
    from likewise.outfits.training.settings_search import SettingsSearch
    from likewise.outfits.training.targeted_data import TargetedDataResult

Kind = Annotated[str, typer.Option("--model", help="The kind of model; `likewise outfits models` lists them.")]
With = Annotated[
    str, typer.Option("--with", help="Encoders joined by `+`; by default all that the workspace has vectors of.")
]
PresetName = Annotated[str, typer.Option(help="quick, usual (minutes on two cores) or paper (sizes as published).")]
Outfits = Annotated[
    Path | None,
    typer.Option(help="A table `outfit, item, …`; by default the data set's, or those of simulated stylists."),
]
Words = Annotated[
    bool,
    typer.Option("--words", help="Use caption words predicted from the vectors instead of the vectors."),
]
NOutfits = Annotated[int, typer.Option(help="Wardrobe: number of outfits that simulated stylists make.")]
Tests = Annotated[
    list[Path] | None, typer.Option("--test", help="A test whose items must not be trained on; may be repeated.")
]


def train(
    workspace: WorkspacePath,
    model: Kind = "set-transformer",
    encoders: With = "",
    whole: Annotated[
        str | None,
        typer.Option(
            "--trunk", help="Train this torch encoder with the model, from pictures: small, efficientnet-lite0."
        ),
    ] = None,
    words: Words = False,
    name: Annotated[str, typer.Option(help="Name of the model; its kind by default.")] = "",
    preset: PresetName = "usual",
    outfits: Outfits = None,
    n_outfits: NOutfits = 8000,
    triplets: Annotated[
        Path | None, typer.Option(help="Train sce-net on triplets of similarity (CSV) instead of outfits.")
    ] = None,
    order: Annotated[str, typer.Option(help='Meaning of the triplets\' columns, e.g. "anchor close far".')] = "",
    where: Annotated[str | None, typer.Option(help="Restrict the images, e.g. domain=shop.")] = None,
    half: HalfOption = None,
    test: Tests = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Leave out outfits with items of the test instead of refusing them.")
    ] = False,
    epochs: Annotated[int | None, typer.Option(help="Number of epochs; the preset's by default.")] = None,
    width: Annotated[int | None, typer.Option(help="Dimensions per item; the preset's by default.")] = None,
    learning_rate: Annotated[float | None, typer.Option("--lr", help="Learning rate; the preset's by default.")] = None,
    hard_negatives: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of negatives that resemble the item they replace.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="First search the settings: train so many around the preset, keep the best.")
    ] = None,
    engine: Engine = "local",
    address: Address = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a model of this name.")] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train a compatibility model on outfits; an interrupted run continues, to the same weights.

    Example: `likewise outfits train shoes --model type-aware --with colour+efficientnet-lite0 --test taste.zip`

    Example: `likewise outfits train shoes --model type-aware --trials 16 --engine ray`
    """
    from likewise.outfits.models.card import models_folder
    from likewise.outfits.report.learning import write_curves
    from likewise.outfits.training.settings_search import run_here, search_settings
    from likewise.outfits.training.step import TrainingRequest, train_outfit_model
    from likewise.scale.tasks import run_tasks
    from likewise.synthetic.outfits.examples import outfit_source

    target = open_workspace(workspace)
    request = TrainingRequest(
        model, name, encoders, whole, preset, outfits, n_outfits, where, half, tuple(test or ()), leave_out, epochs,
        width, learning_rate, seed, words, hard_negatives, triplets, order,
    )  # fmt: skip
    ray = on_ray(engine, address)
    if ray and trials is None:
        raise LikewiseError("--engine ray is for a search over settings: say how many, such as --trials 16.")
    searched = None
    if trials is not None:
        with single_progress_bar("trials") as update:
            searched = search_settings(
                target,
                request,
                trials,
                partial(run_tasks, address=address, on_progress=update) if ray else partial(run_here, update),
                outfit_source=outfit_source(target),
                force=force,
            )
        request = searched.best
    with progress_bars("batches") as update:
        card = train_outfit_model(target, request, outfit_source=outfit_source(target), force=force, on_progress=update)
    folder = models_folder(target) / request.folder_name
    plot = write_curves(folder)
    if as_json:
        found = {} if searched is None else {"trials": searched.trials.to_dicts()}
        echo_json({"folder": str(folder), **_facts(card), **found})
        return
    if searched is not None:
        _print_trials(searched)
    _print_card(card, folder)
    if plot is not None:
        echo(f"  curves: {escape(plot)}")
    echo(f"  score it: `likewise outfits score TEST --model {escape(folder)}`")


def _facts(card: "OutfitModelCard") -> dict[str, object]:
    keys = ("name", "kind", "trunk", "encoders", "visual_semantic", "notes")
    return {key: getattr(card, key) for key in keys} | {"trained": card.training.as_dict()}


def _print_trials(searched: "SettingsSearch") -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import over_interval

    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    for name in ("trial", "learning rate", "decay", "width", "near", "epoch", "blanks right (%)"):
        table.add_column(name, justify="right")
    best = int(searched.trials["accuracy"].arg_max() or 0)
    for place, row in enumerate(searched.trials.iter_rows(named=True)):
        texts = [
            f"{row[name]:g}" for name in ("trial", "learning_rate", "weight_decay", "width", "near_share", "epoch")
        ]
        value = over_interval(row["accuracy"], row["low"], row["high"])
        table.add_row(*texts, value, style="bold" if place == best else None)
    console().print(table)
    row = searched.trials.row(best, named=True)
    apart = row["low"] > searched.trials["high"][0]
    told = "above" if apart else "within chance of"
    echo(
        f"trial {row['trial']} fills most of {row['n_blanks']:,} validation blanks, {told} trial 1 (the preset); being "
        "chosen flatters it: measure the model on a test or with other outfits"
    )


def _print_card(card: "OutfitModelCard", folder: Path) -> None:
    about = card.training
    echo(f"[bold]{escape(card.name)}[/] ({card.kind}) in {escape(folder)}")
    inputs = f"{card.encoders}{' as words' if card.n_caption_words else ''}" or card.trunk
    echo(f"  trained on {about.n_outfits:,} outfits of {about.n_items:,} items, on {escape(inputs)}")
    if about.preset is not None and about.validation_accuracy is not None:
        echo(
            f"  epoch {about.epoch} is the best of {about.preset.epochs}: "
            f"{100 * about.validation_accuracy:.1f} % of {about.n_validation} blanks filled correctly"
        )
    echo(f"  visual-semantic term: {card.visual_semantic}")
    for key, value in card.notes.items():
        echo(f"  {key}: {value}")


def models(
    workspace: Annotated[
        Path | None, typer.Argument(metavar="[WORKSPACE]", help="Also list the trained models of this workspace.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the kinds of compatibility models, and those that a workspace has trained.

    Example: `likewise outfits models shoes`
    """
    from likewise.outfits.models.card import models_folder
    from likewise.outfits.models.registry import MODEL_KINDS, trained_models

    trained = trained_models(models_folder(open_workspace(workspace))) if workspace else {}
    if as_json:
        echo_json({"kinds": MODEL_KINDS, "trained": [_facts(card) for card in trained.values()]})
        return
    for kind, what in MODEL_KINDS.items():
        echo(f"[bold]{kind:<16}[/] {what}")
    for name, card in trained.items():
        about = card.training
        accuracy = (
            f", {100 * about.validation_accuracy:.1f} % of blanks" if about.validation_accuracy is not None else ""
        )
        echo(f"trained: [bold]{escape(name)}[/] ({card.kind}), {about.n_outfits:,} outfits{accuracy}")


def targeted_data(
    workspace: WorkspacePath,
    test: Annotated[Path, typer.Argument(metavar="TEST", help="A test with AAT questions.", show_default=False)],
    model: Kind = "set-transformer",
    encoders: With = "",
    words: Words = False,
    preset: PresetName = "usual",
    n_outfits: NOutfits = 8000,
    share: Annotated[
        float, typer.Option(help="Number of additional outfits, as a share of the first training's.")
    ] = 0.5,
    dimension: Annotated[str | None, typer.Option(help="Use this dimension instead of the weakest.")] = None,
    measure_on: Annotated[
        Path | None,
        typer.Option(help="A second test to measure on; the weakest dimension is then found on the whole first test."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Number of epochs; the preset's by default.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Find a model's weakest dimension, train again with more outfits on it, and score again (A100, sec. 4.2).

    Half of the questions find the weakest dimension, the other half (or a second test) measure the gain; a third
    training gets as many additional outfits without a focus. Only for a wardrobe, whose simulated stylists make them.

    Example: `likewise outfits train-weakest shoes taste.zip --model type-aware`
    """
    from likewise.outfits.bundle import open_test
    from likewise.outfits.results import OutfitTestFeatures, OutfitTestResults
    from likewise.outfits.training.step import TrainingRequest
    from likewise.outfits.training.targeted_data import train_with_targeted_data
    from likewise.synthetic.outfits.examples import outfit_source

    target = open_workspace(workspace)
    tests = (test,) if measure_on is None else (test, measure_on)
    results = [OutfitTestResults(open_test(path), path.with_name(f"{path.stem}-results")) for path in tests]
    request = TrainingRequest(
        model, encoders=encoders, preset=preset, n_outfits=n_outfits, tests=tests, epochs=epochs, seed=seed, words=words
    )
    with progress_bars("batches") as update:
        asked = [(each.test.questions, OutfitTestFeatures(each, update)) for each in results]
        done = train_with_targeted_data(
            target,
            request,
            *asked[0],
            outfit_source=outfit_source(target),
            measure_on=asked[1] if measure_on is not None else None,
            share=share,
            dimension=dimension,
            on_progress=update,
        )
    if as_json:
        echo_json(
            {
                "dimension": done.weak_dimension,
                "n_more": done.n_extra_outfits,
                "found": done.diagnosis.to_dicts(),
                "scores": done.scores.to_dicts(),
                "differences": done.differences.to_dicts(),
            }
        )
        return
    _print_targeted_data(done)


def _print_targeted_data(done: "TargetedDataResult") -> None:
    from likewise.outfits.cli.tests import print_scores
    from likewise.report.formatting import p_value

    echo(f"weakest: [bold]{done.weak_dimension}[/]; {done.n_extra_outfits:,} more outfits on it, or without a focus")
    print_scores(done.scores)
    mine = done.differences.filter(
        (done.differences["dimension"] == done.weak_dimension) | done.differences["score"].is_in(["AATs"])
    )
    for row in mine.iter_rows(named=True):
        what = row["dimension"] or row["score"]
        echo(
            f"  {what}: {escape(row['model_b'])} minus {escape(row['model_a'])} {-100 * row['difference']:+.1f} points"
            f", {p_value(row['p_holm'])} after Holm (n = {row['n_questions']})"
        )
