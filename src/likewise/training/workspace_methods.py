"""What training adds to `likewise.Workspace`: `finetune`, `train_check`, `train_perceptual`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from likewise.api.table_result import CurveResult, IntervalResult
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from likewise.training.finetune.targets import FinetuneTask

CONCATENATED = "concatenated"


@dataclass(frozen=True, repr=False, kw_only=True)
class TrainingTable(IntervalResult):
    """The numbers of a training; `folder` holds everything it wrote."""

    folder: Path
    differences: pl.DataFrame | None = None

    def shown_rows(self) -> pl.DataFrame:
        """Of several embeddings the concatenated one; what was not seen in training stands beside an encoder's name."""
        rows = self.table
        if "embedding" in rows.columns:
            rows = rows.filter(embedding=CONCATENATED)
        if "unseen" in rows.columns:
            rows = rows.with_columns(pl.format("{}, {} unseen", self.name_column, "unseen").alias(self.name_column))
        return rows


def finetune(
    workspace: WorkspaceFolder,
    encoder: str,
    task: "FinetuneTask",
    name: str,
    *,
    epochs: int = 50,
    batch: int = 32,
    where: str | None = None,
    half: str | None = None,
    seed: int = 0,
    on_progress: ProgressCallback | None = None,
) -> CurveResult:
    """Train an encoder's network on the catalog's items, categories or pictures; leaves the encoder `run:<name>`."""
    from likewise.training.finetune.step import FinetuneSettings
    from likewise.training.finetune.step import finetune as train

    settings = FinetuneSettings(encoder, task, epochs, batch, where=where, half=half, seed=seed)
    done = train(workspace, settings, name, on_progress=on_progress)
    title = f"{workspace.path}: run:{name} learned from {done.summary.n_images:,} images ({task})"
    return CurveResult(done.curve, title, "loss per epoch.", folder=done.run.folder, x="epoch")


def train_check(
    workspace: WorkspaceFolder,
    methods: Sequence[str] = (),
    *,
    column: str = "category",
    encoder: str | None = None,
    preset: str = "quick",
    name: str = "check",
    trials: int | None = None,
    reruns: int | None = None,
    steps: int | None = None,
    workers: int = 1,
    seed: int = 0,
    half: str | None = None,
    on_progress: ProgressCallback | None = None,
) -> TrainingTable:
    """Compare losses fairly (A Metric Learning Reality Check) on the classes of a catalog column."""
    from likewise.training.plan import make_plan
    from likewise.training.reality_check import run_reality_check
    from likewise.training.workers import training_processes

    plan = make_plan(preset, trials=trials, reruns=reruns, steps=steps)
    with training_processes(workers) as runner:
        done = run_reality_check(
            workspace,
            methods,
            plan,
            runner,
            column=column,
            encoder=encoder,
            name=name,
            seed=seed,
            half=half,
            on_progress=on_progress,
        )
    title = f"{workspace.path}: losses compared on classes nobody tuned on ({CONCATENATED} embeddings)"
    note = "95 % intervals over reruns."
    table, folder = done.accuracy, done.run.path
    return TrainingTable(table, title, note, name_column="method", folder=folder, differences=done.differences)


def train_perceptual(
    workspace: WorkspaceFolder,
    *,
    encoders: Sequence[str] = (),
    triplets: str | Path | None = None,
    name: str = "perceptual",
    seed: int = 0,
    half: str | None = None,
    force: bool = False,
    on_progress: ProgressCallback | None = None,
) -> TrainingTable:
    """Learn from the experts' votes (or from triplets) what looks alike; leaves the encoder `run:<name>`."""
    from likewise.training.perceptual.settings import PerceptualSettings
    from likewise.training.perceptual.step import train_perceptual as train

    settings = PerceptualSettings(bases=tuple(encoders), half=half, seed=seed)
    if triplets is not None:
        settings = replace(settings, triplets=Path(triplets))
    done = train(workspace, settings, name, force=force, on_progress=on_progress)
    title = f"{workspace.path}: run:{name} against the encoders it learned from, on answers it has not seen"
    return TrainingTable(done.results, title, "95 % intervals.", folder=done.run.folder)
