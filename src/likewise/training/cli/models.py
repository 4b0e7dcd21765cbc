"""`likewise train perceptual` and `likewise train finetune`: encoders that learn from people, or from the catalog."""

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
    format_duration,
    open_workspace,
    parse_names,
    progress_bars,
    to_records,
)
from likewise.machine import usable_cores
from likewise.workspace import quoted

if TYPE_CHECKING:
    import polars as pl

    from likewise.training.perceptual.step import PerceptualResult


def perceptual(
    workspace: WorkspacePath,
    encoders: Annotated[
        str | None,
        typer.Option("--with", help="Encoders to build on, comma-separated; all stored ones by default."),
    ] = None,
    triplets: Annotated[
        Path | None, typer.Option(help="A CSV of triplet answers to learn from instead of the labelled pairs.")
    ] = None,
    order: Annotated[
        str, typer.Option(help='With --triplets: its columns, "anchor close far" or "anchor far close".')
    ] = "anchor close far",
    by: Annotated[str, typer.Option(help="With --triplets: the catalog column that the answers name.")] = "item",
    test: Annotated[
        str | None,
        typer.Option(help="COLUMN=VALUE: answers (triplets, or queries) reserved for the final test."),
    ] = None,
    unseen: Annotated[
        str,
        typer.Option(help="What to hold out for measuring: answers, queries, items; the first also selects settings."),
    ] = "queries,items",
    hidden: Annotated[
        str, typer.Option(help="Sizes of the hidden layer to try, comma-separated; 0 is none.")
    ] = "0,512",
    trunk: Annotated[
        str | None,
        typer.Option(help="Train this network whole instead: efficientnet-lite0?size=96, small, hf:ID, ..."),
    ] = None,
    steps: Annotated[
        int, typer.Option(help="With --trunk: maximum number of steps; cross-validation chooses.", min=1)
    ] = 200,
    batch: Annotated[int, typer.Option(help="With --trunk: answers per step.", min=1)] = 64,
    rate: Annotated[float, typer.Option("--lr", help="With --trunk: learning rate.")] = 1e-4,
    name: Annotated[str, typer.Option(help="Name of the encoder in runs/.")] = "perceptual",
    half: HalfOption = None,
    folds: Annotated[int, typer.Option(help="Number of folds of the cross-validation.", min=2)] = 5,
    quick: Annotated[
        bool, typer.Option("--quick", help="No hidden layer, three folds, one way to hold out: a first look.")
    ] = False,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an encoder of the same name.")] = False,
    as_json: AsJson = False,
) -> None:
    """Learn from experts what looks alike: an adapter over stored vectors, or a whole network.

    It is measured on held-out answers and compared with every stored encoder.

    Example: `likewise train perceptual shoes`, then `likewise encode shoes --with run:perceptual`

    Example: `likewise train perceptual stones --triplets answers.csv --unseen answers,items`

    Example: `likewise train perceptual shoes --trunk efficientnet-lite0?size=96 --name seeing`
    """
    from likewise.training.perceptual.settings import NetworkPlan, PerceptualSettings, quick_settings
    from likewise.training.perceptual.step import train_perceptual

    target = open_workspace(workspace)
    settings = PerceptualSettings(
        bases=tuple(parse_names(encoders)),
        triplets=triplets,
        order=order,
        by=by,
        test=test,
        unseen=tuple(parse_names(unseen)),  # type: ignore[arg-type]  # checked by the step
        hidden=tuple(int(size) for size in parse_names(hidden)),
        half=half,
        trunk=NetworkPlan(trunk, steps, batch=batch, rate=rate) if trunk else None,
        n_folds=folds,
        seed=seed,
    )
    settings = quick_settings(settings) if quick else settings
    with progress_bars("steps") as update:
        done = train_perceptual(target, settings, name, force=force, on_start=_print_expected, on_progress=update)
    if as_json:
        summary = {key: value for key, value in done.summary.to_dict().items() if key != "queries"}
        echo_json(
            {"summary": summary, "results": to_records(done.results), "calibration": to_records(done.reliability.bins)}
        )
        return
    _print_perceptual(workspace, done)


