"""All commands under one name."""

from typing import Annotated

import typer

from likewise import __version__
from likewise.cli import (
    ask,
    bundle,
    condition,
    condition_more,
    condition_train,
    demo,
    discover,
    encode,
    evaluate,
    exchange,
    label,
    mine,
    new,
    outfits,
    plan,
    report,
    retrieval,
    status,
    train,
)

app = typer.Typer(
    name="likewise",
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
app.command("simulate")(label.simulate)
app.command("evaluate")(evaluate.evaluate)
app.command("retrieval")(retrieval.retrieval)
app.command("triplets")(retrieval.triplets)
app.add_typer(train.app, name="train")
app.add_typer(outfits.app, name="outfits")
condition.app.command("two-tower")(condition_train.two_tower)
condition.app.command("train")(condition_train.train)
condition.app.command("study")(condition_train.study)
condition.app.command("verify")(condition_more.verify)
condition.app.command("verified")(condition_more.verified)
condition.app.command("crops")(condition_more.crops)
condition.app.command("submit")(condition_more.submit)
app.add_typer(condition.app, name="condition")
app.command("ask")(ask.ask)
app.command("mine")(mine.mine)
app.command("report")(report.report)
app.command("leaderboard")(bundle.leaderboard)
app.command("bundle")(bundle.bundle)
app.command("import-labels")(exchange.import_labels)
app.command("export-labels")(exchange.export_labels)
app.command("export-run")(exchange.export_run)
app.command("plan")(plan.plan)
app.command("status")(status.status)
app.command("demo")(demo.demo)
