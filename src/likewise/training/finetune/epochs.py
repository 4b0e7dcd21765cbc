"""Epochs that survive a kill: after each one everything that decides the next is on disk.

Chance starts anew in every epoch from the run's seed and the epoch's number, so a run that was stopped and continued
has the same weights as one that was not.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.optional_dependencies import needed
from likewise.training.seeds import seed_for
from likewise.workspace import void, write_atomically

STATE = "state.pt"
Tell = Callable[[str, int, int], None]
Numbers = dict[str, float]


class Learner(Protocol):
    """Something that learns for an epoch at a time."""

    @property
    def n_batches(self) -> int:
        """Of one epoch."""

    def state(self) -> dict[str, Any]:
        """Weights, optimiser and whatever else the next epoch depends on."""

    def load(self, state: dict[str, Any]) -> None: ...

    def epoch(self, number: int, rng: np.random.Generator, tell: Callable[[int], None]) -> Numbers:
        """Learn from every image once; the means of what should be plotted."""


@dataclass(frozen=True)
class Curve:
    """Numbers of every epoch."""

    rows: list[Numbers]

    def table(self) -> pl.DataFrame:
        return pl.DataFrame([{"epoch": float(number), **row} for number, row in enumerate(self.rows, 1)]).with_columns(
            pl.col("epoch").cast(pl.Int64)
        )


def run_epochs(learner: Learner, folder: Path, n_epochs: int, seed: int, settings: dict[str, Any], tell: Tell) -> Curve:
    """Learn until `n_epochs` are done, going on where an earlier run with the same settings stopped."""
    torch = needed("torch", "training")
    rows: list[Numbers] = []
    path = folder / STATE
    if path.exists():
        stored = torch.load(path, map_location="cpu", weights_only=True)
        different = [key for key, value in settings.items() if stored["settings"].get(key) != value]
        if different:
            key = different[0]
            raise LikewiseError(
                f"{folder} was begun with another {key} ({stored['settings'].get(key)!r}, now {settings[key]!r}): "
                "continue it with the same options, or give this run another --name."
            )
        learner.load(stored["learner"])
        rows = list(stored["rows"])
    total = n_epochs * learner.n_batches
    for number in range(len(rows), n_epochs):
        torch.manual_seed(seed_for(seed, "epoch", number))
        rng = np.random.default_rng(seed_for(seed, "crops", number))
        before = number * learner.n_batches
        numbers = learner.epoch(number, rng, partial(_tell, tell, before, total))
        if not all(np.isfinite(value) for value in numbers.values()):
            raise LikewiseError(
                f"the loss of epoch {number + 1} is not a number: use a smaller --lr; finished epochs are in {path}."
            )
        rows.append(numbers)
        _save(torch, {"settings": settings, "rows": rows, "learner": learner.state()}, path)
    return Curve(rows)


def _tell(tell: Tell, before: int, total: int, done: int) -> None:
    tell("training", before + done, total)


def _save(torch: Any, state: dict[str, Any], path: Path) -> None:
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_atomically(path, lambda file: void(file.write(buffer.getvalue())))
