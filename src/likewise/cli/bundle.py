"""`likewise bundle ...`: benchmarks and leaderboards, and what `likewise evaluate` does with a bundle."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import (
    AsJson,
    Seed,
    WorkspacePath,
    console,
    echo,
    echo_json,
    open_workspace,
    parse_names,
    to_records,
)
from likewise.errors import LikewiseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from likewise.evaluation.bundles.bundle import Bundle
    from likewise.evaluation.bundles.evaluate import BundleModel
    from likewise.evaluation.measures import Measure
    from likewise.lineage.record import Lineage


def benchmark(
    workspace: WorkspacePath,
    output: Annotated[
        Path, typer.Argument(metavar="BUNDLE", help="A zip, or a folder to make; a folder for --to hub.")
    ],
    title: Annotated[str, typer.Option(help="Title of the benchmark.")],
    licence: Annotated[str, typer.Option(help="The terms under which others may use it.")],
    description: Annotated[str, typer.Option(help="A description in one or two sentences.")] = "",
    labelled_by: Annotated[str | None, typer.Option(help="Who labelled it; by default the number of experts.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="Where the data come from; may be repeated.")] = None,
    columns: Annotated[str | None, typer.Option(help="Further catalog columns to publish, comma-separated.")] = None,
    with_images: Annotated[bool, typer.Option("--with-images", help="Include the pictures.")] = False,
    to: Annotated[
        str,
        typer.Option(
            help="bundle, or hub: a folder for a data-set hub (README with its head, Parquet in MTEB's layout, "
            "Croissant)."
        ),
    ] = "bundle",
    seed: Seed = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite an existing bundle.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a benchmark bundle: labels, queries and gallery in one file against which any model can be measured.

    Example: `likewise bundle benchmark shoes shoes.zip --title "Shoes 2026" --licence CC-BY-4.0`,
    `likewise bundle benchmark shoes shoes-2026 --to hub --with-images --title "Shoes 2026" --licence CC-BY-4.0`
    """
    from likewise.evaluation.bundles.bundle import make_bundle

    if to not in ("bundle", "hub"):
        raise LikewiseError(f"a benchmark is written as bundle or hub, not as {to!r}.")
    if to == "hub":
        if columns is not None:
            raise LikewiseError("a hub folder has fixed columns: leave --columns out.")
        _hub_benchmark(
            workspace,
            output,
            {"title": title, "licence": licence, "description": description},
            labelled_by,
            source,
            seed,
            with_images=with_images,
            replace=replace,
            as_json=as_json,
        )
        return
    made = make_bundle(
        open_workspace(workspace),
        output,
        title=title,
        licence=licence,
        description=description,
        labelled_by=labelled_by,
        sources=source,
        columns=parse_names(columns),
        seed=seed,
        with_images=with_images,
        replace=replace,
    )
    if as_json:
        echo_json(made.card)
        return
    sizes = made.card["sizes"]
    size = f"{sizes['queries']:,} queries, {sizes['gallery']:,} gallery images, {sizes['labels']:,} labels"
    echo(f"[bold]{output}[/]: {size}")
    echo(f"  checksum {made.card['checksum']}")
    echo(f"  measure a model with `likewise evaluate {output} --vectors mine.npy`")


def _hub_benchmark(
    workspace: Path,
    output: Path,
    said: dict[str, str],
    labelled_by: str | None,
    sources: list[str] | None,
    seed: int,
    *,
    with_images: bool,
    replace: bool,
    as_json: bool,
) -> None:
    from likewise.evaluation.hub.folder import write_hub_folder

    made = write_hub_folder(
        open_workspace(workspace),
        output,
        title=said["title"],
        licence=said["licence"],
        description=said["description"],
        labelled_by=labelled_by,
        sources=sources,
        seed=seed,
        with_images=with_images,
        replace=replace,
    )
    if as_json:
        echo_json({"folder": str(output), "rows": made.rows, "with_images": made.with_images})
        return
    echo(f"[bold]{output}[/]: {', '.join(f'{name} {rows:,}' for name, rows in made.rows.items())}")
    if not with_images:
        echo("  without the pictures: add --with-images if you may publish them")
    echo(f'  read it with datasets.load_dataset("{output}"), or `likewise new WORKSPACE {output} --reader hub`')


