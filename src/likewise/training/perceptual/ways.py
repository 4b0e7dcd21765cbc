"""What every way of learning from answers gives: vectors of all pictures, what was chosen, and an encoder to keep."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from likewise.encoders.families.run_files import RunFile
from likewise.encoders.protocol import Vectors
from likewise.evaluation.auc import Floats
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.folds import Unseen

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Taught:
    """One model, taught by some answers."""

    vectors: Vectors
    """Of every picture, also of those that no answer named; of length one."""
    choice: Mapping[str, float]
    """What cross-validation inside the answers decided, and `tried` has everything it looked at."""
    tried: pl.DataFrame
    held_out: Floats
    """Scores of the training answers by models that had not seen them; NaN where there was none."""
    surprise: float
    """Mean surprise of a training vote, in nats."""
    write: Callable[[Path, Mapping[str, Any]], RunFile]
    """Leave the encoder in a folder, with what is to be known about it."""


class Way(Protocol):
    """An adapter over stored vectors, or a whole network."""

    @property
    def bases(self) -> list[str]:
        """The specs of the encoders it is built on."""

    def teach(
        self, answers: Answers, unseen: Unseen, *, seed: int, folds_seed: int, tell: Tell | None = None
    ) -> Taught:
        """Choose by cross-validation inside the answers, then learn from all of them."""
