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
    from likewise.training.plan import TrainingPlan

CONCATENATED = "concatenated"


@dataclass(frozen=True, repr=False, kw_only=True)
class TrainingTable(IntervalResult):
    """The numbers of a training; `folder` holds everything it wrote."""

    folder: Path
    differences: pl.DataFrame | None = None
    embedding: str = CONCATENATED
    """The one that is shown, where a table has several."""

    def shown_rows(self) -> pl.DataFrame:
        """Of several embeddings one; what was not seen in training stands beside an encoder's name."""
        rows = self.table
        if "embedding" in rows.columns:
            rows = rows.filter(embedding=self.embedding)
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
    ablate: Sequence[str] = (),
    preset: str = "quick",
    trunk: str | None = None,
    encoder: str | None = None,
    column: str = "item",
    name: str | None = None,
    trials: int | None = None,
    reruns: int | None = None,
    steps: int | None = None,
    evaluate_every: int | None = None,
    patience: int | None = None,
    lr: float | None = None,
    dim: int | None = None,
    batch_norm: str | None = None,
    batch: int | None = None,
    crops: str | None = None,
    optimiser: str | None = None,
    sampling: str | None = None,
    schedule: str | None = None,
    warmup: int | None = None,
    miner: str | None = None,
    workers: int = 1,
    storage: str | None = None,
    claims: str | Path | None = None,
    compare_with: Sequence[str | Path] = (),
    half: str | None = None,
    seed: int = 0,
    on_progress: ProgressCallback | None = None,
) -> TrainingTable:
    """Compare losses fairly (A Metric Learning Reality Check) on the classes of a catalog column.

    Options have the names and the meaning of `likewise train check`, whose --with is `encoder` here. With `ablate`
    (crops, optimiser, batch-norm, batch-size, miner, embedding-size) one of these at a time is changed instead.
    """
    from likewise.training.plan import make_plan

    plan = make_plan(
        preset,
        trunk=trunk,
        trials=trials,
        reruns=reruns,
        steps=steps,
        evaluate_every=evaluate_every,
        patience=patience,
        lr=lr,
        dim=dim,
        batch=batch,
        batch_norm=batch_norm,
        crops=crops,
        optimiser=optimiser,
        sampling=sampling,
        schedule=schedule,
        warmup=warmup,
        miner=miner,
    )
    about = RunOptions(column, encoder, name, seed, half, storage, workers, on_progress)
    if ablate:
        return _ablation(workspace, methods, plan, ablate, about)
    published = None if claims is None else Path(claims)
    return _comparison(workspace, methods, plan, about, published, [Path(each) for each in compare_with])


@dataclass(frozen=True)
class RunOptions:
    """What a check and an ablation have in common besides the plan."""

    column: str
    encoder: str | None
    name: str | None
    seed: int
    half: str | None
    storage: str | None
    workers: int
    on_progress: ProgressCallback | None


def _comparison(
    workspace: WorkspaceFolder,
    methods: Sequence[str],
    plan: "TrainingPlan",
    about: RunOptions,
    claims: Path | None,
    other_runs: Sequence[Path],
) -> TrainingTable:
    from likewise.training.reality_check import run_reality_check
    from likewise.training.workers import training_processes

    with training_processes(about.workers) as runner:
        done = run_reality_check(
            workspace,
            methods,
            plan,
            runner,
            column=about.column,
            encoder=about.encoder,
            name=about.name or "check",
            seed=about.seed,
            half=about.half,
            storage=about.storage,
            claims=claims,
            other_runs=other_runs,
            on_progress=about.on_progress,
        )
    title = f"{workspace.path}: losses compared on classes nobody tuned on ({CONCATENATED} embeddings)"
    note = "95 % intervals over reruns."
    table, folder = done.accuracy, done.run.path
    return TrainingTable(table, title, note, name_column="method", folder=folder, differences=done.differences)


def _ablation(
    workspace: WorkspaceFolder, methods: Sequence[str], plan: "TrainingPlan", factors: Sequence[str], about: RunOptions
) -> TrainingTable:
    from likewise.training.ablation import run_ablation
    from likewise.training.report.ablation import EMBEDDING, setting_name
    from likewise.training.workers import training_processes

    with training_processes(about.workers) as runner:
        done = run_ablation(
            workspace,
            methods or ["contrastive"],
            plan,
            factors,
            runner,
            column=about.column,
            encoder=about.encoder,
            name=about.name or "ablation",
            seed=about.seed,
            half=about.half,
            storage=about.storage,
            on_progress=about.on_progress,
        )
    names = [
        f"{method}, {setting_name(factor, setting)}"
        for method, factor, setting in done.table.select("method", "factor", "setting").iter_rows()
    ]
    table = done.table.with_columns(pl.Series("name", names))
    title = f"{workspace.path}: one setting changed at a time ({EMBEDDING} embeddings)"
    note = " ".join(["95 % intervals over reruns.", *(f"{each}." for each in done.notes)])
    return TrainingTable(table, title, note, name_column="name", folder=done.run.path, embedding=EMBEDDING)


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