def mteb_results(
    workspace: WorkspacePath,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of results.", show_default=False)],
    task: Annotated[str, typer.Option(help="The task's name, such as Shoes2026.")],
    encoders: Annotated[str | None, typer.Option("--with", help="Encoders, comma-separated; default: all.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure models and write the results as MTEB's JSON, one file per model.

    Example: `likewise bundle mteb-results shoes results --task Shoes2026`
    """
    from likewise.evaluation.hub.mteb_results import write_mteb_results

    written = write_mteb_results(open_workspace(workspace), folder, task=task, encoders=parse_names(encoders) or None)
    if as_json:
        echo_json({"files": [str(path) for path in written]})
        return
    for path in written:
        echo(str(path))


def leaderboard(
    page: Annotated[Path, typer.Argument(metavar="PAGE.html", help="The page to write.", show_default=False)],
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULTS...", help="Workspaces, result files, or folders of them.", show_default=False),
    ],
    title: Annotated[str, typer.Option(help="The page's heading.")] = "Leaderboard",
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Build a static leaderboard from several results: sortable, with intervals, dates and commands.

    Example: `likewise bundle leaderboard board.html shoes bags results/mine.parquet`
    """
    from likewise.report.leaderboard_page import write_leaderboard_page

    write_leaderboard_page(results, page, title=title)
    echo(f"leaderboard: [bold]{page}[/]")
    if open_it:
        typer.launch(page.resolve().as_uri())


def is_bundle(path: Path) -> bool:
    """Whether `likewise evaluate PATH` is about a bundle."""
    return path.suffix.lower() == ".zip" or (path / "card.json").exists()


def evaluate_bundle(
    path: Path,
    vectors: list[str],
    *,
    keys: Path | None = None,
    runs: list[str] | None = None,
    measures: "Sequence[Measure]",
    missing: str = "undefined",
    checksum: str | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Measure `--vectors [NAME=]FILE` and `--run [NAME=]FILE` on a bundle, print, and with `out` store the results."""
    from dataclasses import asdict
    from typing import get_args

    from rich.markup import escape

    from likewise.cli.catalog_table import print_catalog
    from likewise.cli.tables import leaderboard as board
    from likewise.cli.tables import print_few_queries
    from likewise.evaluation.bundles.bundle import open_bundle
    from likewise.evaluation.bundles.evaluate import MissingPairs, VectorFile, bundle_note, evaluate_bundle
    from likewise.evaluation.different_generators import no_rank_note
    from likewise.evaluation.exchange.trec import read_run
    from likewise.evaluation.provenance import catalog_file, write_note
    from likewise.evaluation.ranking import MAIN, measure_is
    from likewise.files import written_together
    from likewise.lineage.files import read_lineage, sidecar_file
    from likewise.workspace import write_parquet

    if out is not None and out.suffix.lower() != ".parquet":
        raise LikewiseError(f"{out} must end in .parquet: results are a table.")
    opened_bundle = open_bundle(path, checksum)
    models: dict[str, BundleModel] = {}
    lineages: dict[str, Lineage] = {}
    for text in vectors:
        name, file = parse_named_file(text, models)
        models[name] = VectorFile(file, keys)
    for text in runs or []:
        name, file = parse_named_file(text, models)
        models[name] = read_run(file, set(opened_bundle.images))
        beside = read_lineage(sidecar_file(file))
        lineages |= {} if beside is None else {name: beside}
    if missing not in get_args(MissingPairs):
        raise LikewiseError(f"--missing takes undefined or last, not {missing!r}.")
    judged = evaluate_bundle(
        opened_bundle,
        models,
        measures=measures,
        missing=missing,  # type: ignore[arg-type]
        lineages=lineages,
    )
    results = judged.results
    note = bundle_note(opened_bundle, read_command_line(), judged)
    if out is not None:
        with written_together(out.parent) as staged:
            write_parquet(results, staged.place(out))
            write_note(note, staged.place(out))
            if judged.catalog is not None:
                write_parquet(judged.catalog.values, catalog_file(staged.place(out)))
    if as_json:
        echo_json(
            {
                "results": to_records(results),
                "differences": to_records(judged.differences),
                "catalog": None if judged.catalog is None else to_records(judged.catalog.values),
                "catalog_facts": None if judged.catalog is None else asdict(judged.catalog.facts),
                "bundle": opened_bundle.card,
                "command": note.command,
                "notes": judged.notes,
                "n_different_generators": judged.n_different,
            }
        )
        return
    if judged.catalog is not None:
        print_catalog(judged.catalog.values, judged.catalog.facts)
    no_rank = no_rank_note(judged.n_different)
    console().print(board(results, judged.differences, with_places=no_rank is None))
    if no_rank is not None:
        echo(f"[bold]{escape(no_rank)}[/]")
    print_few_queries(results.filter(measure_is(MAIN))["n_queries"].max())  # type: ignore[arg-type]
    for name, model in models.items():
        _print_missing(name, model, opened_bundle, missing)
    for line in judged.notes:
        echo(escape(line))
    card = opened_bundle.card
    echo(
        f"[dim]{escape(card['title'])}: {card['sizes']['queries']:,} queries, {card['sizes']['judged_pairs']:,} judged "
        f"pairs, labelled by {escape(card['labels']['labelled_by'])}; checksum {card['checksum'][:16]}…[/]"
    )


def _print_missing(name: str, model: "BundleModel", bundle: "Bundle", missing: str) -> None:
    """How far a run covers what was judged."""
    from likewise.evaluation.exchange.run_models import evaluate_run
    from likewise.evaluation.exchange.trec import TrecRun

    if not isinstance(model, TrecRun):
        return
    pairs = bundle.tables.pairs
    found = evaluate_run(model, pairs, 1)
    if found.n_missing_pairs:
        areas = "ROC_AUC and AP are undefined" if missing == "undefined" else "they count as ranked last"
        echo(
            f"{name}: {found.n_missing_pairs:,} of {len(pairs):,} judged pairs are not in the run, so {areas} "
            "(a run of judged-pairs has them all)"
        )


def parse_named_file(text: str, taken: "dict[str, BundleModel]") -> tuple[str, Path]:
    """`NAME=FILE`, or a file whose stem is the name; every model needs a name of its own."""
    name, equals, file = text.partition("=")
    if not equals or Path(text).exists():
        name, file = Path(text).stem, text
    if not name or not file or name in taken:
        raise LikewiseError(f"{text}: give every model its own name, NAME=FILE.")
    return name, Path(file)


def read_command_line() -> str:
    """The command as the user typed it, to be noted beside results."""
    return shlex.join(["likewise", *sys.argv[1:]])
