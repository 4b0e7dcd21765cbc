"""What is not labelled: how much of each model's list, what it could change, and which pairs to label next."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from likewise.report.formatting import join_names
from likewise.report.leaderboard import Leaderboard
from likewise.report.plots.ranges import PlotRange
from likewise.report.thumbnails import EmbeddedThumbnails

N_NEXT = 8


@dataclass(frozen=True)
class UnlabelledBounds:
    """One model: the share of its lists that is judged, bpref, and the bounds of its gallery ROC-AUC."""

    encoder: str
    judged: list[float | None]
    bpref: float | None
    bpref_ends: tuple[float | None, float | None]
    n_unlabelled: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Unlabelled:
    k: int
    judged: list[str]
    models: list[UnlabelledBounds]
    next_pairs: list[tuple[str, str]]
    n_next: int
    conclusion: str
    of_design: bool = False  # the next pairs were drawn by a design

    @property
    def ranges(self) -> list[PlotRange]:
        return [
            PlotRange(one.encoder, one.low, one.high, value=one.value)
            for one in self.models
            if one.low is not None and one.high is not None
        ]


def unlabelled_section(
    table: pl.DataFrame | None, next_pairs: pl.DataFrame | None, board: Leaderboard, thumbnails: EmbeddedThumbnails
) -> Unlabelled | None:
    """None for results of an older `likewise evaluate`; `thumbnails` gets the pictures of the next pairs."""
    if table is None or table.is_empty():
        return None
    rows = {row["encoder"]: row for row in table.iter_rows(named=True)}
    judged = [place for place, column in enumerate(board.columns) if column.measure.startswith("Judged@")]
    models = [
        UnlabelledBounds(
            model.encoder,
            [model.cells[place].value for place in judged],
            row["bpref"],
            (row.get("bpref_low"), row.get("bpref_high")),
            row["n_unlabelled"],
            model.main.value,
            row["auc_low"],
            row["auc_high"],
        )
        for model in board.models
        if (row := rows.get(model.encoder)) is not None
    ]
    waiting = next_pairs.select("query", "candidate").rows() if next_pairs is not None else []
    shown = different_queries(waiting, N_NEXT)
    for pair in shown:
        for image in pair:
            thumbnails.add(image)
    titles = [board.columns[place].title for place in judged]
    drawn = next_pairs is not None and "probability" in next_pairs.columns
    return Unlabelled(table["k"][0], titles, models, shown, len(waiting), _conclusion(models), drawn)


def different_queries(pairs: Sequence[tuple[str, str]], n: int) -> list[tuple[str, str]]:
    """The first n pairs, one per query as long as there are others: seven times one query shows little."""
    seen: Counter[str] = Counter()
    turns = []
    for place, (query, _) in enumerate(pairs):
        turns.append((seen[query], place))
        seen[query] += 1
    return [pairs[place] for _, place in sorted(turns)[:n]]


def _conclusion(models: list[UnlabelledBounds]) -> str:
    """Whose bar reaches the leading model's; mixtures of both cases could lie outside, so nothing is called sure."""
    known = [one for one in models if one.low is not None and one.high is not None]
    if len(known) < 2:
        return ""
    best, others = known[0], known[1:]
    if not any(one.n_unlabelled for one in known):
        return "Every candidate in these lists has a label."
    near = [one.encoder for one in others if (one.high or 0.0) >= (best.low or 0.0)]
    if near:
        overlap = f"The bar of {best.encoder} overlaps with that of {join_names(near)}"
        return f"{overlap}: the missing labels could change the order."
    return f"In neither case does another model’s bar reach that of {best.encoder}."
