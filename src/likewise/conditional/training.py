"""Training the Combiner: softmax over the batch's targets and over each lesson's own wrong answers, temperature .01.

AdamW with a cosine schedule and early stopping on templates that are not trained on.  The encoder stays frozen, or one
or both of its sides are trained along (`tune`), as the paper does; features are never scaled to length one first.
"""

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.conditional.apart import questions_of
from likewise.conditional.combiner import LEARNED, CombinerShape, TrainedCombiner, combiner_module, write_combiner
from likewise.conditional.judging import Judge, Validation, n_questions
from likewise.conditional.lessons import held_out_templates, known_lessons
from likewise.conditional.protocol import Features, images_of
from likewise.conditional.towers import TwoTower
from likewise.conditional.tuning import Tunable, keep_tuned, tunable
from likewise.errors import LikewiseError
from likewise.optional_dependencies import needed
from likewise.workspace import Workspace, write_parquet

if TYPE_CHECKING:
    from torch import nn

SIDES = ("image", "text")
Told = Callable[[str, int, int], None] | None


@dataclass(frozen=True)
class TrainingSettings:
    """The paper's loss and schedule; rates and steps are for small encoders on a CPU.

    The paper trains CLIP with `tune` on both sides, 28,000 steps of 256 and a rate of 1e-6 for everything.
    """

    tune: tuple[str, ...] = ()
    steps: int = 1500
    batch: int = 256
    learning_rate: float = 3e-4
    tune_rate: float = 3e-5
    weight_decay: float = 0.01
    temperature: float = 0.01
    wrong_answers: int = 16
    """Of each lesson's own wrong answers, at most so many are used per step; 0 for the batch alone, as in the paper."""
    every: int = 100
    """Steps between two validations."""
    patience: int = 6
    """Validations without a better one after which training stops."""
    held_out: float = 0.1
    """Share of references held out for validation where no templates are given."""
    projection: int = 4
    hidden: int = 8
    dropout: float = 0.5
    seed: int = 0


@dataclass(frozen=True)
class CombinerTrained:
    """What a training run left, and its course."""

    combiner: TrainedCombiner
    history: list[dict[str, float]]
    """step, loss, recall (average R@1 on the validation templates)."""
    best_step: int
    best_recall: float
    n_lessons: int
    n_templates: int
    seconds: float
    tower: TwoTower
    """The encoder to use with it: the given one, or the one trained along."""


@dataclass
class Run:
    """Everything a step needs, as arrays over lessons."""

    reference: NDArray[np.int64]
    target: NDArray[np.int64]
    wrong: NDArray[np.int64]
    """(lessons, most): rows of surely wrong images, -1 where there are fewer."""
    text: NDArray[np.int64]
    texts: list[str]
    images: list[str]
    features: Features
    text_features: Features
    inputs: NDArray[Any] | None = None
    tower: Tunable | None = None
    tune: tuple[str, ...] = field(default=())


