"""How the best model stands against each other one: paired differences, read from results/differences.parquet."""

from dataclasses import dataclass

import polars as pl

from likewise.evaluation.ranking import MAIN, PlaceRange, differences_from_best, measure_is, place_ranges
from likewise.report.formatting import NBSP, interval, p_value, points
from likewise.report.leaderboard import Leaderboard


@dataclass(frozen=True)
class Difference:
    """The best model's gallery ROC-AUC minus another model's; `p` is after Holm's correction."""

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    significant: bool
    n_comparisons: int = 1
    """Pairs of models that the correction counts."""

    @property
    def text(self) -> str:
        if self.value is None:
            return "undefined"
        ends = interval(self.low, self.high, signed=True)
        return f"{points(self.value)} points (95{NBSP}% {ends}, {p_value(self.p)})"

    @property
    def lost_by_correction(self) -> bool:
        """Whether its own interval leaves out zero, but many comparisons were made and it does not stand among them."""
        return not self.significant and self.low is not None and self.low > 0


def against_best(differences: pl.DataFrame | None, board: Leaderboard) -> dict[str, Difference] | None:
    """By name of the other model; None where the table was not made, or was made without the best model."""
    best = board.models[0].encoder
    if differences is None:
        return None
    n_comparisons = differences.filter(measure_is(MAIN) & pl.col("difference").is_not_null()).height
    found = {
        row["encoder"]: Difference(
            row["difference"], row["low"], row["high"], row["p_holm"], bool(row["significant"]), n_comparisons
        )
        for row in differences_from_best(differences, best).iter_rows(named=True)
    }
    measured = {model.encoder for model in board.models[1:] if model.main.value is not None}
    return found if measured <= set(found) else None


def not_significantly_worse(board: Leaderboard, differences: dict[str, Difference] | None) -> list[str]:
    """The models that may be as good as the best one, best first."""
    if differences is None:
        return []
    others = [model.encoder for model in board.models[1:] if model.main.value is not None]
    return [name for name in others if not differences[name].significant]


def places_of(differences: pl.DataFrame | None, board: Leaderboard) -> dict[str, PlaceRange]:
    """Of every ranked model the places that no significant difference excludes; none where the table was not made."""
    if differences is None:
        return {}
    return place_ranges(differences, [model.encoder for model in board.models if model.place is not None])