def finetune(
    workspace: WorkspacePath,
    encoder: Annotated[str, typer.Option("--with", help="The torch encoder to fine-tune, such as efficientnet-lite0.")],
    task: Annotated[
        str, typer.Option(help="id (items), cat (categories), id+c (both) or dino (no labels at all).")
    ] = "cat",
    epochs: Annotated[int, typer.Option(help="Number of epochs.", min=1)] = 50,
    batch: Annotated[int, typer.Option(help="Images per step.", min=1)] = 32,
    rate: Annotated[float, typer.Option("--lr", help="Learning rate.")] = 1e-4,
    weight_decay: Annotated[float, typer.Option(help="Weight decay; for dino it grows tenfold.")] = 1e-4,
    where: Annotated[str | None, typer.Option(help="COLUMN=VALUE: restrict the images; all by default.")] = None,
    half: HalfOption = None,
    leave_out: Annotated[
        str | None, typer.Option(help='Categories to ignore, comma-separated: "Other,Not sure".')
    ] = None,
    small_crops: Annotated[int, typer.Option(help="With dino: small crops per picture.", min=0)] = 4,
    name: Annotated[str | None, typer.Option(help="Name of the encoder in runs/.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Fine-tune a network on the catalog's item ids, its categories, both, or without labels.

    An interrupted run continues. Encode the result, and the report shows its effect on discovery and identification.

    Example: `likewise train finetune shoes --with efficientnet-lite0 --task id`
    """
    from likewise.training.finetune.step import CURVE, FinetuneSettings
    from likewise.training.finetune.step import finetune as train
    from likewise.training.report.finetuning import write_curve

    target = open_workspace(workspace)
    settings = FinetuneSettings(
        encoder=encoder,
        task=task,  # type: ignore[arg-type]  # checked by the step
        epochs=epochs,
        batch=batch,
        rate=rate,
        weight_decay=weight_decay,
        where=where,
        half=half,
        leave_out=tuple(parse_names(leave_out)),
        n_local=small_crops,
        seed=seed,
    )
    with progress_bars("batches") as update:
        done = train(target, settings, name or default_name(encoder, task), on_progress=update, on_curve=write_curve)
    picture = done.run.folder / CURVE
    if as_json:
        echo_json({"summary": done.summary.to_dict(), "curve": to_records(done.curve)})
        return
    summary = done.summary
    several = {"item": "items", "category": "categories"}
    classes = ", ".join(f"{count:,} {several[head]}" for head, count in summary.n_classes.items()) or "no labels"
    echo(
        f"{escape(done.run.name)}: {escape(encoder)} trained for {epochs} epochs on {summary.n_images:,} images "
        f"({classes}); loss {summary.loss_first:.3f} to {summary.loss_last:.3f}, see {escape(picture)}"
    )
    echo(f"[dim]next: likewise encode {escape(quoted(workspace))} --with run:{escape(done.run.name)}[/]")


def default_name(encoder: str, task: str) -> str:
    """Such as efficientnet-lite0-id-c."""
    from likewise.encoders.spec import spec_name

    return f"{spec_name(encoder)}-{task.replace('+', '-')}"


def _print_expected(seconds: float) -> None:
    """On standard error, as progress is: standard output may be JSON."""
    text = f"choosing and learning takes about {format_duration(seconds)} on {usable_cores()} cores of this machine"
    typer.echo(text, err=True)


def _print_perceptual(workspace: Path, done: "PerceptualResult") -> None:
    summary = done.summary
    echo(
        f"{done.run.name}: learned from {summary.n_answers:,} answers ({summary.n_votes:,} votes) "
        f"over {', '.join(map(escape, summary.bases))}; {done.run.dim} dimensions"
    )
    for kind in done.results["unseen"].unique(maintain_order=True):
        _print_results(done.results, kind)
    from likewise.report.formatting import interval, points
    from likewise.training.perceptual.comparison import encoders_better_than_learned, learning_verdict

    ahead, verdict = encoders_better_than_learned(done.results), learning_verdict(done.results)
    if verdict and not ahead:
        ends = interval(verdict.low, verdict.high, signed=True)
        lead = f"{points(verdict.gain)} points ({ends}) against {escape(verdict.best_other)}"
        if verdict.helped:
            echo(f"[bold]learning helped:[/] {lead}, the best encoder it was compared with")
        else:
            echo(f"[bold]no improvement shown:[/] {lead}, which is not significant: more answers would tell")
    if ahead:
        echo(
            f"[bold]not an improvement:[/] {', '.join(map(escape, ahead))} agrees significantly better with people "
            "on held-out answers: collect more answers before you use this encoder."
        )
    curve = summary.calibration
    echo(
        f"chosen: {summary.chosen}; probabilities are off by "
        f"{100 * curve.expected_error:.1f} points on average ({curve.n_votes:,} unseen votes)"
    )
    if not ahead:
        echo(f"[dim]next: likewise encode {escape(quoted(workspace))} --with run:{escape(done.run.name)}[/]")


def _print_results(results: "pl.DataFrame", kind: str) -> None:
    import polars as pl
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import change_with_interval, print_few_queries, rounded_p, with_interval
    from likewise.training.learned_cards import HELD_OUT

    here = results.filter(pl.col("unseen") == kind)
    measure = here["measure"][0]
    rows = here.filter(pl.col("measure") == measure).sort("value", descending=True)
    table = Table(title=f"On {HELD_OUT[kind]}: {measure} (%)", title_justify="left", box=SIMPLE)
    for header in ("model", measure, "learned minus this", "p (Holm)"):
        table.add_column(header, justify="left" if header == "model" else "right")
    for row in rows.iter_rows(named=True):
        p = "" if row["p_holm"] is None else rounded_p(row["p_holm"])
        gain = "" if row["p_holm"] is None else change_with_interval(row["gain"], row["gain_low"], row["gain_high"])
        table.add_row(escape(row["encoder"]), with_interval(row["value"], row["low"], row["high"]), gain, p)
    console().print(table)
    first = rows.row(0, named=True)
    echo(f"[dim]{first['n_answers']:,} answers to {first['n_queries']:,} queries; intervals are 95 %[/]")
    print_few_queries(first["n_queries"])
