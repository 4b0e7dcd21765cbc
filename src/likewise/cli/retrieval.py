"""What `likewise evaluate` does with --classes and --triplets: classes or people's triplet answers as the truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.cli.console import (
    console,
    echo,
    echo_json,
    escape,
    open_workspace,
    parse_names,
    progress_bars,
    to_records,
)

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from likewise.evaluation.retrieval import IntervalUnit


def evaluate_classes(
    workspace: Path,
    by: str,
    encoders: str | None,
    unit: "IntervalUnit",
    clusters: bool,
    half: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """`likewise evaluate --classes`: P@1, R_Precision, MAP@R and MRR by the classes of a catalog column."""
    from likewise.cli.tables import print_few_queries
    from likewise.encoders.storage.reading import read_vectors
    from likewise.evaluation.clustering import RANDOM_VECTORS, clustering, clustering_table, random_clustering
    from likewise.evaluation.column_classes import read_column_classes
    from likewise.evaluation.retrieval import retrieval as measure
    from likewise.evaluation.retrieval import retrieval_table
    from likewise.workspace import staged_workspace, write_parquet

    target = open_workspace(workspace)
    known = read_column_classes(target, by, parse_names(encoders), half=half)
    found, grouped = {}, {}
    with progress_bars("models") as update:
        for done, name in enumerate(known.encoders):
            update("retrieval", done, len(known.encoders))
            vectors = read_vectors(target, name, known.images)
            found[name] = measure(vectors, known.values)
            if clusters:
                grouped[name] = clustering(vectors, known.values, seed=seed)
                n_dimensions = vectors.shape[1]
        if clusters:
            update("random vectors", len(known.encoders), len(known.encoders))
            grouped[RANDOM_VECTORS] = random_clustering(known.values, n_dimensions, seed=seed)
    tables = {"retrieval": retrieval_table(found, unit=unit)}
    if clusters:
        tables["clustering"] = clustering_table(grouped)
    learned, notes = known.screening.learned, known.notes
    tables = {name: table.with_columns(_learned(learned)) for name, table in tables.items()}
    with staged_workspace(target) as (staged, _):
        for name, table in tables.items():
            write_parquet(table, staged.results_folder / f"{name}.parquet")
    if as_json:
        echo_json({name: to_records(table) for name, table in tables.items()} | {"notes": notes})
        return
    console().print(_by_encoder(tables["retrieval"], f"Images of the same {by} (%)"))
    first = tables["retrieval"].row(0, named=True)
    echo(f"[dim]{first['n_queries']} of {first['n_queries_total']} images have another image of the same {by}[/]")
    if unit == "class":
        print_few_queries(len(set(known.values)), "classes")
    else:
        print_few_queries(first["n_queries"])
    if clusters:
        console().print(_clusters(tables["clustering"]))
    for note in notes:
        echo(escape(note))


def evaluate_triplets(
    workspace: Path, answers: Path, order: str, by: str, encoders: str | None, half: str | None, as_json: bool
) -> None:
    """`likewise evaluate --triplets`: agreement with people's answers."""
    from likewise.cli.tables import print_few_queries
    from likewise.encoders.storage.reading import read_vectors
    from likewise.evaluation.column_classes import read_column_classes
    from likewise.evaluation.triplet_file import read_triplets
    from likewise.evaluation.triplets import mean_item_vectors, triplet_agreement, triplet_agreement_table
    from likewise.workspace import write_parquet

    target = open_workspace(workspace)
    asked = read_triplets(answers, order)
    known = read_column_classes(target, by, parse_names(encoders), triplets=asked, half=half)
    vectors = {name: read_vectors(target, name, known.images) for name in known.encoders}
    found = {name: triplet_agreement(asked, mean_item_vectors(each, known.values)) for name, each in vectors.items()}
    learned, notes = known.screening.learned, known.notes
    table = triplet_agreement_table(found).with_columns(_learned(learned))
    write_parquet(table, target.results_folder / "triplets.parquet")
    if as_json:
        echo_json(to_records(table))
        return
    console().print(_by_encoder(table, "Agreement with people's triplet answers (%)"))
    first = table.row(0, named=True)
    echo(f"[dim]{first['n_triplets']:,} of {first['n_triplets_total']:,} triplets, {first['n_queries']} references[/]")
    print_few_queries(first["n_queries"], "references")
    for note in notes:
        echo(escape(note))


def _learned(encoders: list[str]) -> "pl.Expr":
    """The column that says which models know the answers."""
    import polars as pl

    return pl.col("encoder").is_in(encoders).alias("learned")


def _by_encoder(table: "pl.DataFrame", title: str) -> "Table":
    """One row per encoder, best first measure first, with intervals; those that learned the answers last."""
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import over_interval
    from likewise.lineage.guard import MARK

    measures = table["measure"].unique(maintain_order=True).to_list()
    cells = {(row["encoder"], row["measure"]): row for row in table.iter_rows(named=True)}
    shown = Table(title=title, title_justify="left", box=SIMPLE)
    shown.add_column("model")
    for measure in measures:
        shown.add_column(measure, justify="right")
    encoders = table["encoder"].unique(maintain_order=True).to_list()
    for name in sorted(encoders, key=lambda name: _place(cells[name, measures[0]])):
        rows = (cells[name, measure] for measure in measures)
        mark = f" {MARK}" if cells[name, measures[0]]["learned"] else ""
        shown.add_row(escape(name) + mark, *(over_interval(row["value"], row["low"], row["high"]) for row in rows))
    return shown


def _place(row: dict[str, Any]) -> tuple[bool, float]:
    return row["learned"], -(row["value"] or 0.0)


def _clusters(table: "pl.DataFrame") -> "Table":
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import percent

    shown = Table(title="k-means with the true number of classes (%)", title_justify="left", box=SIMPLE)
    for header in ("model", "measure", "value", "by chance", "random vectors, formula"):
        shown.add_column(header)
    for row in table.iter_rows(named=True):
        numbers = (percent(row[name]) for name in ("value", "chance", "random_formula"))
        shown.add_row(escape(row["encoder"]), row["measure"], *numbers)
    return shown
