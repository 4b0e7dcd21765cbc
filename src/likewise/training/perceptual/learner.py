"""What everything that learns from answers gives: vectors of all images, what was chosen, and an encoder to keep."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from likewise.encoders.families.run_files import TrainedRun
from likewise.encoders.protocol import Vectors
from likewise.evaluation.auc import Floats
from likewise.lineage.record import Lineage
from likewise.progress import ProgressCallback
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.folds import Unseen


@dataclass(frozen=True)
class LearnedModel:
    """One model, fitted to some answers."""

    vectors: Vectors
    """Of every image, also of those that no answer named; of length one."""
    choice: Mapping[str, float]
    """What cross-validation inside the answers decided, and `search_table` has everything it looked at."""
    search_table: pl.DataFrame
    held_out: Floats
    """Scores of the training answers by models that had not seen them; NaN where there was none."""
    negative_log_likelihood: float
    """Mean negative log-likelihood of a training vote, in nats."""
    write: Callable[[Path, Mapping[str, Any], Lineage, Mapping[str, pl.DataFrame], str], TrainedRun]
    """Leave the encoder in a folder, with what is to be known about it, what it learned from, and its card."""


class AnswerLearner(Protocol):
    """An adapter over stored vectors, or a whole network."""

    @property
    def bases(self) -> list[str]:
        """The specs of the encoders it is built on."""

    @property
    def n_threads(self) -> int:
        """How many models may be learned at the same time."""

    def fit(
        self,
        answers: Answers,
        unseen: Unseen,
        *,
        seed: int,
        folds_seed: int,
        on_progress: ProgressCallback | None = None,
    ) -> LearnedModel:
        """Choose by cross-validation inside the answers, then learn from all of them."""
