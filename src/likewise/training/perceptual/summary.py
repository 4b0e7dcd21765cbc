"""The facts around the results of `likewise train perceptual`, `runs/<name>/summary.json`: for report and command."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.calibration import Calibration, Reliability
from likewise.training.perceptual.learner import AnswerLearner, LearnedModel
from likewise.training.perceptual.settings import NetworkPlan, PerceptualSettings

EARLIER_KEYS = {
    "surprise_train": "negative_log_likelihood_train",
    "surprise_held_out": "negative_log_likelihood_held_out",
    "looks": "n_evaluations",
}
"""Of runs that were made before these numbers had the names of today."""


@dataclass(frozen=True)
class CalibrationSummary:
    """The fitted curve, and how far its probabilities are from the votes that no model had seen."""

    slope: float
    offset: float
    expected_error: float
    brier: float
    n_votes: int


@dataclass(frozen=True)
class PerceptualSummary:
    """What was learned from; `choice` is what cross-validation decided, `chosen` the same in words."""

    learned_from: str
    source: str
    catalog: str
    n_answers: int
    n_votes: int
    n_queries: int
    n_items: int
    n_test_answers: int
    test: str | None
    bases: list[str]
    trunk: NetworkPlan | None
    unseen: list[str]
    folds: int
    seed: int
    choice: dict[str, float]
    chosen: str
    negative_log_likelihood_train: float
    negative_log_likelihood_held_out: float
    calibration: CalibrationSummary
    queries: list[str]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "PerceptualSummary":
        known, trunk = _with_names_of_today(data), data["trunk"]
        known["calibration"] = CalibrationSummary(**data["calibration"])
        known["trunk"] = NetworkPlan(**_with_names_of_today(trunk)) if trunk else None
        return cls(**known)


def make_summary(
    catalog: str,
    settings: PerceptualSettings,
    answers: tuple[Answers, Answers | None],
    learner: AnswerLearner,
    model: LearnedModel,
    curve: Calibration,
    reliability: Reliability,
) -> PerceptualSummary:
    """The facts of one training; `answers` to learn from, and those given as a test."""
    train, test = answers
    calibration = asdict(curve) | {
        "expected_error": reliability.expected_error,
        "brier": reliability.brier,
        "n_votes": reliability.n_votes,
    }
    return PerceptualSummary(
        learned_from="triplets" if train.are_triplets else "labels",
        source=settings.triplets.name if settings.triplets else "labels.parquet",
        catalog=catalog,
        n_answers=len(train),
        n_votes=int((train.yes + train.no).sum()),
        n_queries=len(np.unique(train.query)),
        n_items=len(np.unique(train.named_items)),
        n_test_answers=0 if test is None else len(test),
        test=settings.test,
        bases=learner.bases,
        trunk=settings.trunk,
        unseen=list(settings.unseen),
        folds=settings.n_folds,
        seed=settings.seed,
        choice=dict(model.choice),
        chosen=_describe_choice(model.choice),
        negative_log_likelihood_train=model.negative_log_likelihood,
        negative_log_likelihood_held_out=float(model.search_table["negative_log_likelihood"].to_numpy().min()),
        calibration=CalibrationSummary(**calibration),
        queries=sorted({train.stimuli[query] for query in np.unique(train.query)}),
    )


def _describe_choice(choice: Mapping[str, float]) -> str:
    if "steps" in choice:
        return f"{choice['steps']:,} steps" if choice["steps"] else "no step at all: the network as it was"
    return f"shrinkage {choice['shrinkage']:g}, {choice['hidden'] or 'no'} hidden units"


def _with_names_of_today(data: Mapping[str, Any]) -> dict[str, Any]:
    return {EARLIER_KEYS.get(key, key): value for key, value in data.items()}
