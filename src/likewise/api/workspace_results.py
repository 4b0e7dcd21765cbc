"""What the methods of a workspace return: tables that show themselves."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from likewise.api.plots import interval_plot
from likewise.api.table_result import TableResult
from likewise.errors import LikewiseError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from likewise.evaluation.gate.result import GateResult
    from likewise.labeling.agreement import InterAnnotatorAgreement
    from likewise.status import WorkspaceStatus
    from likewise.update import CatalogUpdate
    from likewise.web.serve import BackgroundSite


FRAME_PIXELS = 800


@dataclass(frozen=True, repr=False)
class CatalogResult(TableResult):
    """`table` is the catalog; `problems` lists what was wrong with images, kept or left out."""

    problems: pl.DataFrame | None = None


@dataclass(frozen=True, repr=False, kw_only=True)
class UpdateResult(TableResult):
    """`table` counts what changed; `update` has the images by name."""

    update: "CatalogUpdate"


@dataclass(frozen=True, repr=False)
class EncodingTable(TableResult):
    """A row per encoder: dimensions, images, what was left out, seconds."""


@dataclass(frozen=True, repr=False)
class LabelsResult(TableResult):
    """`table` has a row per labelled pair; `agreement` says how far the experts agree, where there are votes."""

    agreement: "InterAnnotatorAgreement | None" = None

    def short_table(self) -> pl.DataFrame:
        return self.table.group_by("label").len("pairs").sort("label")

    def plot(self) -> "Figure":
        """How often each expert agrees with the majority of the others."""
        if self.agreement is None:
            raise LikewiseError("these labels come without votes, so there is no agreement of experts to plot.")
        rows = {one.expert: (one.agreement.value, None, None) for one in self.agreement.experts}
        return interval_plot(rows, "agreement with the majority of the other experts (%)")


@dataclass(frozen=True, repr=False, kw_only=True)
class StatusResult(TableResult):
    """`table` has a row per part of the chain; `status` is the same with the next command."""

    status: "WorkspaceStatus"

    def short_table(self) -> pl.DataFrame:
        return self.table.select("part", "state", "holds", "why")


@dataclass(frozen=True, repr=False, kw_only=True)
class ReportResult(TableResult):
    """The page that was written: `path` opens in any browser."""

    path: Path

    def _repr_html_(self) -> str:
        return f'<a href="{self.path.resolve().as_uri()}" target="_blank">{self.path}</a>'


@dataclass(frozen=True, repr=False, kw_only=True)
class GateTable(TableResult):
    """`table` has a row for all queries and one per category; `gate` is everything, `path` the page."""

    gate: "GateResult"
    path: Path

    @property
    def verdict(self) -> str:
        return self.gate.verdict

    @property
    def exit_code(self) -> int:
        return self.gate.exit_code

    def short_table(self) -> pl.DataFrame:
        return self.table.select("group", "verdict", "old", "new", "difference", "low", "high", "n_queries")

    def plot(self) -> "Figure":
        """The difference over all queries and in every category, with its interval."""
        columns = ("group", "difference", "low", "high")
        rows = {group: (value, low, high) for group, value, low, high in self.table.select(columns).iter_rows()}
        return interval_plot(rows, f"{self.gate.new} minus {self.gate.old}, {self.gate.measure} (points)")


@dataclass(frozen=True, repr=False, kw_only=True)
class ExplorePage(TableResult):
    """The explore page, served from this process: `url` opens in any browser of this machine, `stop()` ends it."""

    url: str
    site: "BackgroundSite"

    def stop(self) -> None:
        """End the site."""
        self.site.stop()

    def _repr_html_(self) -> str:
        frame = f'<iframe src="{self.url}" title="{escape(self.title)}" width="100%" height="{FRAME_PIXELS}"></iframe>'
        return f'{frame}<p><a href="{self.url}" target="_blank">{self.url}</a></p>'
