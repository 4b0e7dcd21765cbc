"""The design behind labels, as columns of a file: inclusion probability and round of every pair that was drawn.

`inclusion_probability` is the pool's `probability` (labels have a column of that name already: a rule's chance
of `similar`), `round` the pool's. Drawn pairs that nobody labelled belong to the design, so they are rows without a
label. A label outside the design has no probability and round 0.
"""

from pathlib import Path

import polars as pl

from likewise.errors import LikewiseError
from likewise.labeling.votes import PAIR

INCLUSION = "inclusion_probability"
ROUND = "round"
DESIGN_COLUMNS = (INCLUSION, ROUND)
OUTSIDE, MAX_ROUND = 0, 1_000_000
DESIGN_SCHEMA = pl.Schema({"query": pl.String, "candidate": pl.String, "probability": pl.Float64, "round": pl.Int32})


def with_design(labels: pl.DataFrame, pool: pl.DataFrame) -> pl.DataFrame:
    """Labels with the design of a drawn pool, and its drawn pairs without a label."""
    drawn = pool.select(*PAIR, pl.col("probability").alias(INCLUSION), ROUND)
    joined = labels.join(drawn, on=PAIR, how="full", coalesce=True)
    return joined.with_columns(pl.col(ROUND).fill_null(OUTSIDE)).sort(PAIR)


class DesignColumns:
    """Gathers the design of a file row by row; says which row is wrong."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[tuple[str, str], tuple[float, int]] = {}
        self._without: str | None = None  # the first row that says nothing of a design

    def add(self, pair: tuple[str, str], probability: object, in_round: object, where: str) -> None:
        """A row's probability and round as written."""
        if _blank(probability):
            if _blank(in_round) or _round(in_round, where) != OUTSIDE:
                self._without = self._without or where
            return
        value = _number(probability, INCLUSION, where)
        if not 0.0 < value <= 1.0:
            raise LikewiseError(
                f"{where}: the inclusion probability {value:g} is not above 0 and at most 1: every drawn pair had a "
                "chance of being drawn; write it as the design did."
            )
        said = value, 1 if _blank(in_round) else _round(in_round, where)
        if self._rows.setdefault(pair, said) != said:
            raise LikewiseError(
                f"{where} gives ({pair[0]}, {pair[1]}) the inclusion probability {value:g}, and a row before it "
                f"{self._rows[pair][0]:g}: two designs are mixed; import the labels of one."
            )

    def table(self) -> pl.DataFrame | None:
        """The drawn pairs, sorted; None where no row has a probability."""
        if not self._rows:
            return None
        if self._without is not None:
            raise LikewiseError(
                f"{self._without} has no inclusion probability, but other rows of {self._path.name} have: write that "
                f"of every drawn pair, and round {OUTSIDE} beside labels of pairs that no design drew."
            )
        rows = [(*pair, *said) for pair, said in self._rows.items()]
        return pl.DataFrame(rows, schema=DESIGN_SCHEMA, orient="row").sort(PAIR)


def _blank(value: object) -> bool:
    return value is None or not str(value).strip()


def _round(value: object, where: str) -> int:
    number = _number(value, ROUND, where)
    if not (number.is_integer() and OUTSIDE <= number <= MAX_ROUND):
        raise LikewiseError(f"{where}: the round {value!r} is not a whole number from {OUTSIDE} up: mend it.")
    return int(number)


def _number(value: object, what: str, where: str) -> float:
    try:
        return float(str(value))
    except ValueError:
        raise LikewiseError(f"{where}: the {what.replace('_', ' ')} {value!r} is not a number: mend it.") from None
