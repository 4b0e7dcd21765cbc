"""One trainer for every method: the same network, optimiser, batches and stopping rule (Reality Check, sec. 3.1).

RMSprop (or what the plan says); batches of 8 classes x 4 images or 32 x 1; validation MAP@R every so many steps; the
best checkpoint is kept, and training stops when it has not improved for the plan's patience.  One seed decides
weights, batches and crops.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.networks.device import memory_explained, mixed_precision, move_to_device, to_device, to_numpy
from likewise.encoders.networks.recipe import Tensor
from likewise.encoders.protocol import Vectors
from likewise.evaluation.retrieval import retrieval
from likewise.optional_dependencies import import_optional
from likewise.training.methods import LOSS_LR, LossMethod, Params
from likewise.training.miners import make_miner
from likewise.training.network import set_training_mode
from likewise.training.plan import TrainingPlan
from likewise.training.split import Rows

if TYPE_CHECKING:
    from torch import nn

Weights = dict[str, NDArray[Any]]
EMBED_BATCH_SIZE = 256


@dataclass(frozen=True)
class FoldData:
    """What one fold is trained on: inputs by row of the split, and which rows do what."""

    labels: Rows
    train: Rows
    validation: Rows
    train_inputs: Callable[[Rows, np.random.Generator], Tensor]
    eval_inputs: Callable[[Rows], Tensor]
    make_network: Callable[[], "nn.Module"]
    items: Rows | None = None


@dataclass(frozen=True)
class CurvePoint:
    """One evaluation during training; `loss` is the mean since the last one."""

    step: int
    loss: float | None
    map_at_r: float


@dataclass(frozen=True)
class TrainedFold:
    """The best checkpoint of one fold, and how it came about; `failure` says why there is none."""

    map_at_r: float
    step: int
    curve: tuple[CurvePoint, ...]
    seconds: float
    weights: Weights | None = None
    failure: str = ""


def train_fold(fold_data: FoldData, method: LossMethod, params: Params, plan: TrainingPlan, seed: int) -> TrainedFold:
    """Train one model; a loss that is not a number ends it with a failure instead of an exception."""
    torch = import_optional("torch", "training")
    started = time.perf_counter()
    with fixed_seed(torch, seed):
        network = move_to_device(fold_data.make_network())
        classes = {label: number for number, label in enumerate(np.unique(fold_data.labels[fold_data.train]))}
        labels = np.array([classes[label] for label in fold_data.labels[fold_data.train]], np.int64)
        loop = TrainingLoop(torch, network, method, params, plan, len(classes))
        curve = [CurvePoint(0, None, validation_map_at_r(network, fold_data))]
        best, best_weights = curve[0], copy_weights(network)
        set_training_mode(network, plan.batch_norm)
        rng, losses = np.random.default_rng(seed), []
        items = labels if fold_data.items is None else fold_data.items[fold_data.train]
        for step, places in enumerate(sample_batches(labels, items, method, plan, seed), 1):
            inputs = to_device(fold_data.train_inputs(fold_data.train[places], rng))
            losses.append(loop.step(inputs, to_device(labels[places]), plan.lr_factor(step)))
            if step % plan.steps_between_evaluations and step != plan.max_steps:
                continue
            mean = float(torch.stack(losses).mean())
            losses.clear()
            value = validation_map_at_r(network, fold_data) if np.isfinite(mean) else float("nan")
            if np.isnan(value):
                failure = f"the loss or the embeddings were not numbers at step {step}"
                return TrainedFold(value, step, tuple(curve), time.perf_counter() - started, failure=failure)
            curve.append(CurvePoint(step, mean, value))
            set_training_mode(network, plan.batch_norm)
            if curve[-1].map_at_r > best.map_at_r:
                best, best_weights = curve[-1], copy_weights(network)
            if step - best.step >= plan.patience_steps:
                break
    return TrainedFold(best.map_at_r, best.step, tuple(curve), time.perf_counter() - started, best_weights)


class TrainingLoop:
    """One optimiser for the network, and one for the loss where it has weights."""

    def __init__(
        self, torch: Any, network: "nn.Module", method: LossMethod, params: Params, plan: TrainingPlan, n_classes: int
    ) -> None:
        loss_and_miner = method.make_loss(params, n_classes, plan.dim)
        self.network, self.miner = network, loss_and_miner.miner
        if plan.miner and self.miner is None and method.kind == "embedding":
            self.miner = make_miner(plan.miner)
        self.loss = move_to_device(loss_and_miner.loss) if hasattr(loss_and_miner.loss, "to") else loss_and_miner.loss
        self.optimisers = [make_optimiser(torch, network.parameters(), plan, plan.learning_rate)]
        of_loss = list(self.loss.parameters()) if hasattr(self.loss, "parameters") else []
        if of_loss:
            self.optimisers.append(make_optimiser(torch, of_loss, plan, params.get(LOSS_LR, plan.learning_rate)))
        self.rates = [optimiser.param_groups[0]["lr"] for optimiser in self.optimisers]

    def step(self, inputs: Any, labels: Any, lr_factor: float = 1.0) -> Any:
        with mixed_precision(), memory_explained("train a smaller network, or `--trunk frozen`"):
            embeddings = self.network(inputs)
        embeddings = embeddings.float()
        mined = (self.miner(embeddings, labels),) if self.miner else ()
        loss = self.loss(embeddings, labels, *mined)
        for optimiser in self.optimisers:
            optimiser.zero_grad()
        loss.backward()
        for optimiser, rate in zip(self.optimisers, self.rates, strict=True):
            optimiser.param_groups[0]["lr"] = rate * lr_factor
            optimiser.step()
        return loss.detach()


def make_optimiser(torch: Any, parameters: Any, plan: TrainingPlan, rate: float) -> Any:
    """The plan's optimiser; Adam has no momentum to set."""
    if plan.optimiser in ("adam", "adamw"):
        kind = torch.optim.Adam if plan.optimiser == "adam" else torch.optim.AdamW
        return kind(parameters, lr=rate, weight_decay=plan.weight_decay)
    kind = torch.optim.SGD if plan.optimiser == "sgd" else torch.optim.RMSprop
    return kind(parameters, lr=rate, weight_decay=plan.weight_decay, momentum=plan.momentum)


