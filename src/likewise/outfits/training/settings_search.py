"""Which settings train a model best: drawn at random around its preset, each trained, all compared by the same blanks.

Trials do not depend on each other, so they are trained one after the other on this machine or side by side on a Ray
cluster, with the same result. A finished trial is kept: an interrupted search goes on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.intervals import wilson_interval
from likewise.outfits.models.card import models_folder
from likewise.outfits.training.presets import get_preset
from likewise.outfits.training.step import OutfitSource, TrainingRequest, train_outfit_model
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, write_parquet

FACTOR = 10.0  # learning rate and weight decay are drawn between the preset's divided and multiplied by it
WIDTHS = (0.5, 1.0, 2.0)  # by the preset's
NEAR_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
TaskRunner = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""`[function(each) for each in arguments]`, here or on a cluster."""


@dataclass(frozen=True)
class SettingsTrial:
    """One training of a search; small enough to be sent anywhere."""

    workspace: Path
    request: TrainingRequest
    outfit_source: OutfitSource | None = None
    force: bool = False


@dataclass(frozen=True)
class TrialOutcome:
    """How many blanks of the validation outfits the best epoch filled right."""

    epoch: int
    accuracy: float
    n_blanks: int


@dataclass(frozen=True)
class SettingsSearch:
    """All trials, in the order in which they were drawn, and the request with the best settings."""

    trials: pl.DataFrame
    best: TrainingRequest


def sample_training_requests(request: TrainingRequest, n_trials: int) -> list[TrainingRequest]:
    """The preset itself first, then settings around it, by the request's seed; what the user has fixed stays so."""
    preset = get_preset(request.kind, request.preset)
    rng = np.random.default_rng([request.seed, 61])
    drawn = [request]
    for _ in range(n_trials - 1):
        rate, decay = FACTOR ** rng.uniform(-1.0, 1.0, 2)
        width, near = rng.choice(WIDTHS), rng.choice(NEAR_SHARES)
        near_share = None if request.finetuned_encoder else float(near)
        drawn.append(
            replace(
                request,
                learning_rate=request.learning_rate or float(f"{preset.learning_rate * rate:.3g}"),
                weight_decay=float(f"{preset.weight_decay * decay:.3g}"),
                width=request.width or max(1, round(preset.width * float(width))),
                near_share=near_share if request.near_share is None else request.near_share,
            )
        )
    names = [f"trials/{request.folder_name}/{number}" for number in range(1, n_trials + 1)]
    return [replace(each, name=name) for each, name in zip(drawn, names, strict=True)]


def run_trial(trial: SettingsTrial) -> TrialOutcome:
    """Train one model, or find it trained."""
    workspace = WorkspaceFolder(trial.workspace)
    card = train_outfit_model(workspace, trial.request, outfit_source=trial.outfit_source, force=trial.force)
    about = card.training
    assert about.epoch is not None and about.validation_accuracy is not None and about.n_validation is not None
    return TrialOutcome(about.epoch, about.validation_accuracy, about.n_validation)


def run_here(
    on_progress: ProgressCallback | None, function: Callable[[Any], Any], arguments: Sequence[Any]
) -> list[Any]:
    """A `TaskRunner` of this process: one after the other."""
    found = []
    for number, each in enumerate(arguments, 1):
        found.append(function(each))
        if on_progress:
            on_progress("trials", number, len(arguments))
    return found


def search_settings(
    workspace: WorkspaceFolder,
    request: TrainingRequest,
    n_trials: int,
    runner: TaskRunner,
    *,
    outfit_source: OutfitSource | None = None,
    force: bool = False,
) -> SettingsSearch:
    """Train `n_trials` models and name the settings of the one that fills most blanks; the first of equals."""
    if request.kind == "popular":
        raise LikewiseError("popular counts what is worn and has no settings to search: leave --trials out.")
    if n_trials < 2:
        raise LikewiseError("a search needs at least two trials: the preset's settings and others.")
    paths = {name: getattr(request, name) for name in ("outfits", "triplets")}
    absolute = {name: path.resolve() for name, path in paths.items() if path is not None}
    asked = replace(request, **absolute, tests=tuple(path.resolve() for path in request.tests))
    drawn = sample_training_requests(asked, n_trials)
    found = runner(run_trial, [SettingsTrial(workspace.path.resolve(), one, outfit_source, force) for one in drawn])
    trials = trial_table(drawn, found)
    write_parquet(trials, models_folder(workspace) / "trials" / request.folder_name / "trials.parquet")
    best = drawn[int(trials["accuracy"].arg_max() or 0)]
    return SettingsSearch(trials, replace(best, name=request.name))


def trial_table(requests: Sequence[TrainingRequest], outcomes: Sequence[TrialOutcome]) -> pl.DataFrame:
    """One row per trial: its settings, and the blanks it filled right, with a 95 % interval."""
    rows = []
    for number, (request, found) in enumerate(zip(requests, outcomes, strict=True), 1):
        preset = get_preset(request.kind, request.preset).with_changes(**request.preset_changes)
        low, high = wilson_interval(found.accuracy, found.n_blanks)
        settings = (preset.learning_rate, preset.weight_decay, preset.width, preset.near_share)
        rows.append((number, *settings, found.epoch, found.accuracy, low, high, found.n_blanks))
    names = ("trial", "learning_rate", "weight_decay", "width", "near_share", "epoch", "accuracy", "low", "high")
    return pl.DataFrame(rows, schema=[*names, "n_blanks"], orient="row")
