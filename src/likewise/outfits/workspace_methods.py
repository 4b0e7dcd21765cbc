"""What outfits add to `likewise.Workspace`: `generate_outfits`, `train_outfit_model`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from likewise.api.plots import interval_plot
from likewise.api.table_result import CurveResult, TableResult
from likewise.outfits.generate import GenerationReport
from likewise.outfits.models.card import OutfitModelCard, models_folder
from likewise.outfits.step import generate_outfits as generate
from likewise.outfits.step import outfits_file
from likewise.outfits.training.run_folder import curves_file
from likewise.outfits.training.step import TrainingRequest
from likewise.outfits.training.step import train_outfit_model as train
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False, kw_only=True)
class OutfitsResult(TableResult):
    """`table` has a row per outfit and item; `report` says what the outfits are like; `path` is their file."""

    report: GenerationReport
    path: Path

    def short_table(self) -> pl.DataFrame:
        """How many items each category has, and in what share of the outfits one of them is."""
        rows = [(name, one.n_items, one.share_of_outfits) for name, one in self.report.categories.items()]
        return pl.DataFrame(rows, schema=["category", "items", "share_of_outfits"], orient="row")

    def plot(self) -> "Figure":
        """The share of outfits with an item of each category."""
        shares = self.short_table().select("category", "share_of_outfits").iter_rows()
        return interval_plot({name: (share, None, None) for name, share in shares}, "outfits (%)")


@dataclass(frozen=True, repr=False, kw_only=True)
class OutfitModelResult(CurveResult):
    """`table` has a row per epoch (none for a model that only counts); `card` says what the model was trained on."""

    card: OutfitModelCard


def generate_outfits(
    workspace: WorkspaceFolder,
    n_outfits: int = 50_000,
    *,
    where: str | None = None,
    mapping: Mapping[str, str] | None = None,
    output: str | Path | None = None,
    seed: int = 0,
    half: str | None = None,
    replace: bool = False,
) -> OutfitsResult:
    """Generate different valid outfits from the catalog's items; `mapping` names the category of a catalog's words."""
    path = outfits_file(workspace) if output is None else Path(output)
    made = generate(workspace, n_outfits, where, mapping, path, seed, half=half, replace=replace)
    return OutfitsResult(made.table, f"{path}: {n_outfits:,} valid outfits", report=made.report, path=path)


def train_outfit_model(
    workspace: WorkspaceFolder,
    request: TrainingRequest,
    *,
    force: bool = False,
    on_progress: ProgressCallback | None = None,
) -> OutfitModelResult:
    """Train a compatibility model on outfits; goes on where it stopped. It goes to outfit_models/NAME."""
    card = train(workspace, request, force=force, on_progress=on_progress)
    folder = models_folder(workspace) / request.folder_name
    curves, terms = pl.DataFrame({"epoch": []}), []
    if curves_file(folder).exists():
        long = pl.read_parquet(curves_file(folder), glob=False)
        terms = long["name"].unique(maintain_order=True).to_list()
        curves = long.pivot("name", index="epoch", values="value")
    title = f"{folder}: {card.kind}, from {card.training.n_outfits:,} outfits"
    return OutfitModelResult(curves, title, folder=folder, x="epoch", y=tuple(terms), card=card)
