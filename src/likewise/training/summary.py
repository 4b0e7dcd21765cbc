"""The facts around the tables of a check, `runs/<name>/summary.json`: for its page, its card and its command."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from likewise.training.hyperparameter_search import Trial
from likewise.training.methods import LossKind
from likewise.training.plan import TrainingPlan
from likewise.workspace import read_json


@dataclass(frozen=True)
class MethodSummary:
    """One method and its search; `best` is None where every trial failed."""

    title: str
    year: int | None
    kind: LossKind
    best: Trial | None
    n_trials: int
    n_failed: int
    n_reruns: int = 0
    n_reruns_failed: int = 0


@dataclass(frozen=True)
class FoldSizes:
    train_images: int
    train_classes: int
    validation_images: int
    validation_classes: int


@dataclass(frozen=True)
class ExportedEncoder:
    """What the best method can be used as; `no_onnx_because` is empty where there is an ONNX file."""

    spec: str
    dim: int
    no_onnx_because: str


@dataclass(frozen=True)
class DiscoveryScore:
    """Gallery ROC-AUC of one encoder by experts' labels; None where no query has a positive.

    `lead` is what the winner has more, over its reruns and the queries; p after Holm's correction over the encoders.
    """

    encoder: str
    queries: str
    value: float | None
    low: float | None
    high: float | None
    n_queries: int
    n_reruns: int = 1
    lead: float | None = None
    lead_low: float | None = None
    lead_high: float | None = None
    p_holm: float | None = None


@dataclass(frozen=True)
class CheckSummary:
    """What was trained on what; `winner` is the best method by validation with a rerun that worked."""

    run: str
    workspace: str
    column: str
    trunk: str
    encoder: str | None
    trunk_dim: int
    papers_trunk: str
    plan: TrainingPlan
    n_images: int
    n_without_class: int
    n_classes: int
    n_test_classes: int
    n_test_images: int
    folds: tuple[FoldSizes, ...]
    pretrained_dims: dict[str, int]
    winner: str | None
    methods: dict[str, MethodSummary]
    encoder_made: ExportedEncoder | None = None
    discovery: tuple[DiscoveryScore, ...] | None = None
    copies: str = ""
    """Where test images have copies among those that were learned from, a sentence that says so."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "CheckSummary":
        made, discovery = data.get("encoder_made"), data.get("discovery")
        parts = {
            "plan": TrainingPlan(**data["plan"]),
            "folds": tuple(FoldSizes(**each) for each in data["folds"]),
            "methods": {name: _method(each) for name, each in data["methods"].items()},
            "encoder_made": ExportedEncoder(**made) if made else None,
            "discovery": tuple(DiscoveryScore(**each) for each in discovery) if discovery else None,
        }
        return cls(**{**data, **parts})


def _method(data: Mapping[str, Any]) -> MethodSummary:
    best = data["best"]
    if best:
        best = {name: value for name, value in best.items() if name != "seconds"}  # of earlier versions
        best = Trial(**{**best, "fold_values": tuple(best["fold_values"]), "fold_steps": tuple(best["fold_steps"])})
    return MethodSummary(**{**data, "best": best})


def read_check_summary(folder: Path) -> CheckSummary | None:
    """Of a run's folder; None for one that is not finished, or is another kind of run."""
    path = folder / "summary.json"
    data = read_json(path) if path.is_file() else {}
    return CheckSummary.from_dict(data) if "methods" in data else None
