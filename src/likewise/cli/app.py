"""All commands under one name: those of the core here, those of extensions behind them."""

from typing import Annotated

import typer

from likewise import __version__
from likewise.cli import (
    bundle,
    bundle_files,
    demo,
    discover,
    encode,
    evaluate,
    explore,
    gate,
    label,
    lists,
    new,
    plan,
    report,
    search,
    simulate,
    status,
    update,
)
from likewise.cli.extension_commands import GroupWithExtensions

app = typer.Typer(
    name="likewise",
    cls=GroupWithExtensions,
    help="Which model finds what looks alike to people?",
    epilog="Start with `likewise demo`, or `likewise new shoes ~/photos/shoes`.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

label.app.command("simulate")(simulate.simulate)
planning = typer.Typer(help="Estimate the cost of labelling or computing before it starts.", no_args_is_help=True)
planning.command("labels")(discover.budget)
planning.command("compute")(plan.compute)
bundles = typer.Typer(help="Publish a benchmark, leaderboard, TREC run, vectors or encoder.", no_args_is_help=True)
bundles.command("benchmark")(bundle.benchmark)
bundles.command("leaderboard")(bundle.leaderboard)
bundles.command("mteb-results")(bundle.mteb_results)
bundles.command("run")(bundle_files.export_run)
bundles.command("vectors")(bundle_files.bundle_vectors)
bundles.command("encoder")(bundle_files.bundle_encoder)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"likewise {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Which model finds what looks alike to people?"""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command("new", short_help="Make a workspace from a folder of images, a table or a data set.")(new.new)
app.command("update", short_help="Bring the catalog up to date; votes, labels and vectors stay.")(update.update)
app.command("encode", short_help="Turn every image into a vector, once per encoder.")(encode.encode)
app.command("discover", short_help="Choose the pairs that experts will label.")(discover.discover)
app.add_typer(label.app, name="label")
app.command("evaluate", short_help="Measure every model against labels, classes or triplets.")(evaluate.evaluate)
app.command("report", short_help="Write one self-contained page with every number.")(report.report)
app.command("explore", short_help="Look at the catalog through its models, in the browser.")(explore.explore)
app.command("search", short_help="Show what every model finds for a picture; needs no labels.")(search.search)
app.command("status")(status.status)
app.command("gate", short_help="Is a new model at least as good as the old one? For CI.")(gate.gate)
app.add_typer(planning, name="plan")
app.add_typer(lists.app, name="list")
app.add_typer(bundles, name="bundle")
app.command("demo", short_help="Run every step on a drawn wardrobe, in a minute.")(demo.demo)
