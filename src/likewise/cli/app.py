"""All commands under one name: those of the core here, those of extensions behind them."""

from typing import Annotated

import typer

from likewise import __version__
from likewise.cli import (
    bundle,
    demo,
    discover,
    encode,
    evaluate,
    exchange,
    label,
    new,
    plan,
    report,
    retrieval,
    simulate,
    status,
)
from likewise.cli.extension_commands import GroupWithExtensions

app = typer.Typer(
    name="likewise",
    cls=GroupWithExtensions,
    help="Which model finds what looks alike to people?",
    epilog="Start with `likewise demo`, or `likewise new shoes ~/photos/shoes`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"likewise {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Which model finds what looks alike to people?"""


app.command("new")(new.new)
app.command("readers")(new.readers)
app.command("encode")(encode.encode)
app.add_typer(encode.app, name="encoders")
app.command("discover")(discover.discover)
app.command("budget")(discover.budget)
app.add_typer(label.app, name="label")
app.command("simulate")(simulate.simulate)
app.command("evaluate")(evaluate.evaluate)
app.command("retrieval")(retrieval.retrieval)
app.command("triplets")(retrieval.triplets)
app.command("report")(report.report)
app.command("leaderboard")(bundle.leaderboard)
app.command("bundle")(bundle.bundle)
app.command("import-labels")(exchange.import_labels)
app.command("export-labels")(exchange.export_labels)
app.command("export-run")(exchange.export_run)
app.command("plan")(plan.plan)
app.command("status")(status.status)
app.command("demo")(demo.demo)
