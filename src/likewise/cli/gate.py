"""`likewise gate`: is a new model at least as good as the old one? For people and for CI."""

from pathlib import Path
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
    progress_bars,
)
from likewise.cli.label_site import Database
from likewise.workspace import quoted

if TYPE_CHECKING:
    from rich.table import Table

    from likewise.evaluation.gate.result import GateResult

COLOURS = {"pass": "green", "fail": "red", "undecided": "yellow"}


def gate(
    workspace: WorkspacePath,
    old: Annotated[str, typer.Option(help="The model in use: vectors, encoder, ONNX or run file.")],
    new: Annotated[
        str,
        typer.Option(
            help="The new one: vectors of the workspace or a file of them, an encoder, an .onnx file, or what a "
            "search engine returned: a TREC run, or a .csv of query, result, rank."
        ),
    ],
    measure: Annotated[
        str | None,
        typer.Option(
            help="What is compared: a measure of lists.", show_default="nDCG@10, or nDCG at the k of a shorter pool"
        ),
    ] = None,
    margin: Annotated[float, typer.Option(help="How many percentage points the new model may lose.")] = 1.0,
    half: HalfOption = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of index.html, junit.xml, gate.json, pairs.parquet.", show_default="WORKSPACE/gate"),
    ] = None,
    seed: Seed = 0,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Is the new model at least as good as the old one, overall and by category? Exit code 0, 1 or 3.

    0: it passes. 1: it fails. 3: undecided, and pairs.parquet has the pairs to label. 2: the command was wrong.

    Example: `likewise gate shoes --old dinov2-v1 --new dinov2-v2 --measure nDCG@10 --margin 1`

    Example: `likewise gate shoes --old today.csv --new tomorrow.csv`
    """
    from likewise.evaluation.gate.step import run_gate
    from likewise.labeling.store import use_database
    from likewise.report.gate_page import write_gate

    target = open_workspace(workspace)
    use_database(target, database)
    with progress_bars("images") as update:
        result = run_gate(
            target, old, new, measure=measure, margin_points=margin, half=half, seed=seed, on_progress=update
        )
        page = write_gate(target, result, out or target.gate_folder, update)
    if as_json:
        echo_json(result.to_dict())
    else:
        _print(result, workspace, page)
    raise typer.Exit(result.exit_code)


def _print(result: "GateResult", workspace: Path, page: Path) -> None:
    from likewise.report.gate_page import PAIRS

    colour = COLOURS[result.verdict]
    echo(f"[bold {colour}]{result.verdict}[/]: {escape(result.new)} against {escape(result.old)}, {result.measure}")
    for sentence in result.sentences():
        echo(f"  {escape(sentence)}")
    console().print(_table(result))
    echo(f"[dim]{result.n_changed} of {result.n_queries} queries change; page: {escape(page)}[/]")
    for note in result.notes:
        echo(escape(note))
    if len(result.pairs):
        command = f"likewise label add-pairs {quoted(workspace)} --pairs {quoted(page.with_name(PAIRS))}"
        unlabelled = (
            "1 result that differs has" if len(result.pairs) == 1 else f"{len(result.pairs):,} results that differ have"
        )
        echo(f"{unlabelled} no label: [bold]{escape(command)}[/]")


def _table(result: "GateResult") -> "Table":
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.report.formatting import interval, percent, points

    shown = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    shown.add_column("queries of", overflow="fold", min_width=10)
    shown.add_column("verdict", no_wrap=True)
    for name in ("old", "new", "change", "may be", "queries", "no label"):
        shown.add_column(name, justify="right", no_wrap=True)
    for row in result.groups.iter_rows(named=True):
        mark = " (falls while the average rises)" if row["falls"] else ""
        shown.add_row(
            escape(row["group"]) + mark,
            f"[{COLOURS[row['verdict']]}]{row['verdict']}[/]",
            percent(row["old"]),
            percent(row["new"]),
            points(row["difference"]),
            interval(row["low"], row["high"], signed=True),
            str(row["n_queries"]),
            str(row["n_unlabelled"]),
        )
    return shown
