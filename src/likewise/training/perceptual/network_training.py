"""One training of a whole network from answers: its inputs, its steps, and snapshots on the way."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.encoders.families.small import NAME as SMALL
from likewise.encoders.networks.device import memory_explained, mixed_precision, move_to_device, to_device, to_numpy
from likewise.encoders.networks.network import Network
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.encoders.running.picture_reader import PictureReader, read_prepared
from likewise.encoders.spec import parse_spec
from likewise.evaluation.auc import Floats, Ints
from likewise.optional_dependencies import import_optional
from likewise.training.image_dataset import ImageDataset
from likewise.training.network import (
    calibrate_batch_norm,
    get_torch_encoder,
    load_trunk,
    set_training_mode,
    trunk_recipe,
)
from likewise.training.perceptual.adapter import answer_scores
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.calibration import fit_calibration
from likewise.training.perceptual.features import ImageVectors
from likewise.training.perceptual.settings import NetworkPlan
from likewise.training.trainer import Weights, copy_weights, split_batches

if TYPE_CHECKING:
    from torch import nn

MIN_CROP = 0.8  # of the side: people saw the whole picture
SCALE_LEARNING_RATE = 1e-2  # of s and b, which are single numbers


@dataclass(frozen=True)
class NetworkSnapshot:
    """The network after some steps: vectors of all images, and how cosines become votes."""

    step: int
    vectors: Vectors
    scale: float
    offset: float

    def logits(self, image_vectors: ImageVectors, answers: Answers) -> Floats:
        return self.scale * answer_scores(self.vectors, image_vectors, answers) + self.offset


@dataclass(frozen=True)
class NetworkInputs:
    """The images themselves: `images` below `root`, one per row of `image_vectors`."""

    plan: NetworkPlan
    root: Path
    images: tuple[str, ...]
    image_vectors: ImageVectors

    @cached_property
    def network(self) -> Network:
        return get_torch_encoder(self.plan.encoder)

    @cached_property
    def prepared(self) -> PictureReader:
        """As `likewise encode` prepares them, so that what is measured is the encoder that is kept."""
        return PictureReader(self.images, partial(read_prepared, self.root, self.network.recipe))

    @cached_property
    def dataset(self) -> ImageDataset:
        recipe = trunk_recipe(self.plan.encoder)
        return ImageDataset(self.images, self.root, recipe, MIN_CROP)

    @cached_property
    def images_of(self) -> dict[int, Ints]:
        """The images of every stimulus."""
        return {
            stimulus: np.flatnonzero(self.image_vectors.stimulus == stimulus)
            for stimulus in np.unique(self.image_vectors.stimulus)
        }


class NetworkTraining:
    """One training of one network from some answers."""

    def __init__(self, inputs: NetworkInputs, answers: Answers, seed: int) -> None:
        self.torch = import_optional("torch", "training")
        self.inputs, self.answers = inputs, answers
        self.rng = np.random.default_rng(seed)
        self.torch.manual_seed(seed)
        self.trunk = self._load_trunk()
        vectors = self.embed()
        curve = fit_calibration(
            answer_scores(vectors, inputs.image_vectors, answers),
            answers.yes,
            answers.no,
            through_zero=answers.are_triplets,
        )
        scale_and_offset = np.array([np.log(max(curve.slope, 1.0)), curve.offset], np.float32)
        self.scale_and_offset = self.torch.nn.Parameter(to_device(scale_and_offset))
        self.start = vectors
        plan = inputs.plan
        groups = [
            {"params": list(self.trunk.parameters()), "lr": plan.rate, "weight_decay": plan.weight_decay},
            {"params": [self.scale_and_offset], "lr": SCALE_LEARNING_RATE, "weight_decay": 0.0},
        ]
        self.optimiser = self.torch.optim.Adam(groups)

    def _load_trunk(self) -> "nn.Module":
        """At its starting weights; batch norms of an untrained one are measured on images of training answers."""
        encoder = self.inputs.plan.encoder
        trunk, _ = load_trunk(encoder)
        for weight in trunk.parameters():
            weight.requires_grad_(True)
        if parse_spec(encoder)[0].family == SMALL:
            rows = np.flatnonzero(np.isin(self.inputs.image_vectors.stimulus, self.answers.named_stimuli))
            calibrate_batch_norm(trunk, (self._plain(part) for part in split_batches(rows)))
        return move_to_device(trunk)

    def train(self, n_steps: int) -> Iterator[NetworkSnapshot]:
        """A snapshot of the start and then every so many steps; the last one is after the last step."""
        every = max(1, self.inputs.plan.steps // self.inputs.plan.n_evaluations)
        yield self.snapshot(0, self.start)
        step = 0
        while step < n_steps:
            for rows in self._batches():
                self.step(rows)
                step += 1
                if step % every == 0 or step == n_steps:
                    yield self.snapshot(step, self.embed())
                if step == n_steps:
                    return

    def snapshot(self, step: int, vectors: Vectors) -> NetworkSnapshot:
        log_scale, offset = self.scale_and_offset.detach().cpu().tolist()
        return NetworkSnapshot(step, vectors, float(np.exp(log_scale)), 0.0 if self.answers.are_triplets else offset)

    def step(self, rows: Ints) -> None:
        """One batch of answers: an image of every stimulus they name, a little cropped."""
        set_training_mode(self.trunk)
        batch, torch = self.answers.subset(rows), self.torch
        stimuli = batch.named_stimuli
        inputs = [int(self.rng.choice(self.inputs.images_of[stimulus])) for stimulus in stimuli]
        pixels = to_device(self.inputs.dataset.train_inputs(inputs, self.rng))
        with mixed_precision(), memory_explained("use a smaller --batch"):
            unit = torch.nn.functional.normalize(self.trunk(pixels)).float()
        rows_of = [to_device(np.searchsorted(stimuli, each)) for each in (batch.query, batch.close, batch.far)]
        query, close = unit[rows_of[0]], unit[rows_of[1]]
        cosine = (query * close).sum(1)
        if batch.are_triplets:
            cosine = cosine - (query * unit[rows_of[2]]).sum(1)
        logit = self.scale_and_offset[0].exp() * cosine + (0.0 if batch.are_triplets else self.scale_and_offset[1])
        yes, no = (to_device(each.astype(np.float32)) for each in (batch.yes, batch.no))
        softplus = torch.nn.functional.softplus
        loss = (softplus(-logit) * yes + softplus(logit) * no).sum() / (yes + no).sum()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()

    def embed(self) -> Vectors:
        """Vectors of all images, as the encoder will make them."""
        self.trunk.eval()
        parts = []
        with self.torch.inference_mode():
            for rows in split_batches(np.arange(len(self.inputs.images))):
                parts.append(to_numpy(self.trunk(to_device(self._plain(rows)))))
        return unit_rows(np.concatenate(parts))

    def weights(self) -> Weights:
        return copy_weights(self.trunk)

    def _plain(self, rows: Ints) -> Any:
        return self.inputs.network.recipe.tensor(self.inputs.prepared[rows])

    def _batches(self) -> list[Ints]:
        order, size = self.rng.permutation(len(self.answers)), self.inputs.plan.batch
        return [order[start : start + size] for start in range(0, len(order), size)]
