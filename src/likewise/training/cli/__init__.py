"""`likewise train ...`: models that learn from the catalog, or from people, under rules that do not fool their user."""

import typer

from likewise.training.cli import check, lessons, models

app = typer.Typer(help="Compare losses fairly, fine-tune, or learn from experts' votes.", no_args_is_help=True)


@app.callback()
def train() -> None:
    """Train models: the fair check of losses, fine-tuning, and learning from experts."""


app.command("check")(check.check)
app.command("lessons")(lessons.lessons)
app.command("perceptual")(models.perceptual)
app.command("finetune")(models.finetune)