def sample_batches(labels: Rows, items: Rows, method: LossMethod, plan: TrainingPlan, seed: int) -> Iterator[Rows]:
    """Places of each batch; by class, an epoch of the library's sampler after the other. Few classes: a small batch."""
    from pytorch_metric_learning.samplers import MPerClassSampler

    m = method.images_per_class
    size = min(plan.batch - plan.batch % m, m * len(np.unique(labels)))
    if plan.sampling != "class":
        rng = np.random.default_rng(seed)
        for _ in range(plan.max_steps):
            yield (
                draw_items(labels, items, size, m, rng)
                if plan.sampling == "item"
                else rng.choice(len(labels), min(plan.batch, len(labels)), replace=False)
            )
        return
    steps_at_once = 100
    sampler = MPerClassSampler(labels, m, size, length_before_new_iter=size * steps_at_once)
    done = 0
    while done < plan.max_steps:
        for places in np.fromiter(iter(sampler), np.int64).reshape(-1, size):
            yield places
            done += 1
            if done == plan.max_steps:
                return


def draw_items(labels: Rows, items: Rows, size: int, m: int, rng: np.random.Generator) -> Rows:
    """`m` images of each class of a batch, of as many different items as the class has, every item as likely."""
    batch: list[int] = []
    for label in rng.choice(np.unique(labels), size // m, replace=False):
        places = np.flatnonzero(labels == label)
        known = np.unique(items[places])
        chosen = np.concatenate([rng.permutation(known) for _ in range(-(-m // len(known)))])[:m]
        batch += [int(rng.choice(places[items[places] == item])) for item in chosen]
    return np.array(batch, np.int64)


@contextmanager
def fixed_seed(torch: Any, seed: int) -> Iterator[None]:
    """Torch and the library's sampler start from the seed; the sampler's own source of chance is put back."""
    from pytorch_metric_learning.utils import common_functions

    before = common_functions.NUMPY_RANDOM
    torch.manual_seed(seed)
    common_functions.NUMPY_RANDOM = np.random.RandomState(seed)  # what its sampler expects
    try:
        yield
    finally:
        common_functions.NUMPY_RANDOM = before


def validation_map_at_r(network: "nn.Module", fold_data: FoldData) -> float:
    """MAP@R of the validation images among themselves; NaN where the network gives no numbers."""
    rows = fold_data.validation
    vectors = embed(network, fold_data.eval_inputs, rows)
    if not np.isfinite(vectors).all():
        return float("nan")
    return retrieval(vectors, fold_data.labels[rows], whole_rank=False).value("MAP@R")


def embed(network: "nn.Module", eval_inputs: Callable[[Rows], Tensor], rows: Rows) -> Vectors:
    """Embeddings of rows, without augmentation."""
    torch = import_optional("torch", "training")
    network.eval()
    parts = []
    with torch.inference_mode():
        for batch in split_batches(rows):
            parts.append(to_numpy(network(to_device(eval_inputs(batch)))))
    return np.concatenate(parts)


def split_batches(rows: Rows) -> list[Rows]:
    return [rows[start : start + EMBED_BATCH_SIZE] for start in range(0, len(rows), EMBED_BATCH_SIZE)]


def copy_weights(network: "nn.Module") -> Weights:
    return {name: to_numpy(value).copy() for name, value in network.state_dict().items()}
