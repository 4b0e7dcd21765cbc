"""Training the Combiner: softmax over the batch's targets and over each triplet's own negatives, temperature .01.

AdamW with a cosine schedule and early stopping on templates that are not trained on.  The encoder stays frozen, or one
or both of its sides are trained along (`tune`), as the paper does; features are never scaled to length one first.
"""

import copy
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.conditional.combiner import (
    CONJUNCTIVE,
    GATED,
    KINDS,
    LINEAR,
    CombinerShape,
    TrainedCombiner,
    combiner_module,
    write_combiner,
)
from likewise.conditional.protocol import Features, images_of
from likewise.conditional.screening import combiner_lineage, question_set
from likewise.conditional.towers import TwoTower
from likewise.conditional.trainable import TrainableEncoder, load_trainable, save_trained
from likewise.conditional.training_triplets import is_mined, keep_encoded_triplets, train_validation_split
from likewise.conditional.two_tower import check_steps
from likewise.conditional.validation import ValidationSet, Validator, validation_size
from likewise.encoders.networks.device import (
    memory_explained,
    mixed_precision,
    move_to_device,
    repeatable_kernels,
    to_device,
)
from likewise.encoders.running.picture_reader import PictureReader
from likewise.errors import LikewiseError
from likewise.files import written_together
from likewise.lineage.guard import screen_models
from likewise.optional_dependencies import import_optional
from likewise.progress import ProgressCallback
from likewise.spreadsheets import csv_text
from likewise.workspace import WorkspaceFolder, write_text

if TYPE_CHECKING:
    from torch import nn

MODALITIES = ("image", "text")
COMBINER = "the Combiner"
NO_CANDIDATE = -1e4
"""The score of what is no candidate, far below every other."""


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
    negatives_per_triplet: int = 16
    """Of each triplet's own negatives, at most so many are used per step; 0 for the batch alone, as in the paper."""
    validate_every: int = 100
    """Steps between two validations."""
    patience: int = 6
    """Validations without a better one after which training stops."""
    held_out: float = 0.1
    """Share of references held out for validation where no templates are given."""
    projection: int = 4
    hidden: int = 8
    dropout: float = 0.5
    seed: int = 0
    kind: str = GATED
    """Of the Combiner: gated, as in the paper, linear or conjunctive."""

    def check(self) -> None:
        """One sentence about the first setting with which nothing could be learned."""
        if self.kind not in KINDS:
            raise LikewiseError(f"there is no {self.kind} Combiner: choose {', '.join(KINDS[:-1])} or {KINDS[-1]}.")
        if any(side not in MODALITIES for side in self.tune):
            raise LikewiseError(f"tune is {','.join(self.tune)}: choose among image and text.")
        check_steps(self.steps, self.batch)
        for name in ("learning_rate", "tune_rate", "temperature"):
            value = getattr(self, name)
            if not 0.0 < value < math.inf:
                raise LikewiseError(f"the {name.replace('_', ' ')} is {value:g}: it must be above 0, and finite.")
        if not 0.0 <= self.dropout < 1.0:
            raise LikewiseError(f"the dropout is {self.dropout:g}: it must be 0 or more, and below 1.")
        if self.negatives_per_triplet < 0 or self.patience < 1:
            raise LikewiseError(
                f"{self.negatives_per_triplet} negatives per triplet and a patience of {self.patience}: at least 0 and "
                "1 are needed."
            )

    def to_stored(self) -> dict[str, Any]:
        """As JSON files keep them."""
        return asdict(self) | {"tune": list(self.tune)}


LINEAR_SETTINGS = TrainingSettings(
    steps=200, learning_rate=5e-4, temperature=0.5, negatives_per_triplet=2, validate_every=50, kind=LINEAR
)
"""What `docs/zero_shot.py` found best for one query vector, on pictures of the captions' kind and of another."""
CONJUNCTIVE_SETTINGS = replace(LINEAR_SETTINGS, temperature=1.0, kind=CONJUNCTIVE)
"""What `docs/zero_shot.py` found best for mined triplets, on the same pictures."""
RECOMMENDED = {GATED: TrainingSettings(), LINEAR: LINEAR_SETTINGS, CONJUNCTIVE: CONJUNCTIVE_SETTINGS}


def recommended_settings(source: str, kind: str | None = None) -> TrainingSettings:
    """For a kind of Combiner; by default conjunctive for mined triplets, gated for questions like those to come."""
    kind = kind or (CONJUNCTIVE if is_mined(source) else GATED)
    return RECOMMENDED[kind] if kind in RECOMMENDED else TrainingSettings(kind=kind)


@dataclass(frozen=True)
class CombinerTrainingResult:
    """What a training run left, and its course."""

    combiner: TrainedCombiner
    history: list[dict[str, float]]
    """step, loss, recall (average Recall@1 on the validation templates)."""
    best_step: int
    best_recall: float
    n_triplets: int
    n_templates: int
    seconds: float
    tower: TwoTower
    """The encoder to use with it: the given one, or the one trained along."""
    notes: tuple[str, ...] = ()
    """Where the questions that choose the best step are not unseen."""


