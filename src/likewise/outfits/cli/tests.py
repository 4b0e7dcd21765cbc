"""`likewise outfits score` and `show`: tests of taste as bundles, and models that take them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import AsJson, console, echo, echo_json, escape, progress_bars
from likewise.errors import LikewiseError

if TYPE_CHECKING:
    import polars as pl

TestPath = Annotated[Path, typer.Argument(metavar="TEST", help="The test: a folder or zip.", show_default=False)]
MODELS_BESIDE = 6  # in one table; more would not fit 80 columns


def show(
    test: TestPath, checksum: Annotated[str | None, typer.Option(help="Refuse a test with another checksum.")] = None
) -> None:
    """Verify a test and print its card.

    Example: `likewise outfits show taste.zip`
    """
    from likewise.outfits.bundle import card_text, open_test

    opened = open_test(test, checksum)
    console().print(card_text(opened), markup=False)
    echo(f"every file matches; checksum {opened.card['checksum']}")


def score(
    test: TestPath,
    model: Annotated[
        list[str] | None,
        typer.Option(help="random, mean-cosine:ENCODERS, a trained model (folder or name); may be repeated."),
    ] = None,
    answers: Annotated[
        list[Path] | None,
        typer.Option(help="Answers from elsewhere: a table `question, choice` or `question, scores`."),
    ] = None,
    models: Annotated[Path | None, typer.Option(help="The folder of trained models.")] = None,
    output: Annotated[Path | None, typer.Option(help="The folder of results; TEST-results by default.")] = None,
    page: Annotated[bool, typer.Option(help="Also write a page with all questions.")] = True,
    as_json: AsJson = False,
) -> None:
    """Score models on a test: LATs, mLATs, AATs, every index, chance levels and significant differences.

    Example: `likewise outfits score taste.zip --model random --model mean-cosine:colour+shape`
    """
    from likewise.outfits.bundle import open_test
    from likewise.outfits.models.registry import open_model
    from likewise.outfits.results import (
        AnswersFile,
        OutfitTestFeatures,
        OutfitTestResults,
        results_summary,
        score_models,
    )

    if not model and not answers:
        raise LikewiseError("there is no model to test: add `--model random`, or `--answers mine.csv`.")
    results = OutfitTestResults(open_test(test), output or test.with_name(f"{test.stem}-results"))
    with progress_bars("steps") as update:
        features = OutfitTestFeatures(results, update)
        opened = [open_model(text, features, models) for text in model or []]
        scored = score_models(
            results, [*opened, *(AnswersFile(path.stem, path) for path in answers or [])], on_progress=update
        )
        if page:
            from likewise.outfits.report.taste import write_taste_page

            write_taste_page(results, scored)
    if as_json:
        echo_json(results_summary(results, scored) | {"differences": scored.differences.to_dicts()})
        return
    print_scores(scored.scores)
    for note in scored.notes:
        echo(escape(note))
    close = scored.differences.filter(
        ~scored.differences["significant"] & scored.differences["score"].is_in(["LATs", "AATs"])
    )
    for row in close.iter_rows(named=True):
        echo(f"  no significant difference in {row['score']}: {escape(row['model_a'])} and {escape(row['model_b'])}")
    echo(f"{escape(results.page if page else results.folder)}: {len(results.test.questions)} questions")


def print_scores(scores: "pl.DataFrame") -> None:
    """Six models beside each other, then the next."""
    models = scores["model"].unique(maintain_order=True).to_list()
    for start in range(0, len(models), MODELS_BESIDE):
        console().print(_table(scores, models[start : start + MODELS_BESIDE]))


def _table(scores: "pl.DataFrame", columns: list[str]) -> object:
    """Models as columns, scores as rows; intervals under the numbers. Nothing is cut: long names go on below."""
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import over_interval, percent

    shown = scores.filter(scores["sub_dimension"].is_null())
    title = "Taste: right or shared answers (%), with 95 % intervals"
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    for name in ("score", "n", "chance"):
        table.add_column(name, justify="left" if name == "score" else "right", no_wrap=True)
    for name in columns:
        table.add_column(escape(name), justify="right", overflow="fold")
    for (label, dimension), rows in shown.group_by("score", "dimension", maintain_order=True):
        by_model = {row["model"]: row for row in rows.iter_rows(named=True)}
        first = rows.row(0, named=True)
        cells = [
            over_interval(by_model[name]["value"], by_model[name]["low"], by_model[name]["high"], digits=0)
            for name in columns
        ]
        table.add_row(str(dimension or label), f"{first['n_questions']}", percent(first["chance"]), *cells)
    return table
