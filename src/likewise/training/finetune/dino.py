"""DINO's objective continued on a catalog (Caron et al. 2021): a student that sees small crops agrees with its own
moving average that sees large ones.

    loss      mean over pairs of different views of  -sum softmax((t - c) / T_t) log softmax(s / T_s)
    teacher   theta_t <- m theta_t + (1 - m) theta_s, m from `momentum` to 1 along a cosine
    centre    c <- 0.9 c + 0.1 mean of the teacher's outputs, which keeps one output from winning always; here it starts
              at the mean of the first batch instead of zero, because a short training cannot wait for it

The encoder that is kept is the teacher's trunk.
"""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.encoders.networks.device import device, memory_explained, mixed_precision, move_to_device, to_device
from likewise.optional_dependencies import import_optional
from likewise.progress import ProgressCallback
from likewise.training.finetune.epochs import EpochMeans
from likewise.training.finetune.multi_crop import MultiCrop, multi_crop_views
from likewise.training.image_dataset import ImageDataset

if TYPE_CHECKING:
    from torch import nn

STUDENT_TEMPERATURE, TEACHER_TEMPERATURE = 0.1, 0.04
CENTRE_MOMENTUM = 0.9
HIDDEN, BOTTLENECK = 512, 128
MAX_GRADIENT_NORM = 3.0
WARM_UP_SHARE = 0.1  # of all steps, in which the learning rate rises


@dataclass(frozen=True)
class DinoSchedule:
    """Learning rate, weight decay and momentum at every step."""

    rate: float
    weight_decay: tuple[float, float]
    momentum: float
    n_steps: int

    def at(self, step: int) -> tuple[float, float, float]:
        """(rate, weight decay, momentum) of a step, counted from 0."""
        warm = max(1, round(WARM_UP_SHARE * self.n_steps))
        done = min(1.0, step / max(1, self.n_steps - 1))
        rising = (step + 1) / warm
        rate = self.rate * (
            rising if rising < 1.0 else cosine_schedule(1.0, 0.01, (step - warm) / max(1, self.n_steps - warm))
        )
        return rate, cosine_schedule(*self.weight_decay, done), cosine_schedule(self.momentum, 1.0, done)


def cosine_schedule(start: float, end: float, done: float) -> float:
    """From start to end as half a cosine; `done` from 0 to 1."""
    return end + (start - end) * (1.0 + math.cos(math.pi * min(1.0, max(0.0, done)))) / 2.0


def dino_loss(student: Sequence[Any], teacher: Sequence[Any], centre: Any) -> Any:
    """Mean cross-entropy of every student view against every teacher view of another crop."""
    torch = import_optional("torch", "training")
    wanted = [torch.softmax((each - centre) / TEACHER_TEMPERATURE, 1) for each in teacher]
    losses = [
        -(target * torch.log_softmax(output / STUDENT_TEMPERATURE, 1)).sum(1).mean()
        for number, target in enumerate(wanted)
        for place, output in enumerate(student)
        if place != number
    ]
    return torch.stack(losses).mean()


def update_teacher(teacher: "nn.Module", student: "nn.Module", momentum: float) -> None:
    """One step of the moving average of the weights; statistics of batch norms are the teacher's own."""
    torch = import_optional("torch", "training")
    with torch.no_grad():
        for mine, theirs in zip(teacher.parameters(), student.parameters(), strict=True):
            mine.mul_(momentum).add_(theirs.detach(), alpha=1.0 - momentum)


