"""Whole-catalog estimates as people read them in a terminal."""

from typing import TYPE_CHECKING

import polars as pl
from rich.box import SIMPLE
from rich.table import Table

from likewise.cli.console import console, echo, escape
from likewise.cli.tables import broken_heading, over_interval, percent
from likewise.evaluation.estimates.step import judge_sentence
from likewise.evaluation.measures import ROC_AUC, cutoff_of

if TYPE_CHECKING:
    from likewise.evaluation.estimates.step import CatalogFacts


def print_catalog(values: pl.DataFrame, facts: "CatalogFacts") -> None:
    """The estimates, what they rest on, and what follows them."""
    console().print(catalog_board(values))
    echo(f"[dim]{catalog_sentence(facts)}[/]")
    if facts.judge is not None:
        echo(f"[dim]{escape(judge_sentence(facts.judge))}[/]")
    echo("\nOver the labelled pairs alone, of which more similar ones were drawn than there are:")


def catalog_board(values: pl.DataFrame) -> Table:
    """Every model over the whole catalog, best macro ROC-AUC first. Fits 80 columns."""
    table = Table(title="Estimated for the whole catalog (%)", title_justify="left", box=SIMPLE)
    measures = values["measure"].unique(maintain_order=True).to_list()
    largest = max(filter(None, map(cutoff_of, measures)), default=None)
    shown = [str(ROC_AUC), *(name for name in measures if name != str(ROC_AUC) and cutoff_of(name) in (None, largest))]
    table.add_column("model", overflow="fold")
    for name in shown:
        table.add_column(broken_heading(name), justify="right", no_wrap=True)
    cells = {(row["encoder"], row["measure"]): row for row in values.iter_rows(named=True)}
    main = values.filter(pl.col("measure") == str(ROC_AUC))
    order = main.sort("value", "encoder", descending=[True, False])["encoder"]
    for place, encoder in enumerate(order, 1):
        rows = [cells[encoder, name] for name in shown]
        table.add_row(
            f"{place} {escape(encoder)}", *(over_interval(row["value"], row["low"], row["high"], 0) for row in rows)
        )
    return table


def catalog_sentence(facts: "CatalogFacts") -> str:
    """What the estimates rest on, and how much of what is similar was found."""
    pairs = f"query–{facts.unit} pairs"
    recall = ""
    if facts.recall is not None:
        ends = f"{percent(facts.recall_low, 0)}–{percent(facts.recall_high, 0)}"
        recall = f", {percent(facts.recall, 0)} % of them found ({ends})"
    return (
        f"from {facts.n_labelled:,} labels drawn among all {facts.n_pairs:,} {pairs} of {facts.n_queries} queries; "
        f"intervals: 95 %, over queries and draws. About {facts.n_similar:,.0f} "
        f"({facts.n_similar_low:,.0f}–{facts.n_similar_high:,.0f}) of these pairs are similar{recall}."
    )
