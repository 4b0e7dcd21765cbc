"""What a check does, in numbers: the paper's settings, and two presets for smaller machines (Reality Check, sec. 3).

paper      50 trials, the whole trunk, batch norms frozen, stopped at a plateau of 9 epochs (of 100 steps), 10 reruns
standard   50 trials, the head on stored vectors, at most 400 steps, 10 reruns
quick       8 trials, the head on stored vectors, 300 steps, 5 reruns
"""

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

from likewise.errors import LikewiseError

TrunkMode = Literal["frozen", "whole", "small"]
BatchNormMode = Literal["frozen", "statistics", "trained"]
"""Of a trunk's batch norms, frozen: running statistics, weights and offsets stay, as in the paper's code; statistics:
only those stay; trained: nothing stays."""
Crops = Literal["resized", "simple", "central"]
"""resized: of any place, size and ratio, as in the paper; simple: of any place and one size, as most papers describe
it; both are mirrored half of the time; central: the crop of the evaluation."""
Optimiser = Literal["rmsprop", "adam", "adamw", "sgd"]
Sampling = Literal["class", "item", "image"]
"""How batches are drawn, class: so many images of each class; item: the same, each image of another item of its class
as far as there are; image: all images alike."""
Schedule = Literal["constant", "cosine"]
CHOICES: dict[str, tuple[str, ...]] = {
    "trunk": get_args(TrunkMode),
    "batch_norm": get_args(BatchNormMode),
    "crops": get_args(Crops),
    "optimiser": get_args(Optimiser),
    "sampling": get_args(Sampling),
    "schedule": get_args(Schedule),
}
"""What the words of a plan may be."""

EPOCH_STEPS = 100
LEARNING_RATES: dict[TrunkMode, float] = {"frozen": 3e-5, "whole": 1e-6, "small": 1e-5}
"""Of trunk and head: the paper's for a whole trunk; a head alone starts from nothing and has fewer steps.

What an untrained small trunk sees is already worth something (MAP@R .077 on emoji at 32 pixels); above 3e-5 it was lost
within a hundred steps by the contrastive, the multi-similarity and the softmax loss.
"""
BATCH_NORM: dict[str, BatchNormMode] = {"frozen": "frozen", "whole": "frozen", "small": "statistics"}
"""As in the paper where a trunk is pretrained; the weights of one that starts from nothing have to be learned."""


@dataclass(frozen=True)
class TrainingPlan:
    """Everything that is the same for every method."""

    preset: str
    trunk: TrunkMode
    n_trials: int
    n_reruns: int
    max_steps: int
    steps_between_evaluations: int
    patience_steps: int
    lr: float = 0.0
    dim: int = 128
    batch: int = 32
    weight_decay: float = 1e-4
    momentum: float = 0.9
    n_folds: int = 4
    batch_norm: BatchNormMode = "frozen"
    crops: Crops = "resized"
    optimiser: Optimiser = "rmsprop"
    sampling: Sampling = "class"
    schedule: Schedule = "constant"
    warmup_steps: int = 0
    miner: str = ""
    """By its name in pytorch-metric-learning, for every embedding loss that has none of its own."""

    @property
    def learning_rate(self) -> float:
        return self.lr or LEARNING_RATES[self.trunk]

    def lr_factor(self, step: int) -> float:
        """What the learning rates are multiplied by at a step, from 1: a straight warm-up, then the schedule."""
        if step <= self.warmup_steps:
            return step / (self.warmup_steps + 1)
        if self.schedule == "constant":
            return 1.0
        done = (step - 1 - self.warmup_steps) / max(1, self.max_steps - self.warmup_steps)
        return 0.5 * (1.0 + math.cos(math.pi * done))


PRESETS = {
    "paper": TrainingPlan("paper", "whole", 50, 10, 100_000, 2 * EPOCH_STEPS, 9 * EPOCH_STEPS),
    "standard": TrainingPlan("standard", "frozen", 50, 10, 400, 100, 300),
    "quick": TrainingPlan("quick", "frozen", 8, 5, 300, 50, 200),
}


def make_plan(
    preset: str,
    *,
    trunk: str | None = None,
    trials: int | None = None,
    reruns: int | None = None,
    steps: int | None = None,
    evaluate_every: int | None = None,
    patience: int | None = None,
    lr: float | None = None,
    dim: int | None = None,
    batch: int | None = None,
    batch_norm: str | None = None,
    crops: str | None = None,
    optimiser: str | None = None,
    sampling: str | None = None,
    schedule: str | None = None,
    warmup: int | None = None,
    miner: str | None = None,
) -> TrainingPlan:
    """A preset with what the user wants otherwise."""
    if preset not in PRESETS:
        raise LikewiseError(f"there is no preset {preset!r}: use {', '.join(PRESETS)}.")
    words = {"trunk": trunk, "batch_norm": batch_norm, "crops": crops, "optimiser": optimiser}
    words |= {"sampling": sampling, "schedule": schedule}
    for name, word in words.items():
        if word is not None and word not in CHOICES[name]:
            raise LikewiseError(f"there is no {name.replace('_', ' ')} {word!r}: use {', '.join(CHOICES[name])}.")
    overrides: dict[str, str | float | None] = {
        **words,
        "batch": batch,
        "miner": miner,
        "n_trials": trials,
        "n_reruns": reruns,
        "max_steps": steps,
        "steps_between_evaluations": evaluate_every,
        "patience_steps": patience,
        "lr": lr,
        "dim": dim,
        "batch_norm": batch_norm or BATCH_NORM[trunk or PRESETS[preset].trunk],
    }
    for name, value in overrides.items():
        if isinstance(value, int | float) and value <= 0:
            raise LikewiseError(f"{name.replace('n_', '').replace('_', ' ')} must be above 0, not {value}.")
    if warmup is not None and warmup < 0:
        raise LikewiseError(f"a warm-up has no steps or some, not {warmup}.")
    overrides["warmup_steps"] = warmup
    plan = replace(PRESETS[preset], **{name: value for name, value in overrides.items() if value is not None})  # type: ignore[arg-type]
    return replace(
        plan, lr=plan.learning_rate, steps_between_evaluations=min(plan.steps_between_evaluations, plan.max_steps)
    )
