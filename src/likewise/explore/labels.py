"""What people said about pairs, beside what models find: the labels of a workspace, if there are any."""

import time
from dataclasses import dataclass, field

import polars as pl

from likewise.errors import LikewiseError
from likewise.labeling.step import current_labels
from likewise.workspace import WorkspaceFolder

KEPT_SECONDS = 3.0  # experts may be answering while somebody looks


@dataclass(frozen=True)
class PairLabel:
    """The consensus on a pair (None: divided) and the votes behind it (None: imported without votes)."""

    label: int | None
    similar: int | None
    not_similar: int | None
    cannot_tell: int | None


@dataclass
class LabelReader:
    """The present labels, read again when they are a few seconds old."""

    workspace: WorkspaceFolder
    _read_at: float = -KEPT_SECONDS
    _table: pl.DataFrame | None = None
    _by_query: dict[str, dict[str, PairLabel]] = field(default_factory=dict)

    def table(self) -> pl.DataFrame | None:
        """One row per labelled pair; None where there are neither labels nor votes."""
        self._refresh()
        return self._table

    def of_query(self, image: str) -> dict[str, PairLabel]:
        """By the other image of the pair, whichever of the two was the query."""
        self._refresh()
        return self._by_query.get(image, {})

    def _refresh(self) -> None:
        if time.monotonic() - self._read_at < KEPT_SECONDS:
            return
        try:
            table = current_labels(self.workspace)
        except LikewiseError:
            table = None
        by_query: dict[str, dict[str, PairLabel]] = {}
        if table is not None:
            columns = ("query", "candidate", "label", "similar", "not_similar", "cannot_tell")
            known = [pl.col(name) if name in table.columns else pl.lit(None).alias(name) for name in columns]
            for query, candidate, *values in table.select(known).iter_rows():
                by_query.setdefault(query, {})[candidate] = PairLabel(*values)
            for query, candidate, *values in table.select(known).iter_rows():
                by_query.setdefault(candidate, {}).setdefault(query, PairLabel(*values))
        self._table, self._by_query, self._read_at = table, by_query, time.monotonic()
