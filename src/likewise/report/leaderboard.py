"""The leaderboard: the long table of results as one row per model, in the two groups of VSD's Table 5."""

from dataclasses import dataclass

import polars as pl

from likewise.evaluation.measures import AP, ROC_AUC, cutoff_of, heading, is_sampled
from likewise.evaluation.ranking import MAIN, Group, group_encoders, rank_encoders, treats_alike
from likewise.report.formatting import NBSP, interval, percent

PREFERRED = tuple(map(str, (MAIN, ROC_AUC, ROC_AUC(average="micro"), AP, AP(average="micro"))))
SCALE_STEP = 0.05  # the whiskers' axis starts and ends at multiples of this


@dataclass(frozen=True)
class Column:
    """One measure of the table and the queries it rests on."""

    measure: str
    title: str
    subtitle: str
    queries: str
    alike: bool  # whether it may compare generators with new models


@dataclass(frozen=True)
class Cell:
    value: float | None
    low: float | None
    high: float | None
    text: str
    hint: str
    best: bool


@dataclass(frozen=True)
class Whisker:
    """Where value and interval lie on the common axis, in percent of its width."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LeaderboardRow:
    encoder: str
    generator: bool
    learned: bool
    place: int | None
    cells: list[Cell]
    main: Cell
    whisker: Whisker | None


@dataclass(frozen=True)
class Leaderboard:
    columns: list[Column]
    models: list[LeaderboardRow]
    sides: list[Group]
    axis: tuple[float, float]
    n_pairs: int
    n_queries: int  # that the measure of the order rests on
    n_queries_total: int

    @property
    def groups(self) -> list[tuple[str, str, list[LeaderboardRow]]]:
        """(id, heading, models) of the groups that have any."""
        by_name = {model.encoder: model for model in self.models}
        return [
            (side.id, f"{side.name}: {side.what}", [by_name[name] for name in side.encoders]) for side in self.sides
        ]

    @property
    def shown(self) -> list[int]:
        """Places of the columns that fit a page: areas over labelled pairs, and the list measures at the smallest k."""
        smallest = min(filter(None, (cutoff_of(column.measure) for column in self.columns)), default=None)
        return [
            place
            for place, column in enumerate(self.columns)
            if cutoff_of(column.measure) in (None, smallest) and not is_sampled(column.measure)
        ]

    @property
    def hidden(self) -> list[int]:
        """Places of all other columns."""
        return [place for place in range(len(self.columns)) if place not in self.shown]

    @property
    def chance_at(self) -> float | None:
        """Where 50 % lies on the axis, if it is on it."""
        low, high = self.axis
        return 100 * (0.5 - low) / (high - low) if low <= 0.5 <= high else None


def leaderboard(results: pl.DataFrame) -> Leaderboard:
    """Best gallery ROC-AUC first, undefined ones last; equal ones by name."""
    columns = [_column(results, measure) for measure in _measures(results)]
    rows = {(row["encoder"], row["measure"]): row for row in results.iter_rows(named=True)}
    fed = dict(results.select("encoder", "generator").unique("encoder").iter_rows())
    learned = set(results.filter(pl.col("learned"))["encoder"])
    best = {fed_it: [_best(results, column, fed_it) for column in columns] for fed_it in (True, False)}
    cells = {
        encoder: [
            _cell(rows.get((encoder, column.measure)), highest)
            for column, highest in zip(columns, best[fed[encoder]], strict=True)
        ]
        for encoder in fed
    }
    axis = axis_of([row[0] for row in cells.values()])
    models = [
        LeaderboardRow(
            encoder,
            fed[encoder],
            encoder in learned,
            place if cells[encoder][0].value is not None and encoder not in learned else None,
            cells[encoder],
            cells[encoder][0],
            whisker_of(cells[encoder][0], axis),
        )
        for place, encoder in enumerate(rank_encoders(results), start=1)
    ]
    n_queries = max((rows[one.encoder, columns[0].measure]["n_queries"] for one in models if one.place), default=0)
    n_pairs, n_queries_total = (max(results[name].to_list()) for name in ("n_pairs", "n_queries_total"))
    return Leaderboard(columns, models, group_encoders(results), axis, n_pairs, n_queries, n_queries_total)


def _measures(results: pl.DataFrame) -> list[str]:
    """The measures in the table: areas first, then the others as they were written."""
    found = results["measure"].unique(maintain_order=True).to_list()
    areas = [name for name in PREFERRED if name in found or name == PREFERRED[0]]
    return [*areas, *(name for name in found if name not in areas)]


def _column(results: pl.DataFrame, measure: str) -> Column:
    rows = results.filter(pl.col("measure") == measure)
    defined = sorted(set(rows["n_queries"].to_list()))
    counted = "–".join(str(n) for n in dict.fromkeys((defined[0], defined[-1]))) if defined else "0"
    total = max(rows["n_queries_total"].to_list(), default=0)
    return Column(measure, *heading(measure), f"{counted}/{total}", treats_alike(measure))


def _best(results: pl.DataFrame, column: Column, generators: bool) -> float | None:
    """The best value among the models that may be compared: all, or only generators, or only new models."""
    rows = results.filter((pl.col("measure") == column.measure) & ~pl.col("learned"))
    if not column.alike:
        rows = rows.filter(generator=generators)
    values = rows["value"].drop_nulls().to_list()
    return max(values) if len(values) > 1 else None


def _cell(row: dict[str, float | None] | None, best: float | None) -> Cell:
    if row is None:
        return Cell(None, None, None, percent(None), "not measured", best=False)
    value, low, high = row["value"], row["low"], row["high"]
    counted = f"over {row['n_queries']} of {row['n_queries_total']} queries"
    hint = f"undefined, {counted}" if value is None else f"95{NBSP}% {interval(low, high)}, {counted}"
    return Cell(value, low, high, percent(value), hint, best=best is not None and value == best)


def axis_of(cells: list[Cell]) -> tuple[float, float]:
    """From a step below the lowest end of any interval to a step above the highest."""
    ends = [end for cell in cells for end in (cell.value, cell.low, cell.high) if end is not None]
    if not ends:
        return 0.0, 1.0
    low = int(min(ends) / SCALE_STEP) * SCALE_STEP
    high = min(1.0, (int(max(ends) / SCALE_STEP) + 1) * SCALE_STEP)
    return low, max(high, low + SCALE_STEP)


def whisker_of(cell: Cell, axis: tuple[float, float]) -> Whisker | None:
    """A cell on an axis; None where it is undefined."""
    if cell.value is None:
        return None

    def place(value: float) -> float:
        return round(100 * (value - axis[0]) / (axis[1] - axis[0]), 2)

    low, high = (cell.value if end is None else end for end in (cell.low, cell.high))
    return Whisker(place(cell.value), place(low), place(high))
