"""Whole-catalog estimates as a table and a verdict: what stands first where labels were drawn with known chances."""

from dataclasses import dataclass

import polars as pl

from likewise.evaluation.estimates.layout import catalog_layout
from likewise.evaluation.estimates.step import CatalogFacts, judge_sentence
from likewise.evaluation.measures import AP, cutoff_of, heading
from likewise.report.formatting import NBSP, interval, join_names, percent, plural, points
from likewise.report.leaderboard import Cell, Whisker, axis_of, whisker_of

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
    """Every model over the whole catalog, best first; `headings` are (title, subtitle) of the columns, the main measure
    first, and `notes` say what the order is and what is not shown."""

    measures: list[str]
    headings: list[tuple[str, str]]
    rows: list[CatalogRow]
    axis: tuple[float, float]
    notes: list[str]

    @property
    def main(self) -> str:
        return self.measures[0]


def catalog_board(values: pl.DataFrame, differences: pl.DataFrame | None = None) -> CatalogBoard:
    """From results/catalog.parquet and catalog_differences.parquet."""
    layout = catalog_layout(values)
    measures, order = layout.measures, layout.encoders
    by_key = {(row["encoder"], row["measure"]): row for row in values.iter_rows(named=True)}
    shown = {name: [by_key[one, name]["value"] for one in order if by_key[one, name]["shown"]] for name in measures}
    best = {name: max(shown[name], default=None) if len(order) > 1 else None for name in measures}
    cells = {encoder: [_cell(by_key[encoder, name], best[name]) for name in measures] for encoder in order}
    axis = axis_of([row[0] for row in cells.values()])
    close = set() if differences is None or not order else _as_good_as(differences, measures[0], order[0])
    rows = [CatalogRow(name, cells[name], whisker_of(cells[name][0], axis), name in close) for name in order]
    return CatalogBoard(measures, [heading(name) for name in measures], rows, axis, layout.notes)


def catalog_verdict(board: CatalogBoard, differences: pl.DataFrame | None) -> tuple[str, str]:
    """The sentence to remember and the numbers behind it."""
    first, others = board.rows[0], [row.encoder for row in board.rows[1:]]
    if first.cells[0].value is None:
        likely = f"{first.encoder} is probably the best, but these labels cannot tell how good it is"
        return likely if others else f"These labels cannot tell how good {first.encoder} is", board.notes[-1]
    ends = interval(first.cells[0].low, first.cells[0].high)
    value = f"{percent(first.cells[0].value)}{NBSP}%"
    numbers = (
        f"Over the whole catalog its average precision is {value}, 95{NBSP}% interval {ends}"
        if board.main == str(AP)
        else f"Over the whole catalog {value} of its first {cutoff_of(board.main)} candidates are similar, 95{NBSP}% "
        f"interval {ends}"
    )
    if not others:
        return f"{first.encoder} is the only model that could be measured", f"{numbers}."
    close = [row.encoder for row in board.rows if row.as_good]
    if differences is None:
        return f"{first.encoder} has the highest {board.main} over the whole catalog", f"{numbers}."
    if close:
        return f"{first.encoder} leads, but not beyond chance over {join_names(close)}", f"{numbers}."
    lead = _difference(differences, board.main, first.encoder, others[0])
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
    if not row["shown"]:
        return Cell(None, None, None, "–", "these labels cannot tell it closely enough, or without bias", best=False)
    hint = f"95{NBSP}% {interval(row['low'], row['high'])}, over {row['n_queries']} queries and {row['n_pairs']} labels"
    return Cell(row["value"], row["low"], row["high"], percent(row["value"]), hint, best=row["value"] == best)


def _as_good_as(differences: pl.DataFrame, measure: str, first: str) -> set[str]:
    mine = differences.filter(
        (pl.col("measure") == measure) & ((pl.col("encoder_a") == first) | (pl.col("encoder_b") == first))
    )
    near = mine.filter((pl.col("low") <= 0.0) & (pl.col("high") >= 0.0))
    return {*near["encoder_a"], *near["encoder_b"]} - {first}


def _difference(differences: pl.DataFrame, measure: str, first: str, other: str) -> tuple[float, float, float]:
    """First minus other, with its ends."""
    for row in differences.filter(pl.col("measure") == measure).iter_rows(named=True):
        if (row["encoder_a"], row["encoder_b"]) == (first, other):
            return row["difference"], row["low"], row["high"]
        if (row["encoder_b"], row["encoder_a"]) == (first, other):
            return -row["difference"], -row["high"], -row["low"]
    raise KeyError(other)
