"""Encoders that learned from people, beside every other one, on answers they have not seen."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from likewise.report.formatting import interval, p_value, percent, points
from likewise.training.perceptual.summary import PerceptualSummary

UNSEEN = {
    "answers": "Other answers to the same queries",
    "queries": "Queries that were never trained on",
    "items": "Items that no training answer names",
    "given test": "The answers reserved for the final test",
}
MEASURES = {"majority": "agreement with the majority", "ROC_AUC": "macro ROC-AUC"}


@dataclass(frozen=True)
class ComparisonRow:
    encoder: str
    value: str
    ends: str
    gain: str
    gain_ends: str
    p: str


@dataclass(frozen=True)
class UnseenComparison:
    """One kind of unseen answers."""

    title: str
    measure: str
    rows: list[ComparisonRow]
    n_answers: int
    n_queries: int


@dataclass(frozen=True)
class LearnedEncoder:
    """One encoder that learned from people."""

    name: str
    basis: str
    calibration_error: str
    comparisons: list[UnseenComparison]


def learned_encoders(runs: dict[str, tuple[pl.DataFrame, PerceptualSummary]]) -> list[LearnedEncoder]:
    """Every such encoder of the workspace, by the name of its run."""
    return [_learned_encoder(name, table, summary) for name, (table, summary) in sorted(runs.items())]


def _learned_encoder(name: str, table: pl.DataFrame, summary: PerceptualSummary) -> LearnedEncoder:
    basis = f"{summary.n_answers:,} answers ({summary.n_votes:,} votes) to {summary.n_queries:,} queries"
    curve = summary.calibration
    calibration_error = f"{100 * curve.expected_error:.1f} points on average, over {curve.n_votes:,} unseen votes"
    kinds = table["unseen"].unique(maintain_order=True)
    return LearnedEncoder(
        name, basis, calibration_error, [_comparison(kind, table.filter(pl.col("unseen") == kind)) for kind in kinds]
    )


def _comparison(kind: str, table: pl.DataFrame) -> UnseenComparison:
    measure = table["measure"][0]
    rows = table.filter(pl.col("measure") == measure).sort("value", descending=True, nulls_last=True)
    first = rows.row(0, named=True)
    return UnseenComparison(
        UNSEEN.get(kind, kind),
        MEASURES.get(measure, measure),
        [_row(row) for row in rows.iter_rows(named=True)],
        first["n_answers"],
        first["n_queries"],
    )


def _row(row: dict[str, Any]) -> ComparisonRow:
    own = row["p_holm"] is None
    gain = ("", "") if own else (points(row["gain"]), interval(row["gain_low"], row["gain_high"], signed=True))
    p = "" if own else p_value(row["p_holm"])
    return ComparisonRow(row["encoder"], percent(row["value"]), interval(row["low"], row["high"]), gain[0], gain[1], p)
