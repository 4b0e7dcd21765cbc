"""Everything a fold needs, opened once in every process: the split, the guard of its test set, and the inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.catalog.table import read_catalog
from likewise.encoders.networks.device import repeatable_kernels
from likewise.encoders.networks.recipe import Tensor
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.reading import encoded_images, read_checked_meta
from likewise.errors import LikewiseError
from likewise.lineage.halves import select_half
from likewise.training.custom_methods import find_method
from likewise.training.guard import TestSetGuard
from likewise.training.image_dataset import ImageDataset
from likewise.training.methods import Params
from likewise.training.network import build_embedder, calibrate_batch_norm, get_torch_encoder, load_trunk, trunk_recipe
from likewise.training.plan import TrainingPlan
from likewise.training.split import ClassSplit, Rows, split_catalog
from likewise.training.trainer import FoldData, TrainedFold, split_batches, train_fold
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from torch import nn

TaskRunner = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""`[function(each) for each in arguments]`, here, in processes or on a cluster."""
N_CALIBRATION_IMAGES = 512


@dataclass(frozen=True)
class CheckConfig:
    """What is trained on what; small enough to be sent anywhere."""

    workspace: Path
    column: str
    encoder: str | None
    """The stored vectors of a frozen trunk, or the network that is trained whole."""
    plan: TrainingPlan
    half: str | None = None
    """The half of the items that everything here is about."""


@dataclass(frozen=True)
class FoldTask:
    """One model to train."""

    config: CheckConfig
    method: str
    params: Params
    fold: int
    seed: int
    keep_weights: bool = False


@dataclass(frozen=True)
class TrainingContext:
    """The split and its inputs; the guard refuses test rows."""

    config: CheckConfig
    split: ClassSplit
    guard: TestSetGuard
    train_inputs: Callable[[Rows, np.random.Generator], Tensor]
    eval_inputs: Callable[[Rows], Tensor]
    make_network: "Callable[[], nn.Module]"
    trunk_dim: int

    def fold_data(self, number: int) -> FoldData:
        """Data whose network has seen nothing but the images that train."""
        fold = self.split.folds[number]

        def make() -> "nn.Module":
            return self.new_network(fold.train)

        inputs = self.train_inputs, self.eval_inputs
        return FoldData(self.split.labels, fold.train, fold.validation, *inputs, make, self.split.items)

    def new_network(self, train: Rows) -> "nn.Module":
        """Trunk and head at their start; an untrained trunk is calibrated on training images."""
        network = self.make_network()
        if self.config.plan.trunk == "small":
            batches = split_batches(train[:N_CALIBRATION_IMAGES])
            calibrate_batch_norm(network.trunk, map(self.eval_inputs, batches))  # type: ignore[arg-type]
        return network


def open_context(config: CheckConfig) -> TrainingContext:
    """A context whose test rows are locked."""
    workspace = WorkspaceFolder(config.workspace)
    catalog = select_half(read_catalog(workspace), config.half)
    if config.plan.trunk == "frozen":
        if config.encoder is None:
            raise LikewiseError("a frozen trunk needs vectors: name their encoder with --with.")
        encoded = set(encoded_images(workspace, config.encoder))
        catalog = catalog.filter(catalog["image"].is_in(encoded))
    split = split_catalog(catalog, config.column, config.plan.n_folds)
    guard = TestSetGuard(workspace, frozenset(split.keys(split.test)))
    return (
        _frozen_context(config, split, guard)
        if config.plan.trunk == "frozen"
        else _network_context(config, split, guard)
    )


def _frozen_context(config: CheckConfig, split: ClassSplit, guard: TestSetGuard) -> TrainingContext:
    encoder = config.encoder or ""
    trunk_dim = read_checked_meta(guard.workspace, encoder).dim
    place = np.full(len(split.images), -1, np.int64)
    for part in (split.development, split.test):
        place[part] = np.arange(len(part))
    vectors = guard.vectors(encoder, split.keys(split.development))
    is_test = np.isin(np.arange(len(split.images)), split.test)

    @cache
    def test_vectors() -> Vectors:
        return guard.vectors(encoder, split.keys(split.test))

    def eval_inputs(rows: Rows) -> Tensor:
        asked = is_test[rows]
        if not asked.any():
            return vectors[place[rows]]
        guard.check_access(split.keys(rows))
        found = np.empty((len(rows), vectors.shape[1]), vectors.dtype)
        found[~asked], found[asked] = vectors[place[rows[~asked]]], test_vectors()[place[rows[asked]]]
        return found

    def make() -> "nn.Module":
        return build_embedder(None, trunk_dim, config.plan.dim)

    return TrainingContext(config, split, guard, lambda rows, _: eval_inputs(rows), eval_inputs, make, trunk_dim)


def _network_context(config: CheckConfig, split: ClassSplit, guard: TestSetGuard) -> TrainingContext:
    encoder = config.encoder or ""
    dataset = ImageDataset(split.images, guard.workspace.root, trunk_recipe(encoder), crops=config.plan.crops)

    def eval_inputs(rows: Rows) -> Tensor:
        guard.check_access(split.keys(rows))
        return dataset.eval_inputs(rows.tolist())

    def train_inputs(rows: Rows, rng: np.random.Generator) -> Tensor:
        guard.check_access(split.keys(rows))
        return dataset.train_inputs(rows.tolist(), rng)

    def make() -> "nn.Module":
        return build_embedder(*load_trunk(encoder), config.plan.dim)

    return TrainingContext(config, split, guard, train_inputs, eval_inputs, make, get_torch_encoder(encoder).dim)


@lru_cache(maxsize=1)
def _cached_context(config: CheckConfig) -> TrainingContext:
    return open_context(config)


def run_fold(task: FoldTask) -> TrainedFold:
    """Train one fold wherever this is called; what a loss does wrong is a failure of the trial, not of the search."""
    context = _cached_context(task.config)
    method = find_method(task.method)
    try:
        with repeatable_kernels():
            trained = train_fold(context.fold_data(task.fold), method, task.params, task.config.plan, task.seed)
    except LikewiseError:
        raise
    except Exception as error:  # a loss may do anything
        return TrainedFold(float("nan"), 0, (), 0.0, failure=f"{type(error).__name__}: {error}"[:300])
    if task.keep_weights:
        return trained
    return TrainedFold(trained.map_at_r, trained.step, trained.curve, trained.seconds, None, trained.failure)
