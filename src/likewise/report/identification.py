"""Finding the same item is another question: identification beside discovery, in a table, a plot and words."""

from dataclasses import dataclass

import polars as pl

from likewise.evaluation.identification import TwoOrders
from likewise.evaluation.rank_correlation import few_models_note
from likewise.evaluation.ranking import MAIN_NAME
from likewise.report.formatting import NBSP, interval, percent, plural, signed
from likewise.report.leaderboard import Leaderboard


@dataclass(frozen=True)
class IdentificationCell:
    """One model's value of one measure, as text, with its interval."""

    value: float | None
    text: str
    interval: str


@dataclass(frozen=True)
class IdentificationPoint:
    """One model in the plot: value, low and high of identification (x) and discovery (y)."""

    encoder: str
    x: tuple[float, float, float]
    y: tuple[float, float, float]


@dataclass(frozen=True)
class Identification:
    measures: list[str]
    main: str
    encoders: list[str]
    learned: list[str]
    """Those that were taught which images show one item."""
    cells: dict[tuple[str, str], IdentificationCell]
    points: list[IdentificationPoint]
    n_queries: int
    n_queries_total: int
    conclusion: str
    numbers: str


def identification(table: pl.DataFrame | None, orders: TwoOrders | None, board: Leaderboard) -> Identification | None:
    """None for results of an older `likewise evaluate`; without points where no query has another image."""
    if table is None or orders is None or table.is_empty():
        return None
    rows = {(row["encoder"], row["measure"]): row for row in table.iter_rows(named=True)}
    main = orders.identification
    cells = {
        key: IdentificationCell(row["value"], percent(row["value"]), interval(row["low"], row["high"]))
        for key, row in rows.items()
    }
    points = []
    for model in board.models:
        row = rows.get((model.encoder, main))
        if row is None or row["learned"]:
            continue
        x = _with_interval(row["value"], row["low"], row["high"])
        y = _with_interval(model.main.value, model.main.low, model.main.high)
        if x and y:
            points.append(IdentificationPoint(model.encoder, x, y))
    first = table.row(0, named=True)
    measures = table["measure"].unique(maintain_order=True).to_list()
    known = set(table["encoder"])
    return Identification(
        measures,
        main,
        [model.encoder for model in board.models if model.encoder in known],
        table.filter(pl.col("learned"))["encoder"].unique(maintain_order=True).to_list(),
        cells,
        points,
        first["n_queries"],
        first["n_queries_total"],
        *_conclusion(orders),
    )


def _with_interval(value: float | None, low: float | None, high: float | None) -> tuple[float, float, float] | None:
    if value is None:
        return None
    return value, value if low is None else low, value if high is None else high


def _conclusion(orders: TwoOrders) -> tuple[str, str]:
    """What the correlation of the two orders says, by its interval, and the numbers."""
    by = f"identification ({orders.identification})"
    n_models = orders.n_models
    if orders.spearman is None or n_models < 3:
        return f"With {plural(n_models, 'model')} the two orders cannot be compared.", ""
    low, high = orders.spearman_low, orders.spearman_high
    if low is None or high is None:
        said = f"It is not known whether the order by {by} predicts the order by discovery ({MAIN_NAME})"
    elif low > 0:
        said = f"The order by {by} resembles the order by discovery ({MAIN_NAME}), but is not a substitute for it"
    elif high < 0:
        said = f"The order by {by} is opposed to the order by discovery ({MAIN_NAME})"
    else:
        said = f"The order by {by} is not shown to be related to the order by discovery ({MAIN_NAME})"
    spearman = _number("Spearman", orders.spearman, orders.spearman_low, orders.spearman_high)
    numbers = f"{spearman}, {_number('Kendall τ', orders.kendall, orders.kendall_low, orders.kendall_high)}"
    few = few_models_note(n_models)
    return f"{said}.", f"{numbers}, over {n_models} models.{f' {few}' if few else ''}"


def _number(name: str, value: float | None, low: float | None, high: float | None) -> str:
    return f"{name} {signed(value)} (95{NBSP}% {signed(low)} to {signed(high)})"
