"""`likewise retrieval` and `likewise triplets`: a catalog's own classes, or people's triplet answers, as the truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import AsJson, Seed, WorkspacePath, console, names, opened, progress, records, say, say_json

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

With = Annotated[
    str | None, typer.Option("--with", help="Encoders, comma-separated; every one that has vectors by default.")
]
Resamples = Annotated[int, typer.Option(help="Bootstrap resamples for the 95 % intervals.")]


def retrieval(
    workspace: WorkspacePath,
    by: Annotated[str, typer.Option(help="The catalog column whose equal values are one class.")] = "item",
    encoders: With = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    clusters: Annotated[bool, typer.Option("--clusters", help="Also NMI, AMI and F1 of k-means.")] = False,
    as_json: AsJson = False,
) -> None:
    """Class-based retrieval: P@1, R-Precision, MAP@R and MRR by the classes of a catalog column.

    Example: `likewise retrieval birds --by category`
    """
    from likewise.encoders.store import read_vectors
    from likewise.evaluation.by_column import by_column
    from likewise.evaluation.clustering import clustering, clustering_table
    from likewise.evaluation.retrieval import retrieval as measure
    from likewise.evaluation.retrieval import retrieval_table
    from likewise.workspace import write_parquet

    target = opened(workspace)
    known = by_column(target, by, names(encoders))
    found, grouped = {}, {}
    with progress("models") as update:
        for done, name in enumerate(known.encoders):
            update("retrieval", done, len(known.encoders))
            vectors = read_vectors(target, name, known.images)
            found[name] = measure(vectors, known.values)
            if clusters:
                grouped[name] = clustering(vectors, known.values, seed=seed)
    tables = {"retrieval": retrieval_table(found, n_resamples=resamples, seed=seed)}
    if clusters:
        tables["clustering"] = clustering_table(grouped)
    for name, table in tables.items():
        write_parquet(table, target.results_folder / f"{name}.parquet")
    if as_json:
        say_json({name: records(table) for name, table in tables.items()})
        return
    console().print(_by_encoder(tables["retrieval"], f"Images of the same {by} (%)"))
    first = tables["retrieval"].row(0, named=True)
    say(f"[dim]{first['n_queries']} of {first['n_queries_total']} images have another one of their {by}[/]")
    if clusters:
        console().print(_clusters(tables["clustering"]))


def triplets(
    workspace: WorkspacePath,
    answers: Annotated[Path, typer.Argument(metavar="TRIPLETS", help="A CSV of answers.", show_default=False)],
    order: Annotated[str, typer.Option(help='The order of its columns: "anchor close far" or "anchor far close".')],
    by: Annotated[str, typer.Option(help="The catalog column the answers name.")] = "item",
    encoders: With = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Agreement with people's answers to "which of two looks more like the reference?".

    Example: `likewise triplets stones answers.csv --order "anchor close far"`
    """
    from likewise.encoders.store import read_vectors
    from likewise.evaluation.by_column import by_column
    from likewise.evaluation.triplet_file import read_triplets
    from likewise.evaluation.triplets import agreement, agreement_table, item_vectors
    from likewise.workspace import write_parquet

    target = opened(workspace)
    asked, known = read_triplets(answers, order), by_column(target, by, names(encoders))
    vectors = {name: read_vectors(target, name, known.images) for name in known.encoders}
    found = {name: agreement(asked, item_vectors(each, known.values)) for name, each in vectors.items()}
    table = agreement_table(found, n_resamples=resamples, seed=seed)
    write_parquet(table, target.results_folder / "triplets.parquet")
    if as_json:
        say_json(records(table))
        return
    console().print(_by_encoder(table, "Agreement with people's triplet answers (%)"))
    first = table.row(0, named=True)
    say(f"[dim]{first['n_triplets']:,} of {first['n_triplets_total']:,} triplets, {first['n_queries']} references[/]")


def _by_encoder(table: "pl.DataFrame", title: str) -> "Table":
    """One row per encoder, best first metric first, with its interval."""
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import percent, with_interval

    metrics = table["metric"].unique(maintain_order=True).to_list()
    cells = {(row["encoder"], row["metric"]): row for row in table.iter_rows(named=True)}
    shown = Table(title=title, title_justify="left", box=SIMPLE)
    shown.add_column("model")
    for metric in metrics:
        shown.add_column(metric, justify="right")
    encoders = table["encoder"].unique(maintain_order=True).to_list()
    for name in sorted(encoders, key=lambda name: -(cells[name, metrics[0]]["value"] or 0.0)):
        first = cells[name, metrics[0]]
        others = (percent(cells[name, metric]["value"]) for metric in metrics[1:])
        shown.add_row(name, with_interval(first["value"], first["low"], first["high"]), *others)
    return shown


def _clusters(table: "pl.DataFrame") -> "Table":
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import percent

    shown = Table(title="k-means with the true number of classes (%)", title_justify="left", box=SIMPLE)
    for header in ("model", "metric", "value", "by chance", "random vectors, formula"):
        shown.add_column(header)
    for row in table.iter_rows(named=True):
        numbers = (percent(row[name]) for name in ("value", "chance", "random_formula"))
        shown.add_row(row["encoder"], row["metric"], *numbers)
    return shown