def train_combiner(
    workspace: Workspace,
    tower: TwoTower,
    lessons: pl.DataFrame,
    validation: Validation | None,
    folder: Path,
    settings: TrainingSettings | None = None,
    *,
    on_progress: Told = None,
) -> CombinerTrained:
    """Train on `lessons`, stop early on `validation` (templates, or whole splits), and write the Combiner."""
    settings = settings or TrainingSettings()
    unknown = [side for side in settings.tune if side not in SIDES]
    if unknown:
        raise LikewiseError(f"tune is {','.join(settings.tune)}: choose among image and text.")
    if settings.steps < 1 or settings.batch < 2:
        raise LikewiseError(
            f"{settings.steps} steps of batches of {settings.batch}: at least one step and batches of two are needed."
        )
    started = time.monotonic()
    tower.encode(workspace, on_progress=on_progress)
    lessons = known_lessons(lessons, tower.encoded_images(workspace))
    learned = questions_of(lessons, validation)
    if validation is None:
        lessons, validation = held_out_templates(lessons, settings.held_out, settings.seed)
    torch = needed("torch", "training a Combiner")
    run = _prepare(workspace, tower, lessons, settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        shape = CombinerShape(tower.dim, settings.projection, settings.hidden, settings.dropout)
        module = combiner_module(shape)
        history, best, tuned = _fit(run, module, shape, tower, workspace, validation, settings, on_progress)
    module.load_state_dict(best["state"])
    used = tower
    if tuned is not None:
        used = TwoTower(keep_tuned(tuned, folder))
    about = {"settings": asdict(settings), "best_step": best["step"], "validation_recall_at_1": best["recall"]}
    combiner = TrainedCombiner(module.eval(), shape, used.spec, about=about)
    write_parquet(learned, folder / LEARNED)
    write_combiner(folder, combiner)
    pl.DataFrame(history).write_csv(folder / "history.csv")
    seconds = time.monotonic() - started
    return CombinerTrained(
        combiner, history, best["step"], best["recall"], lessons.height, n_questions(validation), seconds, used
    )


def _prepare(workspace: Workspace, tower: TwoTower, lessons: pl.DataFrame, settings: TrainingSettings) -> Run:
    images = images_of(lessons)
    row_of = {image: row for row, image in enumerate(images)}
    texts = lessons["condition"].unique().sort().to_list()
    text_of = {text: row for row, text in enumerate(texts)}
    lengths = lessons["gallery"].list.len().to_numpy()
    most = int(lengths.max(initial=0)) if settings.wrong_answers else 0
    wrong = np.full((lessons.height, most), -1, np.int64)
    for lesson, gallery in enumerate(lessons["gallery"] if most else []):
        wrong[lesson, : len(gallery)] = [row_of[image] for image in gallery]
    run = Run(
        np.array([row_of[image] for image in lessons["reference"]], np.int64),
        np.array([row_of[image] for image in lessons["target"]], np.int64),
        wrong,
        np.array([text_of[text] for text in lessons["condition"]], np.int64),
        texts,
        images,
        tower.image_features(workspace, images),
        tower.text_features(texts),
    )
    if settings.tune:
        run.tower, run.tune = tunable(tower.spec), settings.tune
        run.inputs = run.tower.image_inputs(workspace, images) if "image" in settings.tune else None
    return run


def _fit(
    run: Run,
    module: "nn.Module",
    shape: CombinerShape,
    tower: TwoTower,
    workspace: Workspace,
    validation: Validation,
    settings: TrainingSettings,
    on_progress: Told,
) -> tuple[list[dict[str, float]], dict[str, Any], Tunable | None]:
    torch = needed("torch", "training a Combiner")
    rng = np.random.default_rng([settings.seed, 2])
    groups = [{"params": list(module.parameters()), "lr": settings.learning_rate}]
    if run.tower is not None:
        tuned = [value for side in settings.tune for value in run.tower.parameters(side)]
        groups.append({"params": tuned, "lr": settings.tune_rate})
    optimiser = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: 0.5 * (1 + math.cos(math.pi * step / settings.steps))
    )
    judge = Judge(workspace, tower, validation, run.tower, settings.tune)
    best: dict[str, Any] = {"recall": -1.0}
    history: list[dict[str, float]] = []
    losses: list[float] = []
    for step in range(settings.steps + 1):
        if step % settings.every == 0 or step == settings.steps:
            recall = judge.recall(TrainedCombiner(module, shape, tower.spec))
            history.append({"step": step, "loss": float(np.mean(losses or [float("nan")])), "recall": recall})
            losses = []
            if recall > best["recall"]:
                best = {"recall": recall, "step": step, "state": copy.deepcopy(module.state_dict())}
                best["tower"] = _tower_state(run)
            elif step - best["step"] >= settings.patience * settings.every:
                break
            if on_progress:
                on_progress(f"combiner (best R@1 {100 * best['recall']:.1f})", step, settings.steps)
        if step == settings.steps:
            break
        chosen = rng.integers(0, len(run.reference), settings.batch)
        module.train()
        loss = loss_of(run, module, chosen, settings, rng)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(float(loss.detach()))
    _restore(run, best["tower"])
    return history, best, run.tower


def loss_of(
    run: Run, module: "nn.Module", chosen: NDArray[np.int64], settings: TrainingSettings, rng: np.random.Generator
) -> Any:
    """Of a batch of lessons: cross-entropy of the target among the batch's targets and the lesson's wrong answers."""
    torch = needed("torch", "training a Combiner")
    normalize = torch.nn.functional.normalize
    query = module(_images(run, run.reference[chosen]), _texts(run, chosen))
    target = normalize(_images(run, run.target[chosen]))
    logits = query @ target.T
    same = run.target[chosen][:, None] == run.target[chosen][None, :]
    own = run.reference[chosen][:, None] == run.target[chosen][None, :]  # a reference is no candidate of its own query
    np.fill_diagonal(same, False)
    logits = logits.masked_fill(torch.from_numpy(same | own), -10.0)
    wrong = run.wrong[chosen]
    n_wrong = min(settings.wrong_answers, wrong.shape[1])
    if n_wrong:
        columns = rng.permutation(wrong.shape[1])[:n_wrong]
        rows = wrong[:, columns]
        images = normalize(_images(run, np.maximum(rows, 0).ravel())).view(*rows.shape, -1)
        more = torch.einsum("bd,bgd->bg", query, images).masked_fill(torch.from_numpy(rows < 0), -10.0)
        logits = torch.cat([logits, more], dim=1)
    right = torch.arange(len(chosen))
    return torch.nn.functional.cross_entropy(logits / settings.temperature, right)


def _images(run: Run, rows: NDArray[np.int64]) -> Any:
    if run.tower is not None and run.inputs is not None:
        different, place = np.unique(rows, return_inverse=True)
        return run.tower.image(run.inputs[different])[place]
    return needed("torch", "training").from_numpy(run.features[rows])


def _texts(run: Run, chosen: NDArray[np.int64]) -> Any:
    if run.tower is not None and "text" in run.tune:
        different, place = np.unique(run.text[chosen], return_inverse=True)
        return run.tower.text([run.texts[row] for row in different])[place]
    return needed("torch", "training").from_numpy(run.text_features[run.text[chosen]])


def _tower_state(run: Run) -> list[Any] | None:
    if run.tower is None:
        return None
    return [value.detach().clone() for side in SIDES for value in run.tower.parameters(side)]


def _restore(run: Run, state: Sequence[Any] | None) -> None:
    if run.tower is None or state is None:
        return
    torch = needed("torch", "training")
    with torch.no_grad():
        values = [value for side in SIDES for value in run.tower.parameters(side)]
        for value, kept in zip(values, state, strict=True):
            value.copy_(kept)
