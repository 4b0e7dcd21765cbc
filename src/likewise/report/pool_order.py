"""Is the order of the models an artefact of the pool? Results with one generator left out, as tables and a sentence."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from likewise.evaluation.measures import cutoff_of, heading
from likewise.evaluation.rank_correlation import few_models_note
from likewise.evaluation.ranking import MAIN_NAME
from likewise.report.formatting import DASH, join_names, p_value, percent, signed
from likewise.report.leaderboard import PREFERRED


@dataclass(frozen=True)
class OrderCorrelation:
    """Spearman with the order under all labels; `heat` grows from 0 (the same order) to 1 (none, or reversed)."""

    text: str
    p: str
    heat: float


@dataclass(frozen=True)
class PoolOrder:
    """`means`: text of mean ± sd by model and measure; `orders`: by removed generator and measure."""

    measures: list[tuple[str, str, str]]  # name, title and subtitle
    encoders: list[str]
    means: dict[tuple[str, str], tuple[str, str, str]]
    removed: list[str]
    orders: dict[tuple[str, str], OrderCorrelation]
    conclusion: str
    few: str | None  # what to say where the models are too few


def pool_order(models: pl.DataFrame | None, orders: pl.DataFrame | None, encoders: list[str]) -> PoolOrder | None:
    """None for results of an older `likewise evaluate`."""
    if models is None or orders is None:
        return None
    measures = _measures(orders)
    means = {
        (row["encoder"], row["measure"]): (
            percent(row["mean"]),
            percent(row["sd"]),
            percent(row["value"]),
        )
        for row in models.iter_rows(named=True)
    }
    cells = {(row["removed"], row["measure"]): _order(row) for row in orders.iter_rows(named=True)}
    known = set(models["encoder"])
    return PoolOrder(
        [(name, *heading(name)) for name in measures],
        [name for name in encoders if name in known],
        means,
        orders["removed"].unique(maintain_order=True).to_list(),
        cells,
        _conclusion(orders, measures),
        few_models_note(max(orders["n_models"].to_list(), default=0)),
    )


def measure_words(name: str) -> str:
    """`macro ROC_AUC`, `P@5`."""
    title, subtitle = heading(name)
    return f"{subtitle} {title}".strip()


def _measures(orders: pl.DataFrame) -> list[str]:
    """The areas and other measures of judged pairs, and the measures of lists at the smallest k."""
    found = orders["measure"].unique(maintain_order=True).to_list()
    smallest = min(filter(None, map(cutoff_of, found)), default=0)
    first = [*(name for name in PREFERRED if name in found), *(name for name in found if cutoff_of(name) is None)]
    return [*dict.fromkeys(first), *(name for name in found if cutoff_of(name) == smallest)]


def _order(row: dict[str, Any]) -> OrderCorrelation:
    """With the exact p where every order of the models could be counted, otherwise the t approximation."""
    spearman, p = row["spearman"], row.get("p_exact")
    if spearman is None:
        return OrderCorrelation(DASH, "undefined", 0.0)
    return OrderCorrelation(signed(spearman), p_value(row["p_value"] if p is None else p), min(1.0, 1.0 - spearman))


def _conclusion(orders: pl.DataFrame, measures: list[str]) -> str:
    """Which measure's order moves most, and whether that of the ranking does."""
    n_models = max(orders["n_models"].to_list(), default=0)
    lowest: dict[str, tuple[float, str]] = {}
    for key in measures:
        rows = orders.filter((pl.col("measure") == key) & pl.col("spearman").is_not_null()).sort("spearman", "removed")
        if len(rows):
            lowest[key] = rows["spearman"][0], rows["removed"][0]
    if not lowest:
        return f"With {n_models} models and these labels the orders cannot be compared."
    moving = {key: low for key, low in lowest.items() if low[0] < 1.0}
    if not moving:
        return "The order of the models is the same under every measure, whichever generator is left out."
    worst = min(moving.values())[0]
    without: dict[str, list[str]] = {}
    for key, (low, removed) in moving.items():
        if low == worst:
            without.setdefault(removed, []).append(measure_words(key))
    where = "; ".join(f"by {join_names(names, max_names=6)} without {removed}" for removed, names in without.items())
    moves = f"The order changes most (Spearman {signed(worst)}) {where}"
    main = lowest.get(PREFERRED[0])
    if main and main[0] > worst:
        return f"{moves}; by {MAIN_NAME} {_kept(main)}."
    steadiest = max(lowest, key=lambda key: lowest[key][0])  # the first of equals: areas come before lists
    if lowest[steadiest][0] == worst:
        return f"{moves}."
    return f"{moves}; by {measure_words(steadiest)} {_kept(lowest[steadiest])}."


def _kept(lowest: tuple[float, str]) -> str:
    spearman, removed = lowest
    if spearman >= 1.0:
        return "it stays the same whichever generator is left out"
    return f"it changes less (lowest {signed(spearman)}, without {removed})"
