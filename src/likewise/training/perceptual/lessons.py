"""One training of a whole network from answers: what it is shown, its steps, and looks at it on the way."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.catalog.images import load_image
from likewise.encoders.families.small import NAME as SMALL
from likewise.encoders.networks.network import Network
from likewise.encoders.networks.runtimes import device
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Prepared, Vectors
from likewise.encoders.spec import parse
from likewise.evaluation.auc import Floats, Ints
from likewise.optional_dependencies import needed
from likewise.training.network import calibrate as measure_batch_norms
from likewise.training.network import torch_encoder, training_mode, trunk_recipe, whole_trunk
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.calibration import calibrate
from likewise.training.perceptual.features import Pictures
from likewise.training.perceptual.learn import scores_of
from likewise.training.pictures import Pictures as Crops
from likewise.training.trainer import EMBED_BATCH, Weights, copy_of

if TYPE_CHECKING:
    from torch import nn

LEAST_CROP = 0.8  # of the side: people saw the whole picture
SCALE_RATE = 1e-2  # of s and b, which are single numbers


@dataclass(frozen=True)
class TrunkPlan:
    """How a network learns from answers."""

    encoder: str
    steps: int = 200
    looks: int = 8
    batch: int = 64
    """Answers a step."""
    rate: float = 1e-4
    weight_decay: float = 1e-4
    inner_folds: int = 3


@dataclass(frozen=True)
class Look:
    """The network after some steps: vectors of all pictures, and how cosines become votes."""

    step: int
    vectors: Vectors
    scale: float
    offset: float

    def logits(self, pictures: Pictures, answers: Answers) -> Floats:
        return self.scale * scores_of(self.vectors, pictures, answers) + self.offset


@dataclass(frozen=True)
class Shown:
    """The pictures themselves: `images` below `root`, one per row of `pictures`."""

    plan: TrunkPlan
    root: Path
    images: tuple[str, ...]
    pictures: Pictures

    @cached_property
    def network(self) -> Network:
        return torch_encoder(self.plan.encoder)

    @cached_property
    def prepared(self) -> list[Prepared]:
        """As `likewise encode` prepares them, so that what is measured is the encoder that is kept."""
        return [self.network.prepare(load_image(self.root / image, self.network.pixels)) for image in self.images]

    @cached_property
    def crops(self) -> Crops:
        recipe = trunk_recipe(self.plan.encoder)
        return Crops(self.images, lambda image, side: load_image(self.root / image, side), recipe, LEAST_CROP)

    @cached_property
    def showing(self) -> dict[int, Ints]:
        """The pictures of every thing."""
        return {thing: np.flatnonzero(self.pictures.thing == thing) for thing in np.unique(self.pictures.thing)}


class Lessons:
    """One training of one network from some answers."""

    def __init__(self, shown: Shown, answers: Answers, seed: int) -> None:
        self.torch, self.place = needed("torch", "training"), device()
        self.shown, self.answers = shown, answers
        self.rng = np.random.default_rng(seed)
        self.torch.manual_seed(seed)
        self.trunk = self._fresh()
        vectors = self.embed()
        curve = calibrate(
            scores_of(vectors, shown.pictures, answers), answers.yes, answers.no, through_zero=answers.are_triplets
        )
        single = self.torch.tensor([np.log(max(curve.slope, 1.0)), curve.offset], dtype=self.torch.float32)
        self.single = self.torch.nn.Parameter(single.to(self.place))
        self.start = vectors
        plan = shown.plan
        groups = [
            {"params": list(self.trunk.parameters()), "lr": plan.rate, "weight_decay": plan.weight_decay},
            {"params": [self.single], "lr": SCALE_RATE, "weight_decay": 0.0},
        ]
        self.optimiser = self.torch.optim.Adam(groups)

    def _fresh(self) -> "nn.Module":
        """At its starting weights; batch norms of an untrained one are measured on pictures of training answers."""
        encoder = self.shown.plan.encoder
        trunk, _ = whole_trunk(encoder)
        for weight in trunk.parameters():
            weight.requires_grad_(True)
        if parse(encoder)[0].family == SMALL:
            rows = np.flatnonzero(np.isin(self.shown.pictures.thing, self.answers.named_things))
            measure_batch_norms(trunk, (self._plain(part) for part in _parts(rows)))
        return trunk.to(self.place)

    def until(self, n_steps: int) -> Iterator[Look]:
        """Look at the start and then every so many steps; the last look is after the last step."""
        every = max(1, self.shown.plan.steps // self.shown.plan.looks)
        yield self.look(0, self.start)
        step = 0
        while step < n_steps:
            for rows in self._batches():
                self.step(rows)
                step += 1
                if step % every == 0 or step == n_steps:
                    yield self.look(step, self.embed())
                if step == n_steps:
                    return

    def look(self, step: int, vectors: Vectors) -> Look:
        log_scale, offset = self.single.detach().cpu().tolist()
        return Look(step, vectors, float(np.exp(log_scale)), 0.0 if self.answers.are_triplets else offset)

    def step(self, rows: Ints) -> None:
        """One batch of answers: a picture of every thing they name, a little cropped."""
        training_mode(self.trunk)
        batch, torch = self.answers.only(rows), self.torch
        things = batch.named_things
        shown = [int(self.rng.choice(self.shown.showing[thing])) for thing in things]
        inputs = torch.from_numpy(self.shown.crops.augmented(shown, self.rng)).to(self.place)
        unit = torch.nn.functional.normalize(self.trunk(inputs))
        query, close = (unit[np.searchsorted(things, each)] for each in (batch.query, batch.close))
        cosine = (query * close).sum(1)
        if batch.are_triplets:
            cosine = cosine - (query * unit[np.searchsorted(things, batch.far)]).sum(1)
        logit = self.single[0].exp() * cosine + (0.0 if batch.are_triplets else self.single[1])
        yes, no = (torch.from_numpy(each).float().to(self.place) for each in (batch.yes, batch.no))
        softplus = torch.nn.functional.softplus
        loss = (softplus(-logit) * yes + softplus(logit) * no).sum() / (yes + no).sum()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()

    def embed(self) -> Vectors:
        """Vectors of all pictures, as the encoder will make them."""
        self.trunk.eval()
        parts = []
        with self.torch.inference_mode():
            for rows in _parts(np.arange(len(self.shown.images))):
                parts.append(self.trunk(self.torch.from_numpy(self._plain(rows)).to(self.place)).cpu().numpy())
        return unit_rows(np.concatenate(parts))

    def weights(self) -> Weights:
        return copy_of(self.trunk)

    def _plain(self, rows: Ints) -> Any:
        return self.shown.network.recipe.tensor(np.stack([self.shown.prepared[row] for row in rows]))

    def _batches(self) -> list[Ints]:
        order, size = self.rng.permutation(len(self.answers)), self.shown.plan.batch
        return [order[start : start + size] for start in range(0, len(order), size)]


def _parts(rows: Ints) -> list[Ints]:
    return [rows[start : start + EMBED_BATCH] for start in range(0, len(rows), EMBED_BATCH)]