@dataclass(frozen=True)
class _Checkpoint:
    """The best step so far."""

    recall: float = -1.0
    step: int = 0
    module: Any = None
    tower: list[Any] | None = None


@dataclass
class TrainingArrays:
    """Everything a step needs, as arrays over triplets."""

    reference: NDArray[np.int64]
    target: NDArray[np.int64]
    negatives: NDArray[np.int64]
    """(triplets, most): rows of surely wrong images, -1 where there are fewer."""
    text: NDArray[np.int64]
    texts: list[str]
    images: list[str]
    features: Features
    text_features: Features
    inputs: NDArray[Any] | PictureReader | None = None
    tower: TrainableEncoder | None = None
    tune: tuple[str, ...] = field(default=())


def train_combiner(
    workspace: WorkspaceFolder,
    tower: TwoTower,
    triplets: pl.DataFrame,
    validation: ValidationSet | None,
    folder: Path,
    settings: TrainingSettings | None = None,
    *,
    half: str | None = None,
    on_progress: ProgressCallback | None = None,
) -> CombinerTrainingResult:
    """Train on `triplets`, stop early on `validation` (templates, or whole splits), and write the Combiner.

    `half` is the half of the catalog that the triplets were chosen from, for the record.
    """
    settings = settings or TrainingSettings()
    settings.check()
    started = time.monotonic()
    tower.encode(workspace, on_progress=on_progress)
    triplets = keep_encoded_triplets(triplets, tower.encoded_images(workspace))
    lineage = combiner_lineage(workspace, tower, triplets, validation, half)
    notes: list[str] = []
    if validation is not None:
        known = {COMBINER: combiner_lineage(workspace, tower, triplets, None, half)}
        notes = screen_models(known, question_set(workspace, validation, "the validation")).notes([COMBINER])
    if validation is None:
        triplets, validation = train_validation_split(triplets, settings.held_out, settings.seed)
    torch = import_optional("torch", "training a Combiner")
    arrays = _prepare(workspace, tower, triplets, settings)
    with torch.random.fork_rng(devices=[]), repeatable_kernels():
        torch.manual_seed(settings.seed)
        shape = CombinerShape(tower.dim, settings.projection, settings.hidden, settings.dropout, settings.kind)
        module = move_to_device(combiner_module(shape))
        history, best, tuned = _fit(arrays, module, shape, tower, workspace, validation, settings, on_progress)
    module.load_state_dict(best.module)
    about = {"settings": settings.to_stored(), "best_step": best.step, "validation_recall_at_1": best.recall}
    with written_together(folder) as staged:
        spec = tower.spec if tuned is None else save_trained(tuned, staged, lineage)
        combiner = TrainedCombiner(module.eval(), shape, spec, about=about, lineage=lineage)
        write_combiner(staged.staging, combiner)
        write_text(csv_text(pl.DataFrame(history)), staged.staging / "history.csv")
    used = tower if tuned is None else TwoTower(spec)
    seconds = time.monotonic() - started
    return CombinerTrainingResult(
        combiner,
        history,
        best.step,
        best.recall,
        triplets.height,
        validation_size(validation),
        seconds,
        used,
        tuple(notes),
    )


def _prepare(
    workspace: WorkspaceFolder, tower: TwoTower, triplets: pl.DataFrame, settings: TrainingSettings
) -> TrainingArrays:
    images = images_of(triplets)
    row_of = {image: row for row, image in enumerate(images)}
    texts = triplets["condition"].unique().sort().to_list()
    text_of = {text: row for row, text in enumerate(texts)}
    lengths = triplets["gallery"].list.len().to_numpy()
    most = int(lengths.max(initial=0)) if settings.negatives_per_triplet else 0
    negatives = np.full((triplets.height, most), -1, np.int64)
    for triplet, gallery in enumerate(triplets["gallery"] if most else []):
        negatives[triplet, : len(gallery)] = [row_of[image] for image in gallery]
    arrays = TrainingArrays(
        np.array([row_of[image] for image in triplets["reference"]], np.int64),
        np.array([row_of[image] for image in triplets["target"]], np.int64),
        negatives,
        np.array([text_of[text] for text in triplets["condition"]], np.int64),
        texts,
        images,
        tower.image_features(workspace, images),
        tower.text_features(texts),
    )
    if settings.tune:
        arrays.tower, arrays.tune = load_trainable(tower.spec), settings.tune
        arrays.inputs = arrays.tower.image_inputs(workspace, images) if "image" in settings.tune else None
    return arrays


