"""What a check does, in numbers: the paper's settings, and two presets for smaller machines (Reality Check, sec. 3).

paper      50 trials, the whole trunk, batch norms frozen, stopped at a plateau of 9 epochs (of 100 steps), 10 reruns
standard   50 trials, the head on stored vectors, at most 400 steps, 10 reruns
quick       8 trials, the head on stored vectors, 300 steps, 5 reruns
"""

from dataclasses import dataclass, replace
from typing import Literal

from likewise.errors import LikewiseError

TrunkMode = Literal["frozen", "whole", "small"]
TRUNK_MODES: tuple[TrunkMode, ...] = ("frozen", "whole", "small")
BatchNormMode = Literal["frozen", "statistics"]
"""Of a trunk's batch norms, frozen: running statistics, weights and offsets stay; statistics: only those stay."""
BATCH_NORM_MODES: tuple[BatchNormMode, ...] = ("frozen", "statistics")

EPOCH_STEPS = 100
LEARNING_RATES: dict[TrunkMode, float] = {"frozen": 3e-5, "whole": 1e-6, "small": 1e-5}
"""Of trunk and head: the paper's for a whole trunk; a head alone starts from nothing and has fewer steps.

What an untrained small trunk sees is already worth something (MAP@R .077 on emoji at 32 pixels); above 3e-5 it was lost
within a hundred steps by the contrastive, the multi-similarity and the softmax loss.
"""
BATCH_NORM: dict[TrunkMode, BatchNormMode] = {"frozen": "frozen", "whole": "frozen", "small": "statistics"}
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

    @property
    def learning_rate(self) -> float:
        return self.lr or LEARNING_RATES[self.trunk]


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
    batch_norm: str | None = None,
) -> TrainingPlan:
    """A preset with what the user wants otherwise."""
    if preset not in PRESETS:
        raise LikewiseError(f"there is no preset {preset!r}: use {', '.join(PRESETS)}.")
    if trunk is not None and trunk not in TRUNK_MODES:
        raise LikewiseError(f"there is no trunk {trunk!r}: use {', '.join(TRUNK_MODES)}.")
    if batch_norm is not None and batch_norm not in BATCH_NORM_MODES:
        raise LikewiseError(f"there is no way {batch_norm!r} to treat batch norms: use {', '.join(BATCH_NORM_MODES)}.")
    overrides = {
        "trunk": trunk,
        "n_trials": trials,
        "n_reruns": reruns,
        "max_steps": steps,
        "steps_between_evaluations": evaluate_every,
        "patience_steps": patience,
        "lr": lr,
        "dim": dim,
        "batch_norm": batch_norm or BATCH_NORM[PRESETS[preset].trunk if trunk is None else trunk],
    }
    for name, value in overrides.items():
        if isinstance(value, int | float) and value <= 0:
            raise LikewiseError(f"{name.replace('n_', '').replace('_', ' ')} must be above 0, not {value}.")
    plan = replace(PRESETS[preset], **{name: value for name, value in overrides.items() if value is not None})  # type: ignore[arg-type]
    return replace(
        plan, lr=plan.learning_rate, steps_between_evaluations=min(plan.steps_between_evaluations, plan.max_steps)
    )
