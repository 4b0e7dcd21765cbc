"""Whole-catalog estimates as people read them in a terminal."""

from typing import TYPE_CHECKING

import polars as pl
from rich.box import SIMPLE
from rich.table import Table

from likewise.cli.console import console, echo, escape
from likewise.cli.tables import broken_heading, over_interval, percent
from likewise.evaluation.estimates.layout import catalog_layout
from likewise.evaluation.estimates.step import judge_sentence

if TYPE_CHECKING:
    from likewise.evaluation.estimates.layout import CatalogLayout
    from likewise.evaluation.estimates.step import CatalogFacts


def print_catalog(values: pl.DataFrame, facts: "CatalogFacts") -> None:
    """The estimates, what they rest on, and what follows them."""
    layout = catalog_layout(values)
    console().print(catalog_board(values, layout))
    for note in layout.notes:
        echo(f"[dim]{escape(note)}[/]")
    echo(f"[dim]{catalog_sentence(facts)}[/]")
    if facts.judge is not None:
        echo(f"[dim]{escape(judge_sentence(facts.judge))}[/]")
    echo("\nOver the labelled pairs alone, of which more similar ones were drawn than there are:")


def catalog_board(values: pl.DataFrame, layout: "CatalogLayout") -> Table:
    """Every model over the whole catalog, best first. Fits 80 columns."""
    table = Table(title="Estimated for the whole catalog (%)", title_justify="left", box=SIMPLE)
    table.add_column("model", overflow="fold")
    for name in layout.measures:
        table.add_column(broken_heading(name), justify="right", no_wrap=True)
    rows = {(row["encoder"], row["measure"]): row for row in values.iter_rows(named=True)}
    for place, encoder in enumerate(layout.encoders, 1):
        cells = (rows[encoder, name] for name in layout.measures)
        shown = (over_interval(row["value"], row["low"], row["high"], 0) if row["shown"] else "–" for row in cells)
        table.add_row(f"{place} {escape(encoder)}", *shown)
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
