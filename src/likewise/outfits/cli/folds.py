"""What `likewise outfits benchmark --folds` prints: every kind of model on item-disjoint folds of a shop's outfits."""

from typing import TYPE_CHECKING

from likewise.cli.console import console, echo, echo_json, escape, progress_bars

if TYPE_CHECKING:
    import polars as pl

    from likewise.outfits.benchmark.cross_validation import CrossValidationRequest
    from likewise.workspace import WorkspaceFolder

BASELINES = ("mean-cosine", "popular")


def print_cross_validation(
    workspace: "WorkspaceFolder", request: "CrossValidationRequest", *, as_json: bool = False
) -> None:
    """Run it, write the tables beside the workspace's other results, and print them."""
    from likewise.outfits.benchmark.cross_validation import cross_validate, training_sizes
    from likewise.outfits.benchmark.summary import compare_with, summarize
    from likewise.workspace import staged_workspace, write_parquet

    with progress_bars("models") as update:
        done = cross_validate(workspace, request, on_progress=update)
    summary = summarize(done.values)
    baselines = [name for name in summary["model"].unique(maintain_order=True) if name.partition(":")[0] in BASELINES]
    compared = compare_with(done.values, baselines)
    path = workspace.results_folder / "outfits-folds.parquet"
    tables = {"": summary, "-values": done.values, "-compared": compared}
    with staged_workspace(workspace) as (staged, _):
        for ending, table in tables.items():
            write_parquet(table, staged.results_folder / f"{path.stem}{ending}.parquet")
    sizes, n_outfits = training_sizes(done.folds), len(done.folds.outfits)
    if as_json:
        facts = {"n_outfits": n_outfits, "n_tested": done.folds.n_tested, "folds": sizes, "notes": list(done.notes)}
        echo_json(facts | {"summary": summary.to_dicts(), "compared": compared.to_dicts()})
        return
    _print(summary)
    learned, tested = (f"{min(each):,} to {max(each):,}" for each in zip(*sizes, strict=True))
    echo(
        f"{n_outfits:,} outfits; {done.folds.n_tested:,} lie within one of {len(sizes)} item-disjoint folds and are "
        f"tested, {n_outfits - done.folds.n_tested:,} mix folds. A fold is learned from {learned} outfits and tested "
        f"on {tested}."
    )
    for model in compared["model"].unique(maintain_order=True):
        close = compared.filter((compared["model"] == model) & ~compared["apart"])
        if len(close) and model != "random":
            pairs = (f"{row['measure']} (and {row['baseline']})" for row in close.iter_rows(named=True))
            echo(f"  intervals of {escape(model)} overlap: {escape(', '.join(pairs))}")
    for note in done.notes:
        echo(escape(note))
    echo(f"{escape(path)}")


def _print(summary: "pl.DataFrame") -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import over_interval, percent

    measures = summary["measure"].unique(maintain_order=True).to_list()
    echo("Outfits of items never seen in training (%), with 95 % intervals over outfits and folds")
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("model", overflow="fold")
    for name in measures:
        table.add_column(escape(name), justify="right", no_wrap=True)
    cells = {(row["model"], row["measure"]): row for row in summary.iter_rows(named=True)}
    chances = []
    for model in summary["model"].unique(maintain_order=True):
        found = [cells.get((model, name)) for name in measures]
        chances = [percent(row["chance"]) if row else "" for row in found]
        table.add_row(escape(model), *(over_interval(r["value"], r["low"], r["high"]) if r else "" for r in found))
    table.add_row("[dim]chance[/]", *chances)
    console().print(table)
