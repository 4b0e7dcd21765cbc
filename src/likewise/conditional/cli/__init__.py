"""`likewise condition ...`: similarity under a condition, from templates to a trained Combiner."""

import typer

from likewise.conditional.cli import ask, catalog, condition, mine, templates, text, train

app = typer.Typer(
    name="condition",
    help='Similarity under a condition: "like this, but in red".',
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.command("ask")(ask.ask)
app.command("mine")(mine.mine)
app.command("build")(condition.build)
app.command("audit")(condition.audit)
app.command("evaluate")(condition.evaluate)
app.command("catalog")(catalog.catalog)
app.command("two-tower")(train.two_tower)
app.command("train")(train.train)
app.command("train-text")(text.train_text)
app.command("study")(train.study)
app.command("verify")(templates.verify)
app.command("verified")(templates.verified)
app.command("crops")(templates.crops)
app.command("submit")(templates.submit)