def with_projection_head(trunk: "nn.Module", dim: int, n_outputs: int) -> "nn.Module":
    """The trunk and DINO's projection: three layers, length one, and a last layer whose rows have length one."""
    torch = import_optional("torch", "training")
    linear, gelu, unit = torch.nn.Linear, torch.nn.GELU, torch.nn.functional.normalize
    layers = [linear(dim, HIDDEN), gelu(), linear(HIDDEN, HIDDEN), gelu(), linear(HIDDEN, BOTTLENECK)]

    class Projected(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.trunk, self.mlp = trunk, torch.nn.Sequential(*layers)
            self.last = torch.nn.Parameter(torch.randn(n_outputs, BOTTLENECK))

        def forward(self, pixels: Any) -> Any:
            return unit(self.mlp(self.trunk(pixels))) @ unit(self.last).T

    made: nn.Module = Projected()
    return made


class DinoLearner:
    """Student, teacher and centre."""

    def __init__(
        self,
        trunk: "nn.Module",
        dim: int,
        dataset: ImageDataset,
        views: MultiCrop,
        schedule: DinoSchedule,
        *,
        batch: int,
        n_outputs: int = 1024,
    ) -> None:
        self.torch = import_optional("torch", "training")
        self.student = move_to_device(with_projection_head(trunk, dim, n_outputs))
        self.teacher = copy.deepcopy(self.student)
        for weight in self.teacher.parameters():
            weight.requires_grad_(False)
        self.centre = self.torch.zeros(1, n_outputs, device=device())
        self.dataset, self.views, self.schedule, self.batch = dataset, views, schedule, batch
        self.optimiser = self.torch.optim.AdamW(self.student.parameters(), lr=schedule.rate)

    @property
    def n_batches(self) -> int:
        return max(1, len(self.dataset.images) // self.batch)

    @property
    def trunk(self) -> "nn.Module":
        kept: nn.Module = self.teacher.trunk  # type: ignore[assignment]
        return kept

    def state(self) -> dict[str, Any]:
        parts = {"student": self.student, "teacher": self.teacher, "optimiser": self.optimiser}
        return {name: part.state_dict() for name, part in parts.items()} | {"centre": self.centre}

    def load(self, state: dict[str, Any]) -> None:
        self.student.load_state_dict(state["student"])
        self.teacher.load_state_dict(state["teacher"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.centre = state["centre"].to(device())

    def train_epoch(self, number: int, rng: np.random.Generator, on_progress: ProgressCallback) -> EpochMeans:
        self.student.train()
        self.teacher.train()
        order = rng.permutation(len(self.dataset.images))
        losses, entropies = [], []
        batches = [order[done * self.batch : (done + 1) * self.batch] for done in range(self.n_batches)]
        for done, rows in enumerate(self.dataset.reader.ahead(batches)):
            view_batches = [to_device(each) for each in self._views(rows.tolist(), rng)]
            loss, entropy = self.step(view_batches, number * self.n_batches + done)
            losses.append(loss)
            entropies.append(entropy)
            on_progress("training", done + 1, self.n_batches)
        loss, entropy = float(np.mean(losses)), float(np.mean(entropies))
        return {"loss": loss, "teacher_entropy": entropy, "disagreement": loss - entropy}

    def _views(self, rows: list[int], rng: np.random.Generator) -> list[Any]:
        return list(multi_crop_views(self.dataset, rows, self.views, rng))

    def step(self, view_batches: Sequence[Any], step: int) -> tuple[float, float]:
        """One batch of views, global ones first; returns the loss and how undecided the teacher is."""
        rate, weight_decay, momentum = self.schedule.at(step)
        for group in self.optimiser.param_groups:
            group["lr"], group["weight_decay"] = rate, weight_decay
        large, small = view_batches[:2], view_batches[2:]
        with mixed_precision(), memory_explained("use a smaller --batch or fewer --small-crops"):
            with self.torch.no_grad():
                targets = self.teacher(self.torch.cat(list(large))).float()
            mean = targets.mean(0, keepdim=True)
            outputs = [*self.student(self.torch.cat(list(large))).float().chunk(2)]
            if small:
                outputs += self.student(self.torch.cat(list(small))).float().chunk(len(small))
        if step == 0:
            self.centre = mean
        loss = dino_loss(outputs, targets.chunk(2), self.centre)
        self.optimiser.zero_grad()
        loss.backward()
        self.torch.nn.utils.clip_grad_norm_(self.student.parameters(), MAX_GRADIENT_NORM)
        self.optimiser.step()
        update_teacher(self.teacher, self.student, momentum)
        teacher_probability = self.torch.softmax((targets - self.centre) / TEACHER_TEMPERATURE, 1)
        entropy = -(teacher_probability * teacher_probability.clamp_min(1e-12).log()).sum(1).mean()
        self.centre = self.centre * CENTRE_MOMENTUM + mean * (1.0 - CENTRE_MOMENTUM)
        return float(loss.detach()), float(entropy)
