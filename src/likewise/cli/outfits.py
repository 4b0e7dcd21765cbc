"""`likewise outfits ...`: outfits, tests of taste, and models that take them."""

import typer

app = typer.Typer(
    help="The stylist's room: generate outfits, make a test of taste (A100), take it.", no_args_is_help=True
)


@app.callback()
def outfits() -> None:
    """The stylist's room: generate outfits, make a test of taste (A100), take it."""
