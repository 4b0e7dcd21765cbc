"""`likewise retrieval` and `likewise triplets`: a catalog's own classes, or people's triplet answers, as the truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import AsJson, Seed, WorkspacePath, console, names, opened, progress, records, say, say_json
from likewise.errors import LikewiseError

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
    import polars as pl

    from likewise.catalog import read_catalog
    from likewise.encoders.store import common_images, read_vectors
    from likewise.evaluation.clustering import clustering, clustering_table
    from likewise.evaluation.retrieval import retrieval as measure
    from likewise.evaluation.retrieval import retrieval_table
    from likewise.workspace import write_parquet

    target = opened(workspace)
    catalog = read_catalog(target)
    if by not in catalog.columns:
        raise LikewiseError(f"the catalog has no column {by!r}: choose one of {', '.join(catalog.columns)}.")
    chosen = names(encoders) or target.encoders()
    if not chosen:
        raise LikewiseError(f"there are no vectors in {workspace} yet: run `likewise encode {workspace}`.")
    labelled = catalog.filter(pl.col(by).is_not_null())
    images = common_images(target, chosen, labelled["image"].to_list())
    labels = labelled.filter(pl.col("image").is_in(images))[by].cast(pl.String).to_list()
    found, grouped = {}, {}
    with progress("models") as update:
        for done, name in enumerate(chosen):
            update("retrieval", done, len(chosen))
            vectors = read_vectors(target, name, images)
            found[name] = measure(vectors, labels)
            if clusters:
                grouped[name] = clustering(vectors, labels, seed=seed)
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
    import polars as pl

    from likewise.catalog import read_catalog
    from likewise.encoders.store import common_images, read_vectors
    from likewise.evaluation.triplet_file import read_triplets
    from likewise.evaluation.triplets import agreement, agreement_table, item_vectors
    from likewise.workspace import write_parquet

    target = opened(workspace)
    catalog = read_catalog(target)
    if by not in catalog.columns:
        raise LikewiseError(f"the catalog has no column {by!r}: choose one of {', '.join(catalog.columns)}.")
    chosen = names(encoders) or target.encoders()
    if not chosen:
        raise LikewiseError(f"there are no vectors in {workspace} yet: run `likewise encode {workspace}`.")
    asked = read_triplets(answers, order)
    images = common_images(target, chosen, catalog["image"].to_list())
    keys = catalog.filter(pl.col("image").is_in(images))[by].cast(pl.String).to_list()
    found = {name: agreement(asked, item_vectors(read_vectors(target, name, images), keys)) for name in chosen}
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
