"""`likewise outfits benchmark`, `order` and `checkpoints`: the questions of data sets beside a test of taste."""

from pathlib import Path
from typing import Annotated, Any

import typer

from likewise.cli.console import (
    AsJson,
    Seed,
    WorkspacePath,
    console,
    echo,
    echo_json,
    escape,
    open_workspace,
    parse_names,
    progress_bars,
)
from likewise.errors import LikewiseError

Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="random, mean-cosine:ENCODERS, a trained model; may be repeated."),
]
ModelsFolder = Annotated[Path | None, typer.Option("--models", help="The folder of trained models.")]


def benchmark(
    workspace: WorkspacePath,
    model: Models = None,
    models: ModelsFolder = None,
    split: Annotated[str, typer.Option(help="Split of the data set: test, valid or train.")] = "test",
    folds: Annotated[
        int, typer.Option(help="Train and test on so many item-disjoint folds of the outfits; 0: the data's questions.")
    ] = 0,
    outfits: Annotated[Path | None, typer.Option(help="With --folds: a table `outfit, item`.")] = None,
    encoders: Annotated[str, typer.Option("--with", help="With --folds: encoders joined by `+`.")] = "",
    words: Annotated[
        bool, typer.Option("--words", help="With --folds: also train every kind on words predicted from the vectors.")
    ] = False,
    hard: Annotated[
        str | None, typer.Option(help="With --folds: columns that the choices of hard questions share.")
    ] = None,
    preset: Annotated[str, typer.Option(help="With --folds: quick, usual or paper.")] = "usual",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Fill-in-the-blank accuracy and compatibility AUC on a data set of outfits, with counts and coverage.

    With --folds the outfits need no questions and no split: every kind of model is trained on outfits without any
    item of the outfits it is tested on.

    Example: `likewise outfits benchmark polyvore --model mean-cosine:efficientnet-lite0 --split valid`

    Example: `likewise outfits benchmark looks --outfits outfits.csv --folds 5 --with efficientnet-lite0`
    """
    if folds:
        from likewise.outfits.benchmark.cross_validation import CrossValidationRequest
        from likewise.outfits.cli.folds import print_cross_validation

        request = CrossValidationRequest(
            tuple(model or ()), encoders, outfits, folds, words, tuple(parse_names(hard)), preset, seed
        )
        print_cross_validation(open_workspace(workspace), request, as_json=as_json)
        return
    import polars as pl

    from likewise.catalog.table import read_catalog
    from likewise.outfits.models.feature_source import WorkspaceFeatures
    from likewise.outfits.models.registry import open_model
    from likewise.outfits.polyvore import evaluate_benchmark, read_outfit_benchmark
    from likewise.outfits.screening import benchmark_set, screen_outfit_models
    from likewise.workspace import write_parquet

    target = open_workspace(workspace)
    if not model:
        raise LikewiseError("there is no model to measure: add `--model random`, or train them with `--folds 5`.")
    asked = read_outfit_benchmark(target, split)
    with progress_bars("models") as update:
        opened = [open_model(text, WorkspaceFeatures(target), models) for text in model]
        screening = screen_outfit_models(opened, benchmark_set(asked, read_catalog(target), target.path.name))
        tables = []
        for place, each in enumerate(opened):
            update("models", place, len(model))
            name = pl.lit(screening.marked(each.name)).alias("model")
            tables.append(evaluate_benchmark(each, asked).with_columns(name))
    results, notes = pl.concat(tables), screening.notes([each.name for each in opened])
    path = target.results_folder / f"outfits-{split}.parquet"
    write_parquet(results, path)
    if as_json:
        echo_json(results.to_dicts())
        return
    rows = [(row["model"], row["test"], row) for row in results.iter_rows(named=True)]
    _print("Data-set questions (%)", ("model", "test"), rows)
    for note in notes:
        echo(escape(note))
    echo(f"{escape(path)}")


def order(
    scores: Annotated[Path, typer.Argument(metavar="RESULTS", help="The results folder of `outfits score`.")],
    sets: Annotated[list[Path], typer.Option("--set", help="A results table of `outfits benchmark`; may be repeated.")],
    as_json: AsJson = False,
) -> None:
    """Compare the order of models by vote over test sets with their order under a test (sec. 4.1).

    Example: `likewise outfits order taste-results --set maryland/results/outfits-test.parquet`
    """
    from likewise.outfits.orders import benchmark_values, compare_orders, taste_score_values
    from likewise.workspace import read_parquet

    by_set = {str(path): benchmark_values(read_parquet(path, "likewise outfits benchmark WORKSPACE")) for path in sets}
    table = read_parquet(scores / "scores.parquet", "likewise outfits score TEST")
    orders = compare_orders(by_set, taste_score_values(table))
    if as_json:
        echo_json(
            {"by_vote": orders.by_vote, "votes": orders.votes, "under": orders.by_score, "kendall": orders.kendall}
        )
        return
    echo(f"by vote over {len(sets)} test sets: " + " > ".join(escape(name) for name in orders.by_vote))
    for score, names in orders.by_score.items():
        verdict = "the same order" if orders.agrees[score] else f"Kendall's tau {orders.kendall[score]:.2f}"
        echo(f"  by {score}: " + " > ".join(escape(name) for name in names) + f"  ({verdict})")


def checkpoints(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a trained model.", show_default=False)],
    test: Annotated[
        Path, typer.Argument(metavar="TEST", help="The test whose LAT and AAT select.", show_default=False)
    ],
    report_on: Annotated[Path | None, typer.Option(help="Another test, which takes no part in the selection.")] = None,
    sets: Annotated[list[Path] | None, typer.Option("--set", help="A workspace of a data set with questions.")] = None,
    split: Annotated[str, typer.Option(help="Split of the data set.")] = "test",
    trainings: Annotated[
        list[Path] | None,
        typer.Option("--training", help="MODEL trained with another seed, again for more: tested over all of them."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="The folder of results; MODEL/checkpoints by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Select the checkpoint by loss, by accuracy, by LAT or by AAT, and compare (Table 4).

    Example: `likewise outfits checkpoints ws/outfit_models/csn taste.zip --report-on taste2.zip`
    """
    from likewise.outfits.checkpoints import JUDGES, count_wins
    from likewise.outfits.checkpoints_step import compare_checkpoint_files
    from likewise.outfits.judge_test import compare_judges
    from likewise.outfits.report.checkpoints import write_checkpoints_page
    from likewise.report.formatting import p_value
    from likewise.workspace import write_parquet

    folders = {model: output or model / "checkpoints"} | {each: each / "checkpoints" for each in trainings or []}
    with progress_bars("epochs") as update:
        every = [
            compare_checkpoint_files(each, test, folder, report_on, sets or [], split, update)
            for each, folder in folders.items()
        ]
    made, compared = every[0], compare_judges([each.table for each in every])
    write_parquet(compared.table, folders[model] / "judges.parquet")
    page = write_checkpoints_page(made, folders[model], model.name, compared)
    facts: dict[str, Any] = {
        "chosen": made.chosen,
        "table": made.table.to_dicts(),
        "curves": made.curves.to_dicts(),
        "judges": compared.table.to_dicts(),
        "n_trainings": compared.n_trainings,
        "n_trainings_needed": compared.n_needed,
    }
    if as_json:
        echo_json(facts)
        return
    echo(compared.describe_power())
    rows = [
        (JUDGES[row["judge"]], f"{row['test']} (epoch {row['epoch']})", row) for row in made.table.iter_rows(named=True)
    ]
    _print("Each judge's checkpoint, measured on everything (%)", ("chosen by", "test"), rows)
    for judge in made.chosen:
        if judge != "validation":
            better, equal, worse = count_wins(made.table, judge)
            counts = f"{better} better, {equal} equal, {worse} worse"
            echo(f"  {JUDGES[judge]} against {JUDGES['validation']}, on tests of neither: {counts}")
    for row in compared.table.iter_rows(named=True) if compared.tested else ():
        gain = f"{100 * row['difference']:+.1f} ({100 * row['low']:+.1f} to {100 * row['high']:+.1f})"
        echo(f"  {JUDGES[row['judge']]} on {escape(row['test'])}: {gain} points, {p_value(row['p_holm'])} after Holm")
    echo(f"{escape(page)}")


def _value(row: dict[str, Any]) -> str:
    """The value with its interval, where it has one."""
    from likewise.cli.tables import percent, with_interval

    if row["low"] is None:
        return percent(row["value"])
    return with_interval(row["value"], row["low"], row["high"])


def _print(title: str, heads: tuple[str, str], rows: list[tuple[str, str, dict[str, Any]]]) -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import percent

    table = Table(title=title, title_justify="left", box=SIMPLE)
    for name in (*heads, "value", "chance", "n", "of"):
        table.add_column(name, justify="left" if name in heads else "right")
    for first, second, row in rows:
        counts = ("" if row[name] is None else f"{row[name]:,}" for name in ("n", "n_total"))
        table.add_row(
            escape(first),
            escape(second),
            _value(row),
            percent(row["chance"]),
            *counts,
        )
    console().print(table)
