"""CSV files that people open in a spreadsheet: a text that a spreadsheet would run as a formula gets a quote before it.

Reading takes the quote away again, so that keys and names survive the way there and back.
"""

import polars as pl

FORMULA = r"^('*[=+\-@\t\r])"


def defuse_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Every text that begins like a formula begins with a quote."""
    return table.with_columns(pl.col(pl.String).str.replace(FORMULA, "'${1}"))


def csv_text(table: pl.DataFrame, separator: str = ",") -> str:
    """A table as CSV for people: the one way to write one, without formulas."""
    return defuse_formulas(table).write_csv(separator=separator)


def restore_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """What `defuse_formulas` was given."""
    return table.with_columns(pl.col(pl.String).str.replace(r"^'('*[=+\-@\t\r])", "${1}"))
