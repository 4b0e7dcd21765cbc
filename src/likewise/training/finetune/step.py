"""`likewise train finetune`: train a network on with the catalog, and leave it as the encoder `run:<name>`.

In `runs/<name>/`: encoder.json and encoder.safetensors (the backbone's output, without the heads), curve.parquet,
summary.json, card.md, and while it is not done state.pt, from which it goes on after a stop.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from likewise.catalog import catalog_fingerprint, read_catalog
from likewise.encoders.families.run_files import SETTINGS, TrainedRun, write_run
from likewise.encoders.lineage import encoder_lineage
from likewise.encoders.networks.device import repeatable_kernels
from likewise.errors import LikewiseError
from likewise.files import finish_writing, locked
from likewise.lineage.halves import select_half
from likewise.lineage.record import lesson_from_workspace
from likewise.optional_dependencies import import_optional
from likewise.progress import ProgressCallback
from likewise.training.finetune.dino import DinoLearner, DinoSchedule
from likewise.training.finetune.epochs import STATE_FILE, run_epochs
from likewise.training.finetune.multi_crop import MultiCrop
from likewise.training.finetune.summary import FinetuneSummary
from likewise.training.finetune.supervised import SupervisedLearner
from likewise.training.finetune.targets import ClassTargets, FinetuneTask, class_targets
from likewise.training.image_dataset import ImageDataset
from likewise.training.learned_cards import finetune_card
from likewise.training.network import load_trunk, trunk_recipe
from likewise.training.runs import run_folder
from likewise.training.seeds import derive_seed
from likewise.training.trainer import copy_weights
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from torch import nn

CURVE = "curve.svg"
LOCAL_CROP_RATIO = 96 / 224  # a small crop's side, of a large one's
DINO_DECAY_GROWTH = 10.0  # its weight decay ends so many times higher than it starts


@dataclass(frozen=True)
class FinetuneSettings:
    """What to train, on what, for how long."""

    encoder: str
    task: FinetuneTask
    epochs: int = 50
    batch: int = 32
    rate: float = 1e-4
    weight_decay: float = 1e-4
    where: str | None = None
    """`COLUMN=VALUE`: the images to learn from; all by default."""
    half: str | None = None
    """The half of the items to learn from, `train` for instance."""
    leave_out: tuple[str, ...] = ()
    """Categories that are no categories, such as "Other"."""
    n_local: int = 4
    momentum: float = 0.996
    seed: int = 0


@dataclass(frozen=True)
class FinetuneResult:
    """What was left, and how the loss went."""

    run: TrainedRun
    curve: pl.DataFrame
    summary: FinetuneSummary


def finetune(
    workspace: WorkspaceFolder,
    settings: FinetuneSettings,
    name: str,
    *,
    on_progress: ProgressCallback | None = None,
    on_curve: Callable[[pl.DataFrame, Path], object] | None = None,
) -> FinetuneResult:
    """Train, going on where an earlier run of the same name stopped.

    `on_curve` draws the losses into the run's folder before the run counts as complete.
    """
    folder = run_folder(workspace, name).path
    finish_writing(folder)
    if (folder / SETTINGS).exists():
        raise LikewiseError(f"{folder} holds a trained encoder already: give this run another --name, or delete it.")
    busy = f"another process trains {folder}: wait until it is done."
    with locked(folder / "training", busy), repeatable_kernels():
        return _finetune(workspace, settings, folder, on_progress, on_curve)


def _finetune(
    workspace: WorkspaceFolder,
    settings: FinetuneSettings,
    folder: Path,
    on_progress: ProgressCallback | None,
    on_curve: Callable[[pl.DataFrame, Path], object] | None,
) -> FinetuneResult:
    torch = import_optional("torch", "training")
    catalog = read_catalog(workspace)
    chosen = select_half(catalog, settings.half)
    targets = class_targets(chosen, settings.task, where=settings.where, leave_out=settings.leave_out)
    torch.manual_seed(derive_seed(settings.seed, "heads"))
    trunk, dim = load_trunk(settings.encoder)
    for weight in trunk.parameters():
        weight.requires_grad_(True)
    learner = make_learner(workspace, settings, targets, trunk, dim)
    settings_dict = {**asdict(settings), "leave_out": list(settings.leave_out), "catalog": catalog_fingerprint(catalog)}
    curve = run_epochs(learner, folder, settings.epochs, settings.seed, settings_dict, on_progress)
    if on_curve is not None:
        on_curve(curve, folder / CURVE)
    trained = learner.trunk
    losses = curve["loss"][0], curve["loss"][-1]
    summary = FinetuneSummary(settings_dict, settings.task, len(targets.images), targets.n_classes, *losses)
    weights = copy_weights(trained)
    lesson = lesson_from_workspace(
        workspace,
        "pictures" if settings.task == "dino" else "classes",
        f"train finetune --task {settings.task}",
        targets.images,
        half=settings.half or "",
    )
    lineage = encoder_lineage(workspace, settings.encoder).with_lesson(lesson)
    run = write_run(
        folder,
        "trunk",
        [settings.encoder],
        [],
        dim=dim,
        lineage=lineage,
        trunk=weights,
        about=summary.to_dict(),
        tables={"curve": curve},
        summary=summary.to_dict(),
        card=finetune_card(folder.name, workspace.path.name, summary),
        remove=[STATE_FILE],
    )
    return FinetuneResult(run, curve, summary)


def make_learner(
    workspace: WorkspaceFolder, settings: FinetuneSettings, targets: ClassTargets, trunk: "nn.Module", dim: int
) -> SupervisedLearner | DinoLearner:
    """The task's learner over the pictures of the catalog."""
    recipe = trunk_recipe(settings.encoder)
    dataset = ImageDataset(targets.images, workspace.root, recipe)
    if settings.task != "dino":
        return SupervisedLearner(
            trunk,
            dim,
            targets,
            dataset,
            rate=settings.rate,
            weight_decay=settings.weight_decay,
            batch=settings.batch,
        )
    side = min(recipe.side)
    views = MultiCrop(side, local_crop_side(trunk, side), settings.n_local)
    n_steps = settings.epochs * max(1, len(targets.images) // settings.batch)
    decay = (settings.weight_decay, DINO_DECAY_GROWTH * settings.weight_decay)
    schedule = DinoSchedule(settings.rate, decay, settings.momentum, n_steps)
    return DinoLearner(trunk, dim, dataset, views, schedule, batch=min(settings.batch, len(targets.images)))


def local_crop_side(trunk: "nn.Module", side: int) -> int:
    """The side of small crops, or the whole side for a network that takes only that."""
    torch = import_optional("torch", "training")
    small = max(16, 8 * round(side * LOCAL_CROP_RATIO / 8))
    try:
        with torch.inference_mode():
            trunk.eval()(torch.zeros(1, 3, small, small))
    except Exception:  # whatever a network says to a size it does not know
        return side
    return small
