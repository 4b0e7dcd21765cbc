"""Are far candidates really dissimilar? The share of similar pairs in each band of the generators' ranks."""

from dataclasses import dataclass

import polars as pl

from likewise.report.formatting import NBSP, interval, percent


@dataclass(frozen=True)
class RankBand:
    """One band; ranks are counted from 1, as everywhere on the page."""

    first: int
    last: int
    n_pairs: int
    n_drawn: int
    n_labelled: int
    n_similar: int
    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class RankBands:
    bands: list[RankBand]
    conclusion: str


def rank_bands(table: pl.DataFrame | None) -> RankBands | None:
    """None where no pairs were drawn by rank."""
    if table is None or table.is_empty():
        return None
    bands = [
        RankBand(row.pop("first_rank") + 1, row.pop("last_rank") + 1, **row)
        for row in table.sort("first_rank", "last_rank").to_dicts()
    ]
    return RankBands(bands, _conclusion(bands))


def _conclusion(bands: list[RankBand]) -> str:
    """The share of the farthest band with labels: sampled negatives come from far ranks."""
    labelled = [band for band in bands if band.share is not None]
    if not labelled:
        return "None of the drawn pairs has a label yet."
    far = labelled[-1]
    share = f"{percent(far.share)}{NBSP}% ({interval(far.low, far.high)})"
    return f"At ranks {far.first:,} to {far.last:,}, {share} of the pairs are similar."
