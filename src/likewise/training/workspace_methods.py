"""What training adds to `likewise.Workspace`: `train_check`, `train_perceptual`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from likewise.api.table_result import TableResult, percent_interval
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

CONCATENATED = "concatenated"


@dataclass(frozen=True, repr=False)
class TrainingTable(TableResult):
    """The numbers of a training; `folder` holds everything it wrote."""

    folder: Path = Path()
    differences: pl.DataFrame | None = None

    def short_table(self) -> pl.DataFrame:
        shown: dict[str, dict[str, str]] = {}
        name = "method" if "method" in self.table.columns else "encoder"
        for row in self.table.iter_rows(named=True):
            if row.get("embedding", CONCATENATED) == CONCATENATED:
                key = row[name] + (f", {row['unseen']} unseen" if "unseen" in row else "")
                value = percent_interval(row["value"], row["low"], row["high"])
                shown.setdefault(key, {name: key})[row["measure"]] = value
        return pl.DataFrame(list(shown.values()))


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
    on_progress: ProgressCallback | None = None,
) -> TrainingTable:
    """Compare losses fairly (A Metric Learning Reality Check) on the classes of a catalog column."""
    from likewise.training.plan import make_plan
    from likewise.training.reality_check import run_reality_check
    from likewise.training.workers import local_workers

    plan = make_plan(preset, trials=trials, reruns=reruns, steps=steps)
    with local_workers(workers) as runner:
        done = run_reality_check(
            workspace,
            methods,
            plan,
            runner,
            column=column,
            encoder=encoder,
            name=name,
            seed=seed,
            on_progress=on_progress,
        )
    title = f"{workspace.path}: losses compared on classes nobody tuned on ({CONCATENATED} embeddings)"
    return TrainingTable(done.accuracy, title, "95 % intervals over reruns.", done.run.path, done.differences)


def train_perceptual(
    workspace: WorkspaceFolder,
    *,
    encoders: Sequence[str] = (),
    triplets: str | Path | None = None,
    name: str = "perceptual",
    seed: int = 0,
    force: bool = False,
    on_progress: ProgressCallback | None = None,
) -> TrainingTable:
    """Learn from the experts' votes (or from triplets) what looks alike; leaves the encoder `run:<name>`."""
    from likewise.training.perceptual.settings import PerceptualSettings
    from likewise.training.perceptual.step import train_perceptual as train

    settings = PerceptualSettings(bases=tuple(encoders), seed=seed)
    if triplets is not None:
        settings = replace(settings, triplets=Path(triplets))
    done = train(workspace, settings, name, force=force, on_progress=on_progress)
    title = f"{workspace.path}: run:{name} against the encoders it learned from, on answers it has not seen"
    return TrainingTable(done.results, title, "95 % intervals.", done.run.folder)