def _fit(
    arrays: TrainingArrays,
    module: "nn.Module",
    shape: CombinerShape,
    tower: TwoTower,
    workspace: WorkspaceFolder,
    validation: ValidationSet,
    settings: TrainingSettings,
    on_progress: ProgressCallback | None,
) -> tuple[list[dict[str, float]], _Checkpoint, TrainableEncoder | None]:
    torch = import_optional("torch", "training a Combiner")
    rng = np.random.default_rng([settings.seed, 2])
    groups = [{"params": list(module.parameters()), "lr": settings.learning_rate}]
    if arrays.tower is not None:
        tuned = [value for side in settings.tune for value in arrays.tower.parameters(side)]
        groups.append({"params": tuned, "lr": settings.tune_rate})
    optimiser = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: 0.5 * (1 + math.cos(math.pi * step / settings.steps))
    )
    validator = Validator(workspace, tower, validation, arrays.tower, settings.tune)
    best = _Checkpoint()
    history: list[dict[str, float]] = []
    losses: list[float] = []
    for step in range(settings.steps + 1):
        if step % settings.validate_every == 0 or step == settings.steps:
            recall = validator.recall(TrainedCombiner(module, shape, tower.spec))
            history.append({"step": step, "loss": float(np.mean(losses or [float("nan")])), "recall": recall})
            losses = []
            if recall > best.recall:
                best = _Checkpoint(recall, step, copy.deepcopy(module.state_dict()), _tower_state(arrays))
            elif step - best.step >= settings.patience * settings.validate_every:
                break
            if on_progress:
                on_progress(f"combiner (best Recall@1 {100 * best.recall:.1f})", step, settings.steps)
        if step == settings.steps:
            break
        chosen = rng.integers(0, len(arrays.reference), settings.batch)
        module.train()
        with mixed_precision(), memory_explained("use a smaller --batch"):
            loss = contrastive_loss(arrays, module, chosen, settings, rng)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(float(loss.detach()))
    _restore(arrays, best.tower)
    return history, best, arrays.tower


def contrastive_loss(
    arrays: TrainingArrays,
    module: "nn.Module",
    chosen: NDArray[np.int64],
    settings: TrainingSettings,
    rng: np.random.Generator,
) -> Any:
    """Of a batch of triplets: cross-entropy of the target among the batch's targets and the triplet's negatives."""
    torch = import_optional("torch", "training a Combiner")
    normalize = torch.nn.functional.normalize
    queries = module(_images(arrays, arrays.reference[chosen]), _texts(arrays, chosen))
    queries = queries.view(-1, *queries.shape[-2:])  # of a conjunctive Combiner two for every triplet
    target = normalize(_images(arrays, arrays.target[chosen]))
    cosines = queries @ target.T
    same = arrays.target[chosen][:, None] == arrays.target[chosen][None, :]
    # a reference is no candidate of its own query
    own = arrays.reference[chosen][:, None] == arrays.target[chosen][None, :]
    np.fill_diagonal(same, False)
    allowed = ~(same | own)
    negatives = arrays.negatives[chosen]
    n_negatives = min(settings.negatives_per_triplet, negatives.shape[1])
    if n_negatives:
        columns = rng.permutation(negatives.shape[1])[:n_negatives]
        rows = negatives[:, columns]
        images = normalize(_images(arrays, np.maximum(rows, 0).ravel())).view(*rows.shape, -1)
        cosines = torch.cat([cosines, torch.einsum("qbd,bgd->qbg", queries, images)], dim=-1)
        allowed = np.concatenate([allowed, rows >= 0], axis=1)
    candidates = to_device(allowed)
    whole: Any = module
    scores = whole.join(cosines, candidates) if settings.kind == CONJUNCTIVE else cosines[0]
    logits = scores.masked_fill(~candidates, NO_CANDIDATE) / settings.temperature
    return torch.nn.functional.cross_entropy(logits, torch.arange(len(chosen), device=logits.device))


def _images(arrays: TrainingArrays, rows: NDArray[np.int64]) -> Any:
    if arrays.tower is not None and arrays.inputs is not None:
        different, back = np.unique(rows, return_inverse=True)
        return arrays.tower.image(arrays.inputs[different])[to_device(back)]
    return to_device(arrays.features[rows])


def _texts(arrays: TrainingArrays, chosen: NDArray[np.int64]) -> Any:
    if arrays.tower is not None and "text" in arrays.tune:
        different, back = np.unique(arrays.text[chosen], return_inverse=True)
        return arrays.tower.text([arrays.texts[row] for row in different])[to_device(back)]
    return to_device(arrays.text_features[arrays.text[chosen]])


def _tower_state(arrays: TrainingArrays) -> list[Any] | None:
    if arrays.tower is None:
        return None
    return [value.detach().clone() for side in MODALITIES for value in arrays.tower.parameters(side)]


def _restore(arrays: TrainingArrays, state: Sequence[Any] | None) -> None:
    if arrays.tower is None or state is None:
        return
    torch = import_optional("torch", "training")
    with torch.no_grad():
        values = [value for side in MODALITIES for value in arrays.tower.parameters(side)]
        for value, kept in zip(values, state, strict=True):
            value.copy_(kept)
