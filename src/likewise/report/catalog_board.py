"""Whole-catalog estimates as a table and a verdict: what stands first where labels were drawn with known chances."""

from dataclasses import dataclass

import polars as pl

from likewise.evaluation.estimates.step import CatalogFacts, judge_sentence
from likewise.evaluation.measures import ROC_AUC, cutoff_of, heading
from likewise.report.formatting import NBSP, interval, join_names, percent, plural, points
from likewise.report.leaderboard import Cell, Whisker, axis_of, whisker_of

MAIN_MEASURE = str(ROC_AUC)
EDS_NOTE = (
    "These labels are of an EDS pool: the first candidates of its generators. The numbers describe those pairs, not "
    "the whole catalog, and depend on which models contributed to it; “likewise discover --design sampled” draws "
    "pairs from which the whole catalog is estimated."
)


@dataclass(frozen=True)
class CatalogRow:
    """One model; `as_good` where its difference from the first is not beyond chance."""

    encoder: str
    cells: list[Cell]
    whisker: Whisker | None
    as_good: bool


@dataclass(frozen=True)
class CatalogBoard:
    """Every model over the whole catalog, best macro ROC-AUC first; `headings` are (title, subtitle) of the columns."""

    measures: list[str]
    headings: list[tuple[str, str]]
    rows: list[CatalogRow]
    axis: tuple[float, float]


def catalog_board(values: pl.DataFrame, differences: pl.DataFrame | None = None) -> CatalogBoard:
    """From results/catalog.parquet and catalog_differences.parquet; list measures at the largest k."""
    found = values["measure"].unique(maintain_order=True).to_list()
    largest = max(filter(None, map(cutoff_of, found)), default=None)
    measures = [MAIN_MEASURE, *(name for name in found if name != MAIN_MEASURE and cutoff_of(name) in (None, largest))]
    by_key = {(row["encoder"], row["measure"]): row for row in values.iter_rows(named=True)}
    main = values.filter(pl.col("measure") == MAIN_MEASURE)
    order = main.sort("value", "encoder", descending=[True, False])["encoder"].to_list()
    best = {name: max(by_key[encoder, name]["value"] for encoder in order) for name in measures}
    cells = {
        encoder: [_cell(by_key[encoder, name], best[name] if len(order) > 1 else None) for name in measures]
        for encoder in order
    }
    axis = axis_of([row[0] for row in cells.values()])
    close = set() if differences is None or not order else _as_good_as(differences, order[0])
    rows = [CatalogRow(name, cells[name], whisker_of(cells[name][0], axis), name in close) for name in order]
    return CatalogBoard(measures, [heading(name) for name in measures], rows, axis)


def catalog_verdict(board: CatalogBoard, differences: pl.DataFrame | None) -> tuple[str, str]:
    """The sentence to remember and the numbers behind it."""
    first, others = board.rows[0], [row.encoder for row in board.rows[1:]]
    ends = interval(first.cells[0].low, first.cells[0].high)
    numbers = (
        f"Over the whole catalog it ranks a similar item above another one in {percent(first.cells[0].value)}{NBSP}% "
        f"of cases (macro ROC-AUC), 95{NBSP}% interval {ends}"
    )
    if not others:
        return f"{first.encoder} is the only model that could be measured", f"{numbers}."
    close = [row.encoder for row in board.rows if row.as_good]
    if differences is None:
        return f"{first.encoder} has the highest ROC-AUC over the whole catalog", f"{numbers}."
    if close:
        return f"{first.encoder} leads, but not beyond chance over {join_names(close)}", f"{numbers}."
    lead = _difference(differences, first.encoder, others[0])
    apart = f"{points(lead[0])} points (95{NBSP}% {interval(lead[1], lead[2], signed=True)})"
    return f"{first.encoder} finds best what people call similar", f"{numbers}. Its lead over {others[0]}: {apart}."


def catalog_notes(facts: CatalogFacts) -> list[str]:
    """What the estimates rest on, how much was found, and which machine helped."""
    pairs = f"query–{facts.unit} pairs"
    found = "."
    if facts.recall is not None:
        ends = f"{percent(facts.recall_low, 0)}–{percent(facts.recall_high, 0)}"
        found = f", {percent(facts.recall, 0)}{NBSP}% ({ends})."
    notes = [
        f"Estimated from {facts.n_labelled:,} labels drawn with known chances (design {facts.design}) among all "
        f"{facts.n_pairs:,} {pairs} of {plural(facts.n_queries, 'query', 'queries')}; 95{NBSP}% intervals over queries "
        "and draws. They treat models that contributed to the design and any other model alike.",
        f"About {facts.n_similar:,.0f} ({facts.n_similar_low:,.0f}–{facts.n_similar_high:,.0f}) of these pairs are "
        f"similar; {facts.n_found:,} were found{found}",
    ]
    return notes if facts.judge is None else [*notes, judge_sentence(facts.judge)]


def _cell(row: dict[str, float], best: float | None) -> Cell:
    hint = f"95{NBSP}% {interval(row['low'], row['high'])}, over {row['n_queries']} queries and {row['n_pairs']} labels"
    return Cell(row["value"], row["low"], row["high"], percent(row["value"]), hint, best=row["value"] == best)


def _as_good_as(differences: pl.DataFrame, first: str) -> set[str]:
    mine = differences.filter(
        (pl.col("measure") == MAIN_MEASURE) & ((pl.col("encoder_a") == first) | (pl.col("encoder_b") == first))
    )
    near = mine.filter((pl.col("low") <= 0.0) & (pl.col("high") >= 0.0))
    return {*near["encoder_a"], *near["encoder_b"]} - {first}


def _difference(differences: pl.DataFrame, first: str, other: str) -> tuple[float, float, float]:
    """First minus other, with its ends."""
    for row in differences.filter(pl.col("measure") == MAIN_MEASURE).iter_rows(named=True):
        if (row["encoder_a"], row["encoder_b"]) == (first, other):
            return row["difference"], row["low"], row["high"]
        if (row["encoder_b"], row["encoder_a"]) == (first, other):
            return -row["difference"], -row["high"], -row["low"]
    raise KeyError(other)
