"""What every reader returns."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl


@dataclass(frozen=True)
class Reading:
    """Rows with at least `image` (relative to `root`) and `row` (where in the source it stood)."""

    rows: pl.DataFrame
    root: Path
