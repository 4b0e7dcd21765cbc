"""Everything a fold needs, opened once in every process: the split, the door, and the inputs behind it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from likewise.catalog.table import read_catalog
from likewise.encoders.networks.recipe import Tensor
from likewise.encoders.storage.reading import checked_meta, encoded_images
from likewise.errors import LikewiseError
from likewise.training.guard import Door
from likewise.training.methods import Params
from likewise.training.network import calibrate, embedder, torch_encoder, trunk_recipe, whole_trunk
from likewise.training.other_methods import find_method
from likewise.training.pictures import Pictures
from likewise.training.plan import Plan
from likewise.training.split import Rows, Split, split_catalog
from likewise.training.trainer import EMBED_BATCH, Material, Trained, train_fold
from likewise.workspace import Workspace

if TYPE_CHECKING:
    from torch import nn

Argument = TypeVar("Argument")
Result = TypeVar("Result")
Runner = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""`[function(each) for each in arguments]`, here, in processes or on a cluster."""
CALIBRATED_ON = 512  # images


@dataclass(frozen=True)
class Setting:
    """What is trained on what; small enough to be sent anywhere."""

    workspace: Path
    column: str
    encoder: str | None
    """The stored vectors of a frozen trunk, or the network that is trained whole."""
    plan: Plan


@dataclass(frozen=True)
class FoldTask:
    """One model to train."""

    setting: Setting
    method: str
    params: Params
    fold: int
    seed: int
    keep_weights: bool = False


@dataclass(frozen=True)
class Stage:
    """The split and its inputs; test rows are behind the door."""

    setting: Setting
    split: Split
    door: Door
    augmented: Callable[[Rows, np.random.Generator], Tensor]
    plain: Callable[[Rows], Tensor]
    make_network: "Callable[[], nn.Module]"
    trunk_dim: int

    def fold(self, number: int) -> Material:
        """Material whose network has seen nothing but the images that train."""
        fold = self.split.folds[number]

        def make() -> "nn.Module":
            return self.new_network(fold.train)

        return Material(self.split.labels, fold.train, fold.validation, self.augmented, self.plain, make)

    def new_network(self, train: Rows) -> "nn.Module":
        """Trunk and head at their start; an untrained trunk is calibrated on training images."""
        network = self.make_network()
        if self.setting.plan.trunk == "small":
            calibrate(network.trunk, (self.plain(part) for part in in_batches(train[:CALIBRATED_ON])))  # type: ignore[arg-type]
        return network


def in_batches(rows: Rows) -> list[Rows]:
    return [rows[start : start + EMBED_BATCH] for start in range(0, len(rows), EMBED_BATCH)]


def open_stage(setting: Setting) -> Stage:
    """A stage whose test rows are shut."""
    workspace = Workspace(setting.workspace)
    catalog = read_catalog(workspace)
    if setting.plan.trunk == "frozen":
        if setting.encoder is None:
            raise LikewiseError("a frozen trunk needs vectors: name their encoder with --with.")
        having = set(encoded_images(workspace, setting.encoder))
        catalog = catalog.filter(catalog["image"].is_in(having))
    split = split_catalog(catalog, setting.column, setting.plan.n_folds)
    door = Door(workspace, frozenset(split.keys(split.test)))
    return _over_vectors(setting, split, door) if setting.plan.trunk == "frozen" else _whole(setting, split, door)


def _over_vectors(setting: Setting, split: Split, door: Door) -> Stage:
    encoder = setting.encoder or ""
    trunk_dim = checked_meta(door.workspace, encoder).dim
    place = np.full(len(split.images), -1, np.int64)
    place[split.development] = np.arange(len(split.development))
    stored = door.vectors(encoder, split.keys(split.development))

    def plain(rows: Rows) -> Tensor:
        places = place[rows]
        if (places >= 0).all():
            return stored[places]
        return door.vectors(encoder, split.keys(rows))

    def make() -> "nn.Module":
        return embedder(None, trunk_dim, setting.plan.dim)

    return Stage(setting, split, door, lambda rows, _: plain(rows), plain, make, trunk_dim)


def _whole(setting: Setting, split: Split, door: Door) -> Stage:
    encoder = setting.encoder or ""
    pictures = Pictures(split.images, door.picture, trunk_recipe(encoder))

    def plain(rows: Rows) -> Tensor:
        door.check(split.keys(rows))
        return pictures.plain(rows.tolist())

    def augmented(rows: Rows, rng: np.random.Generator) -> Tensor:
        door.check(split.keys(rows))
        return pictures.augmented(rows.tolist(), rng)

    def make() -> "nn.Module":
        return embedder(*whole_trunk(encoder), setting.plan.dim)

    return Stage(setting, split, door, augmented, plain, make, torch_encoder(encoder).dim)


@lru_cache(maxsize=1)
def _stage_here(setting: Setting) -> Stage:
    return open_stage(setting)


def run_fold(task: FoldTask) -> Trained:
    """Train one fold wherever this is called; what a loss does wrong is a failure of the trial, not of the search."""
    stage = _stage_here(task.setting)
    method = find_method(task.method)
    try:
        trained = train_fold(stage.fold(task.fold), method, task.params, task.setting.plan, task.seed)
    except LikewiseError:
        raise
    except Exception as error:  # a loss may do anything
        return Trained(float("nan"), 0, (), 0.0, failure=f"{type(error).__name__}: {error}"[:300])
    if task.keep_weights:
        return trained
    return Trained(trained.map_at_r, trained.step, trained.curve, trained.seconds, None, trained.failure)
