"""`likewise train lessons`: what accuracy numbers cannot see, on one's own encoders."""

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
    open_workspace,
    parse_names,
    single_progress_bar,
    to_records,
)

if TYPE_CHECKING:
    import polars as pl

    from likewise.training.lessons.step import MetricLessons

TITLES = {
    "toy": "Three toy spaces: P@1 and F1 hardly tell them apart, MAP@R does (%)",
    "random": "Random vectors: NMI grows with the number of classes (%)",
    "trunks": "Encoders as they are and reduced by PCA, on classes that PCA has not seen (%)",
    "classes": "Your encoders on more and more classes (%)",
    "nmi": "NMI beside what knows nothing (%)",
    "trade_offs": "Who is chosen by one measure, and how many points behind the best by the others",
}
SHORT = {"R_Precision": "RP", "n_classes": "classes", "n_images": "images", "reduced": "PCA to"}


def lessons(
    workspace: WorkspacePath,
    column: Annotated[str, typer.Option(help="The catalog column whose equal values are one class.")] = "item",
    encoders: Annotated[
        str | None, typer.Option("--with", help="Encoders, comma-separated; every one that has vectors by default.")
    ] = None,
    max_images: Annotated[int, typer.Option(min=10, help="About so many images, of whole classes.")] = 4000,
    random_points: Annotated[int, typer.Option(min=100, help="Number of random vectors.")] = 10_000,
    untrained: Annotated[
        str | None,
        typer.Option(
            help="Networks at their starting weights to show beside your encoders, comma-separated: small, "
            "efficientnet-lite0, hf:ID.",
            show_default="small, where torch is installed",
        ),
    ] = None,
    half: HalfOption = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Show what accuracy numbers cannot see, on toy spaces, on random vectors and on your own encoders.

    Which measures tell good spaces from bad ones, what they say by chance, how they move with the number of classes,
    how good every stored encoder is before any training (raw, and reduced by PCA), what an untrained network scores,
    and what choosing by one measure costs.

    Example: `likewise train lessons birds --column category`

    Example: `likewise train lessons birds --column category --untrained small,efficientnet-lite0`
    """
    from likewise.training.lessons.step import run_metric_lessons
    from likewise.training.report.lessons import write_lessons_page

    target = open_workspace(workspace)
    with single_progress_bar("lessons") as update:
        done = run_metric_lessons(
            target,
            column,
            parse_names(encoders),
            max_images=max_images,
            random_points=random_points,
            untrained=None if untrained is None else parse_names(untrained),
            half=half,
            seed=seed,
            on_progress=update,
        )
    page = write_lessons_page(done, workspace.name)
    if as_json:
        echo_json({name: to_records(table) for name, table in done.tables.items()} | {"notes": done.notes})
        return
    _print(done)
    echo(f"everything is in [bold]{escape(done.folder)}[/]; look at [bold]{escape(page)}[/]")


def _print(done: "MetricLessons") -> None:
    for name, title in TITLES.items():
        _print_table(title, done.tables[name])
    echo(
        f"[dim]{done.n_images:,} images of {done.n_classes:,} classes of {escape(done.column)}; PCA is fitted on the "
        "first half of the classes and measured on the second; clusters by k-means with the true number of classes[/]"
    )
    for note in done.notes:
        echo(escape(note))


def _print_table(title: str, table: "pl.DataFrame") -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    shown = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    for column in table.columns:
        heading = SHORT.get(column, column.replace("R_Precision", "RP").replace(" ", "\n"))
        shown.add_column(heading, justify="left" if table[column].dtype.is_(str) else "right")
    for row in table.iter_rows():
        shown.add_row(*(_cell(value) for value in row))
    console().print(shown)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{100 * value:.1f}".replace("-0.0", "0.0")
    return escape(value) if isinstance(value, str) else f"{value:,}"
