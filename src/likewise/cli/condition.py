"""`likewise condition …` and `likewise ask`: similarity under a condition, "like this, but in red"."""

import typer

app = typer.Typer(
    name="condition",
    help='Similarity under a condition: "like this, but in red".',
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
