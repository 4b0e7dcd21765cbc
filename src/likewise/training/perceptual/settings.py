"""What `likewise train perceptual` learns from, and how."""

from dataclasses import dataclass, replace
from pathlib import Path

from likewise.training.perceptual.adapter import HIDDEN
from likewise.training.perceptual.folds import Unseen


@dataclass(frozen=True)
class NetworkPlan:
    """How a network learns from answers."""

    encoder: str
    steps: int = 200
    n_evaluations: int = 8
    batch: int = 64
    """Answers a step."""
    rate: float = 1e-4
    weight_decay: float = 1e-4
    inner_folds: int = 3


@dataclass(frozen=True)
class PerceptualSettings:
    """What to learn from and how."""

    bases: tuple[str, ...] = ()
    """Encoders with stored vectors; all that encode images themselves by default."""
    triplets: Path | None = None
    order: str = "anchor close far"
    by: str = "item"
    test: str | None = None
    """`COLUMN=VALUE`: answers that only the last measurement reads, by a column of the triplets, or of the queries."""
    unseen: tuple[Unseen, ...] = ("queries", "items")
    """What is held out when measuring; the first also decides how much to shrink."""
    hidden: tuple[int, ...] = HIDDEN
    half: str | None = None
    """Learn only from answers all of whose items are in one half of the catalog, `train` for instance."""
    trunk: NetworkPlan | None = None
    """Train this network whole instead of an adapter over stored vectors."""
    n_folds: int = 5
    seed: int = 0


def quick_settings(settings: PerceptualSettings) -> PerceptualSettings:
    """For a first look: no hidden layer, three folds, and only the way to hold out that also decides."""
    trunk = settings.trunk and replace(settings.trunk, steps=min(settings.trunk.steps, 50), n_evaluations=4)
    return replace(settings, hidden=(0,), n_folds=min(settings.n_folds, 3), unseen=settings.unseen[:1], trunk=trunk)
